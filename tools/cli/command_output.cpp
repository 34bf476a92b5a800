#include "tools/cli/command_output.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>

#include <fmt/format.h>
#include <unistd.h>

#include "compiler/support/problem_text.h"
#include "runtime/format/program_file.h"

namespace sluice::cli {

ExitCode exitCodeOf(std::string_view code) {
  // Codes whose group says something else. Usage: a flag is missing or wrong.
  // E0408 to E0414, E0417: what the machine does not do, whatever its size.
  static const std::map<ExitCode, std::vector<std::string_view>> exceptions{
      {Different, {"E0613", "E0614", "E0619", "E0620"}},
      {Usage,
       {"E0111", "E0112", "E0117", "E0119", "E0120", "E0121", "E0311", "E0418", "E0515", "E0516"}},
      {Refused,
       {"E0103", "E0104", "E0114", "E0118", "E0408", "E0411", "E0412", "E0413", "E0414", "E0417",
        "E0606", "E0612", "E0617"}},
      {Malformed, {"E0605", "E0615", "E0616", "E0622", "E0624"}},
      {Internal, {"E0199", "E0498", "E0499", "E0607", "E0608", "E0609", "E0610", "E0611"}}};
  for (const auto &[exit, codes] : exceptions)
    if (std::find(codes.begin(), codes.end(), code) != codes.end())
      return exit;
  if (code.size() != 5)
    return Internal;
  switch (code[2]) {
  case '1':
  case '5':
    return Malformed;
  case '2':
  case '3':
    return Refused;
  case '4':
    return DoesNotFit;
  case '6':
    return Usage;
  default:
    return Internal;
  }
}

ExitCode exitCodeOf(const Problems &problems) {
  const auto ours = [](const Problem &one) { return exitCodeOf(one.code) == Internal; };
  if (std::any_of(problems.begin(), problems.end(), ours))
    return Internal;
  return problems.empty() ? Ok : exitCodeOf(problems.front().code);
}

Json errorsJson(const Problems &problems) {
  Json errors = Json::array();
  for (const Problem &one : problems)
    errors.push_back(problemJson(one));
  return errors;
}

bool Report::color() const {
  if (common.color != "auto")
    return common.color == "always";
  const char *term = std::getenv("TERM");
  return isatty(STDERR_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr && term &&
         std::string_view(term) != "dumb";
}

void Report::log(const Problems &problems, const std::string &file) const {
  std::vector<ProblemGroup> groups;
  if (common.verbose)
    for (const Problem &one : problems)
      groups.push_back({&one, {}});
  else
    groups = groupProblems(problems);
  for (const ProblemGroup &group : groups)
    // E05xx name the file they are about, which may be another one.
    say(problemText(group, group.first->code.starts_with("E05") ? "" : file, color()));
  // Once, for who meets the data dimension here.
  const auto layout = std::find_if(problems.begin(), problems.end(),
                                   [](const Problem &one) { return !one.chain.empty(); });
  if (layout != problems.end())
    say(fmt::format("note: '!' marks the data dimension, the axis that lies along the hardware "
                    "lanes; see 'sluice explain {}'\n",
                    layout->code));
}

int Report::fail(const Problems &problems, const std::string &file) const {
  log(problems, file);
  const ExitCode code = problems.empty() ? Internal : exitCodeOf(problems);
  json({{"schema", 1}, {"ok", false}, {"errors", errorsJson(problems)}});
  if (problems.empty() || std::ranges::any_of(problems, isFault))
    say(fmt::format("{}; please report it with the model, the command line and the output of "
                    "'sluice version --json'\n",
                    !problems.empty() && problems.front().isFor<EngineStops>()
                        ? "if the program file is as sluice compiled it, this is a bug in sluice"
                        : "this is a bug in sluice"));
  return code;
}

int Report::fail(const std::string &code, const std::string &message,
                 const std::string &file) const {
  return fail({problem(code, message)}, file);
}

void Report::notes(const std::vector<std::string> &notes) {
  for (const std::string &note : notes)
    say(fmt::format("note: {}\n", printable(note)));
}

void Report::say(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stderr); }

void Report::text(std::string_view text) const {
  if (wantsText())
    std::fwrite(text.data(), 1, text.size(), stdout);
}

bool Report::json(const Json &value) const {
  if (!common.json || keepsJson)
    return true;
  const std::string text = value.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  if (const auto wrong = writeOutput(*common.json, text)) {
    log({*wrong}, "");
    return false;
  }
  return true;
}

std::optional<Problem>
Report::checkStdout(std::vector<std::pair<std::string_view, std::string_view>> results) const {
  if (common.json)
    results.emplace_back("--json", *common.json);
  std::erase_if(results, [](const auto &result) { return result.second != "-"; });
  if (results.size() < 2)
    return std::nullopt;
  return problem("E0601",
                 fmt::format("{} and {} both write to standard output; give one a file name",
                             results[0].first, results[1].first));
}

std::optional<Problem> Report::checkFiles(const std::vector<File> &reads,
                                          std::vector<File> writes) const {
  namespace fs = std::filesystem;
  if (common.json)
    writes.push_back({"--json", *common.json});
  const auto isFile = [](const std::string &path) {
    std::error_code ignored;
    const fs::file_status status = fs::status(path, ignored);
    return !path.empty() && path != "-" && (fs::is_regular_file(status) || !fs::exists(status));
  };
  const auto same = [&](const std::string &left, const std::string &right) {
    std::error_code ignored;
    return isFile(left) && isFile(right) &&
           (fs::equivalent(left, right, ignored) ||
            fs::weakly_canonical(fs::absolute(left, ignored), ignored) ==
                fs::weakly_canonical(fs::absolute(right, ignored), ignored));
  };
  for (size_t i = 0; i < writes.size(); ++i) {
    keepsJson = writes[i].what == "--json";
    for (const File &read : reads)
      if (same(writes[i].path, read.path))
        return problem("E0601", fmt::format("{} '{}' would overwrite {}", writes[i].what,
                                            writes[i].path, read.what));
    for (size_t j = 0; j < i; ++j)
      if (same(writes[i].path, writes[j].path))
        return problem("E0601", fmt::format("{} and {} both write '{}'; give one another file name",
                                            writes[j].what, writes[i].what, writes[i].path));
    keepsJson = false;
  }
  return std::nullopt;
}

Problem problem(std::string code, std::string message, Reason reason) {
  Problem result;
  result.code = std::move(code);
  result.message = std::move(message);
  result.reason = std::move(reason);
  return result;
}

Problem internalError(std::string message) {
  return problem("E0611", std::move(message), InternalError());
}

Problem outOfMemory() { return problem("E0610", "out of memory", LacksHostMemory()); }

Problem stalls(const std::string &what) {
  return problem("E0607", fmt::format("the program stalls: {}", what), EngineStops{true});
}

Problem enginesDiffer(std::string message) {
  return problem("E0614", std::move(message), EnginesDiffer());
}

std::optional<Problem> checkBinary(std::string_view flag, std::string_view path) {
  if (path != "-" || isatty(STDOUT_FILENO) == 0)
    return std::nullopt;
  return problem(
      "E0601",
      fmt::format(
          "{} would write a binary file to the terminal; give a file name or redirect the output",
          flag));
}

std::string writtenText(const std::string &path, std::string_view what) {
  return path.empty() || path == "-" ? "" : fmt::format("written {}, {}\n", printable(path), what);
}

std::optional<Problem> checkOutput(const std::string &path) {
  if (path == "-")
    return std::nullopt;
  const auto wrong = format::checkWritable(path);
  return wrong ? std::optional(problem(wrong->code, wrong->message)) : std::nullopt;
}

std::optional<Problem> writeOutput(const std::string &path, std::string_view bytes) {
  return writeOutputs({{path, bytes}});
}

std::optional<Problem> writeOutputs(const std::vector<OutputFile> &files) {
  std::vector<format::NewFile> named;
  for (const auto &[path, bytes] : files)
    if (path != "-")
      named.push_back({path, {reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size()}});
  if (const auto wrong = format::writeAtomically(named))
    return problem(wrong->code, wrong->message);
  for (const auto &[path, bytes] : files)
    if (path == "-" && (std::fwrite(bytes.data(), 1, bytes.size(), stdout) != bytes.size() ||
                        std::fflush(stdout) != 0))
      return problem("E0516", "cannot write to standard output");
  return std::nullopt;
}

} // namespace sluice::cli
