// What every command has in common: problems on stderr, results on stdout or as
// JSON, and the exit code.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "compiler/support/problem.h"
#include "tools/cli/problem_codes.h"

namespace sluice::cli {

using Json = nlohmann::ordered_json;

/// The value of "errors" in every JSON result.
Json errorsJson(const Problems &problems);

/// Options of the driver itself.
struct Common {
  std::string color = "auto";
  std::optional<std::string> json; ///< --json: "-" is standard output
  bool verbose = false;            ///< every problem by itself
};

class Report {
public:
  explicit Report(const Common &common) : common(common) {}

  /// Prints the problems (stderr, and as JSON if asked for); their exit code.
  /// `file` is what they are about.
  int fail(const Problems &problems, const std::string &file) const;
  int fail(const std::string &code, const std::string &message, const std::string &file = "") const;
  /// The problems on stderr alone.
  void log(const Problems &problems, const std::string &file) const;

  /// What was accepted that may not be meant, on stderr: "note: ...".
  static void notes(const std::vector<std::string> &notes);

  /// Prints to stderr as far as that can be written.
  static void say(std::string_view text);

  /// Whether results are wanted as text (JSON does not go to stdout).
  bool wantsText() const { return common.json != "-"; }
  bool wantsJson() const { return common.json.has_value(); }

  /// Prints to stdout if wantsText().
  void text(std::string_view text) const;
  /// Writes to where --json says; does nothing without it. False (and a
  /// problem on stderr) if the file cannot be written.
  bool json(const Json &value) const;

  bool color() const;

  /// E0601 if more than one of the results, a flag and its path each, goes to
  /// standard output; --json is one of them.
  std::optional<Problem>
  checkStdout(std::vector<std::pair<std::string_view, std::string_view>> results) const;

  /// A file of a command: the option or the name of what it is, and its path.
  struct File {
    std::string what, path;
  };

  /// E0601 if a file that the command writes is one that it reads, or writes twice; --json is one
  /// of those it writes. Empty paths and standard streams are no files. Asked before anything is
  /// reported: where --json is the file, nothing is written there.
  std::optional<Problem> checkFiles(const std::vector<File> &reads, std::vector<File> writes) const;

private:
  const Common &common;
  mutable bool keepsJson = false; ///< the file of --json is one of another purpose
};

/// One problem without a node.
Problem problem(std::string code, std::string message, Reason reason = {});

/// E0611: sluice fails.
Problem internalError(std::string message);

/// E0610: this machine has no memory left.
Problem outOfMemory();

/// E0607: a program cannot run to its end.
Problem stalls(const std::string &what);

/// E0614: the engines run a program differently.
Problem enginesDiffer(std::string message);

/// E0601 if the result of `flag`, which is no text, would go to a terminal.
std::optional<Problem> checkBinary(std::string_view flag, std::string_view path);

/// Writes a whole file or none; "-" is standard output. The problem if not.
std::optional<Problem> writeOutput(const std::string &path, std::string_view bytes);

/// Returns the line that tells of a written file and what it is or what opens it, "written FILE,
/// WHAT"; nothing where there is no file.
std::string writtenText(const std::string &path, std::string_view what);

/// A result of a command: its path and bytes.
struct OutputFile {
  std::string path;
  std::string_view bytes;
};

/// Writes all files or none.
std::optional<Problem> writeOutputs(const std::vector<OutputFile> &files);

/// The problem writeOutput would have; asked before long work, so that nothing is
/// written where not everything can be.
std::optional<Problem> checkOutput(const std::string &path);

} // namespace sluice::cli
