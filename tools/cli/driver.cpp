#include "tools/cli/driver.h"

#include <algorithm>
#include <cctype>
#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "compiler/support/problem_text.h"
#include "compiler/support/suggestion.h"
#include "tools/cli/commands.h"
#include "tools/cli/progress.h"

namespace sluice::cli {
namespace {

/// The arguments, last one first as CLI11 wants them. --json and
/// --explain-layout take a value only behind '=', so that `--json model.onnx`
/// does not swallow the model.
std::vector<std::string> arguments(int argc, char **argv) {
  std::vector<std::string> result(argv + 1, argv + argc);
  const auto end = std::find(result.begin(), result.end(), "--");
  std::replace(result.begin(), end, std::string("--json"), std::string("--json=-"));
  std::replace(result.begin(), end, std::string("--explain-layout"),
               std::string("--explain-layout=all"));
  std::reverse(result.begin(), result.end());
  return result;
}

/// Where --json says, without parsing the rest; `words` as arguments() gives them.
std::optional<std::string> jsonTarget(const std::vector<std::string> &words) {
  constexpr std::string_view kFlag = "--json=";
  for (auto word = words.rbegin(); word != words.rend() && *word != "--"; ++word)
    if (word->starts_with(kFlag) && word->size() > kFlag.size())
      return word->substr(kFlag.size());
  return std::nullopt;
}

/// The flags of the commands, without their dashes.
std::vector<std::string> flagsOf(const std::vector<const CLI::App *> &commands) {
  std::vector<std::string> flags;
  for (const CLI::App *command : commands)
    for (const CLI::Option *option : command->get_options())
      for (const std::string &name : option->get_lnames())
        flags.push_back(name);
  return flags;
}

/// Of the words that nobody understands, the one that matters: a flag, whose value may
/// be another; else the first. Empty if there is none.
std::string unknownWord(const CLI::App &app) {
  const std::vector<std::string> unknown = app.remaining(true);
  if (unknown.empty() || app.get_subcommands().empty())
    return unknown.empty() ? "" : unknown.front();
  const auto flag = std::find_if(unknown.begin(), unknown.end(),
                                 [](const std::string &word) { return word.starts_with("--"); });
  return flag == unknown.end() ? "" : flag->substr(0, flag->find('='));
}

/// What the unknown word may mean: a command, or a flag of the one that is chosen.
std::vector<Fix> meant(const CLI::App &app, const std::string &word) {
  if (word.starts_with("--")) {
    std::vector<const CLI::App *> commands{&app};
    for (const CLI::App *chosen : app.get_subcommands())
      commands.push_back(chosen);
    // The dashes are no letters that are right.
    const std::string flag = word.size() > 2 ? closest(word.substr(2), flagsOf(commands)) : "";
    return flag.empty() ? std::vector<Fix>() : suggestion("--" + flag, {"--" + flag});
  }
  std::vector<std::string> names;
  for (const CLI::App *command : app.get_subcommands([](const CLI::App *) { return true; }))
    names.push_back(command->get_name());
  return suggestion(word, names);
}

int run(int argc, char **argv, Common &common) {
  int exitCode = Ok;
  CLI::App app(kDriverText, "sluice");
  addCommands(app, common, exitCode);
  // Before any command begins: a result that cannot be reported is not worth making.
  app.parse_complete_callback([&common] {
    if (!common.json)
      return;
    if (const auto wrong = checkOutput(*common.json)) {
      Report(common).log({*wrong}, "");
      throw CLI::RuntimeError(Usage);
    }
  });
  const std::vector<std::string> words = arguments(argc, argv);
  try {
    app.parse(std::vector<std::string>(words));
  } catch (const CLI::Success &help) {
    return app.exit(help);
  } catch (const CLI::RuntimeError &reported) {
    return reported.get_exit_code();
  } catch (const CLI::ParseError &error) {
    std::string message = error.what();
    // What the unknown word is matters more than that a known one is missing.
    const std::string unknown = unknownWord(app);
    if (app.get_subcommands().empty() && !unknown.empty())
      message = fmt::format("there is no command or flag '{}'", unknown);
    if (!message.empty())
      message[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(message[0])));
    const auto chosen = app.get_subcommands();
    message += fmt::format("; see 'sluice{}{} --help'", chosen.empty() ? "" : " ",
                           chosen.empty() ? "" : chosen.front()->get_name());
    Problem wrong = problem("E0601", message);
    wrong.fixes = meant(app, unknown);
    Report::say(fmt::format("error: {}\n", printable(message)));
    for (const Fix &fix : wrong.fixes)
      Report::say(fmt::format(" help: {}\n", printable(fixText(fix))));
    // Also who cannot be understood otherwise may have asked for JSON.
    common.json = jsonTarget(words);
    const Report report(common);
    report.json({{"schema", 1}, {"ok", false}, {"errors", errorsJson({wrong})}});
    return Usage;
  }
  return exitCode;
}

/// Memory may also end while the commands are set up.
int runGuarded(int argc, char **argv, Common &common) {
  try {
    return run(argc, argv, common);
  } catch (const std::bad_alloc &) {
    return Report(common).fail({outOfMemory()}, "");
  } catch (const std::system_error &error) { // a thread that cannot be started
    if (error.code() == std::errc::resource_unavailable_try_again)
      return Report(common).fail({outOfMemory()}, "");
    return Report(common).fail({internalError(error.what())}, "");
  } catch (const std::exception &error) {
    return Report(common).fail({internalError(error.what())}, "");
  }
}

} // namespace

