// The flags that say which model is compiled for what: of compile and check.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "compiler/pipeline/pipeline.h"

namespace sluice::cli {

struct ModelOptions {
  pipeline::CompileOptions compile;
  std::vector<std::string> inputShapes, dataDims;
  std::string effort = "default";

  /// Adds the flags to a command.
  void add(CLI::App &command);

  /// Turns the texts into `compile`; what is malformed goes to `problems`.
  void finish(Problems &problems);
};

} // namespace sluice::cli
