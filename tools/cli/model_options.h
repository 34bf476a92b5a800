// The flags of compile and check that choose a model and say how to compile it.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "compiler/pipeline/pipeline.h"
#include "tools/cli/command_output.h"

namespace sluice::cli {

struct ModelOptions {
  pipeline::CompileOptions compile;
  std::vector<std::string> cutInputs, cutOutputs;
  std::vector<std::string> inputShapes, bindings, states, streams, dataDims, corePartition;
  std::string effort = "default";

  /// Adds the model and the flags to a command.
  void add(CLI::App &command);
  /// Adds the flags alone.
  void addFlags(CLI::App &command);

  /// Turns the texts into `compile`; what is malformed goes to `problems`.
  void finish(Problems &problems);

  struct Compiled {
    pipeline::CompileResult result;
    double seconds = 0;
  };
  /// Compiles; without a result there are problems. "WHAT model.onnx" is shown
  /// meanwhile.
  Compiled run(std::string_view what, Problems &problems) const;
};

/// `activations as weights at node 1 "scores" (MatMul)`.
std::string changeText(const Change &change);

/// The same; changes without a price end in ", at no cost".
std::string rewriteText(const pipeline::Rewrite &rewrite);

/// [{"node","text","cycles"}]; node is the index, null where there is none. cycles is 0 of changes
/// that cost nothing, else null.
Json rewritesJson(const std::vector<pipeline::Rewrite> &rewrites);

/// "57 cycles, 3 more", or "price not measured".
std::string priceText(const Repair &repair, const Repair &cheapest);

/// [{"flags","cycles","extra_cycles","applied","changes"}], the cheapest first. `applied`: it is.
Json repairsJson(const std::vector<Repair> &repairs, bool applied);

/// [{"name","shape","data_dim","why"}]; data_dim is null of constants.
Json tensorsJson(const std::vector<pipeline::TensorLayout> &tensors);

/// sluice explain --plan; the exit code.
int explainPlan(ModelOptions options, const Common &common);

/// sluice explain --index-space, of one node (its position or name) or of all; the
/// exit code.
int explainSpaces(ModelOptions options, const std::string &node, const Common &common);

} // namespace sluice::cli
