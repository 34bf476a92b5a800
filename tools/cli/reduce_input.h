// What sluice reduce reads: a model or a bundle, and inputs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "compiler/reduce/reducer.h"
#include "compiler/reduce/trial.h"
#include "tools/cli/command_output.h"
#include "tools/cli/fault_bundle.h"
#include "tools/cli/model_options.h"

namespace sluice::cli {

struct ReduceOptions {
  ModelOptions model;
  std::vector<const CLI::Option *> flags; ///< that a bundle has too
  std::string keep, data, bundle, output = "reduced.onnx";
  uint64_t check = 0, timeout = 60, trials = 2000;
};

/// Reads the model, its flags and its inputs.
class ReduceInput {
public:
  explicit ReduceInput(ReduceOptions &options) : options(options) {}

  /// Reads everything. A bundle sets the path of the model, its flags, and --keep if that is
  /// missing. Returns false, with problems, if something cannot be read.
  bool read(const Report &report);

  Problems problems;
  std::string inputsPath; ///< of the file of inputs that is written
  reduce::TrialSetup setup;
  reduce::Case first;

private:
  [[nodiscard]] const std::string &path() const { return options.model.compile.modelPath; }
  [[nodiscard]] bool fail(std::string code, std::string message);

  bool readBundleFolder();
  bool checkFlags(const Report &report);
  bool readModel();
  bool isOfBundle();
  void nameNodes();
  bool readData();

  ReduceOptions &options;
  std::optional<Bundle> bundle;
};

} // namespace sluice::cli