void addCommands(CLI::App &app, Common &common, int &exitCode) {
  app.require_subcommand(1);
  app.fallthrough();
  app.set_help_flag("-h,--help", "print this help and exit");
  app.add_option("--json", common.json, "print the result as JSON, or write it to FILE")
      ->type_name("[=FILE]");
  app.add_option("--color", common.color, "color messages: auto, always or never (auto)")
      ->type_name("WHEN")
      ->check(CLI::IsMember({"auto", "always", "never"}));
  app.add_option_function<std::string>(
         "--progress", ProgressLine::when,
         "show progress: auto (on a terminal only), always or never (auto)")
      ->type_name("WHEN")
      ->check(CLI::IsMember({"auto", "always", "never"}));
  app.add_flag("--verbose", common.verbose,
               "print every error, even if many nodes have the same one, and every part of a plan");
  app.set_version_flag(
      "--version",
      [] {
        std::string text = versionText();
        text.pop_back(); // CLI11 ends the line
        return text;
      },
      "print the version, like 'sluice version'");
#ifdef SLUICE_HAVE_COMPILER
  addCompile(app, common, exitCode);
  addCheck(app, common, exitCode);
  addCompare(app, common, exitCode);
  addDiff(app, common, exitCode);
  addReduce(app, common, exitCode);
  addReport(app, common, exitCode);
  addSweep(app, common, exitCode);
#endif
  addRun(app, common, exitCode);
  addBench(app, common, exitCode);
  addProfile(app, common, exitCode);
  addInspect(app, common, exitCode);
  addOps(app, common, exitCode);
  addTargets(app, common, exitCode);
  addExplain(app, common, exitCode);
  addVersion(app, common, exitCode);
  app.footer("exit codes: 0 ok, 1 comparison failed, 2 usage, 3 model not supported, 4 does not "
             "fit, 5 malformed input, 6 internal error");
}

int runDriver(int argc, char **argv) {
  // What is closed must not become the number of a file that is opened: messages would
  // go into it. Using these as streams fails like a closed one.
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(stream, F_GETFD) < 0)
      (void)open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  // A file that may not grow is reported like a full disk, by the write that fails.
  std::signal(SIGXFSZ, SIG_IGN);
  Common common;
  const int exitCode = runGuarded(argc, argv, common);
  // What was said was perhaps not heard.
  const bool written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  if (written || exitCode != Ok)
    return exitCode;
  Report(common).log({problem("E0516", "cannot write to standard output")}, "");
  return Usage;
}

} // namespace sluice::cli
