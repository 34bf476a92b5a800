// What is written for a report of an error of the compiler itself.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "compiler/check/outcome.h"
#include "compiler/pipeline/pipeline.h"
#include "tools/cli/command_output.h"
#include "tools/cli/io/tensor.h"

namespace sluice::cli {

/// Writes a folder `folder`: report.json (problems, versions, flags, seed, the model's file name
/// and SHA-256, inputs), the model with its external weights unless it came from standard input or
/// is large, files that flags name, and the inputs of a wrong value as .npy files. `checked` may be
/// null. Returns the problem if something cannot be written.
std::optional<Problem> writeBundle(const std::string &folder, const Problems &problems,
                                   const pipeline::CompileOptions &options,
                                   const check::Outcome *checked);

/// A bundle that was read.
struct Bundle {
  std::string version;            ///< of the command that wrote it, "0.1.0"; empty: unknown
  std::string code;               ///< of the first problem
  std::vector<std::string> flags; ///< words; files in the bundle with their paths
  uint64_t seed = 1;
  std::string model;                ///< path; empty: the bundle has none
  std::string modelName, modelHash; ///< may be empty
  /// By sample, a tensor for each input, with its name.
  std::vector<std::vector<io::Tensor>> samples;
};

/// E0624: `what` of a bundle cannot be read. The message names the version that wrote it, if that
/// is another one, and says what to do.
Problem ofAnotherVersion(const std::string &path, const std::string &version,
                         std::string_view what);

/// Reads a bundle; E0501 or E0624 if that cannot be done.
std::variant<Bundle, Problem> readBundle(const std::string &folder);

} // namespace sluice::cli
