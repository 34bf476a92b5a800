// Types, shapes and values of the tensors of a model.
#pragma once

#include <vector>

#include "compiler/frontend/onnx/onnx_proto.h"
#include "compiler/reduce/facts.h"
#include "compiler/reduce/trial.h"

namespace sluice::reduce {

struct Survey {
  Facts facts;
  /// For each sample, the tensors that the model computes from it, rounded to bf16. Samples without
  /// a tensor for each input are missing.
  std::vector<Sample> values;
};

/// Imports a model and evaluates it in double precision, in a process of its own. Where the
/// importer does not return, the last nodes are left out.
Survey survey(const onnx::ModelProto &model, const std::vector<Sample> &samples,
              const TrialSetup &setup);

/// Returns the user's inputs of a model; none if it cannot be imported.
std::vector<frontend::ImportedTensor> inputsOf(const onnx::ModelProto &model,
                                               const TrialSetup &setup);

} // namespace sluice::reduce
