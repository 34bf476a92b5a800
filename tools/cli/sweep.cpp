// sluice sweep: starts the sweep of the Python package with an interpreter.
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>
#include <unistd.h>

#include "tools/cli/commands.h"
#include "tools/cli/progress.h"

namespace sluice::cli {
namespace {

namespace fs = std::filesystem;

struct SweepOptions {
  std::string file, output;
  std::optional<std::string> dask;
  std::optional<unsigned> jobs, retries;
  std::optional<double> timeout;
  bool retryFailed = false;
};

bool isExecutable(const fs::path &path) { return ::access(path.c_str(), X_OK) == 0; }

/// An interpreter, and the file of the package that it runs.
struct Start {
  std::string interpreter, script;
};

/// Returns the package that is installed with this command: in the same prefix, in the virtual
/// environment, or by pip install --target. $SLUICE_PYTHON names another interpreter than that of
/// the environment or of the build.
std::variant<Start, Problem> findPackage() {
  std::error_code ignored;
  const fs::path command = fs::read_symlink("/proc/self/exe", ignored);
  const fs::path bin = command.parent_path(), prefix = bin.parent_path();
  std::vector<fs::path> folders = {prefix / "lib/python3/dist-packages", prefix};
  for (const auto &entry : fs::directory_iterator(prefix / "lib", ignored))
    folders.push_back(entry.path() / "site-packages");
  Start start;
  for (const fs::path &folder : folders)
    if (const fs::path script = folder / "sluice/sweep/__main__.py";
        start.script.empty() && fs::exists(script, ignored))
      start = {folder.filename() == "site-packages" ? bin / "python3" : SLUICE_PYTHON, script};
  if (start.script.empty())
    return problem("E0621", fmt::format("the Python package of Sluice is not installed with '{}'; "
                                        "install the component python",
                                        command.string()));
  if (const char *named = std::getenv("SLUICE_PYTHON"); named && *named != '\0')
    start.interpreter = named;
  if (!isExecutable(start.interpreter))
    return problem("E0621", fmt::format("the interpreter '{}' cannot be started: {}; install "
                                        "python3, or set SLUICE_PYTHON to its path",
                                        start.interpreter, std::strerror(errno)));
  ::setenv("SLUICE", command.c_str(), 0);
  return start;
}

/// Becomes the interpreter; the exit code if that is not possible.
int startSweep(const SweepOptions &options, const Common &common) {
  const Report report(common);
  const auto found = findPackage();
  if (const auto *wrong = std::get_if<Problem>(&found))
    return report.fail({*wrong}, "");
  const auto &[interpreter, script] = std::get<Start>(found);
  std::vector<std::string> words = {interpreter, "-B", script, "--output=" + options.output};
  if (options.dask)
    words.push_back("--dask=" + *options.dask);
  if (options.jobs)
    words.push_back(fmt::format("--jobs={}", *options.jobs));
  if (options.retries)
    words.push_back(fmt::format("--retries={}", *options.retries));
  if (options.timeout)
    words.push_back(fmt::format("--timeout={}", *options.timeout));
  if (options.retryFailed)
    words.emplace_back("--retry-failed");
  if (common.json)
    words.push_back("--json=" + *common.json);
  words.push_back(fmt::format("--progress={}", ProgressLine::choice()));
  words.insert(words.end(), {"--", options.file});
  std::vector<char *> arguments;
  for (std::string &word : words)
    arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::execv(interpreter.c_str(), arguments.data());
  return report.fail("E0621", fmt::format("the interpreter '{}' cannot be started: {}", interpreter,
                                          std::strerror(errno)));
}

} // namespace

void addSweep(CLI::App &app, const Common &common, int &exitCode) {
  auto *command = app.add_subcommand(
      "sweep", "compile models for several targets with several options, and compare the programs");
  auto options = std::make_shared<SweepOptions>();
  command->add_option("file", options->file, "sweep file (YAML): the models, targets and options")
      ->required();
  command
      ->add_option("-o,--output", options->output,
                   "folder of the results; a sweep that was interrupted continues in it")
      ->type_name("DIR")
      ->required();
  command
      ->add_option("--jobs", options->jobs,
                   "number of points at a time on this machine (that of its processors)")
      ->type_name("N")
      ->check(CLI::Range(1U, 10'000U).description("1 to 10000"));
  command
      ->add_option("--dask", options->dask,
                   "compile on the workers of a Dask scheduler, by its address")
      ->type_name("ADDRESS");
  command->add_option("--timeout", options->timeout, "seconds that one compilation may take (600)")
      ->type_name("SECONDS")
      ->check(CLI::Range(0.001, 1e6).description("0.001 to 1000000"));
  command
      ->add_option("--retries", options->retries,
                   "further attempts at a point whose process crashes, times out or returns damage "
                   "(2)")
      ->type_name("N")
      ->check(CLI::Range(0U, 100U).description("0 to 100"));
  command->add_flag("--retry-failed", options->retryFailed,
                    "compile points again that failed in an earlier run");
  command->callback([options, &common, &exitCode] { exitCode = startSweep(*options, common); });
}

} // namespace sluice::cli
