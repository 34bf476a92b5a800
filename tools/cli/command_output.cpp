#include "tools/cli/command_output.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>
#include <unistd.h>

#include "compiler/support/problem_text.h"
#include "runtime/format/program_file.h"

namespace sluice::cli {

Json errorsJson(const Problems &problems) {
  Json errors = Json::array();
  for (const Problem &one : problems) {
    Json &error = errors.emplace_back(problemJson(one));
    error["kind"] = nameOf(definitionOf(one.code).kind);
  }
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
    say(problemText(group, definitionOf(group.first->code).namesFile ? "" : file, color()));
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
