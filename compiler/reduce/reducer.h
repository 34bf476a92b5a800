// The search for a small model that shows a failure.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "compiler/frontend/onnx/onnx_proto.h"
#include "compiler/reduce/facts.h"
#include "compiler/reduce/survey.h"

namespace sluice::reduce {

/// A model that shows a failure.
struct Case {
  onnx::ModelProto model;
  std::vector<Sample> samples = {}; ///< inputs that may show it, the best first
  /// Positions of nodes that the failure names, the node at fault first.
  std::vector<int64_t> nodes = {};
};

/// What the search asks of models.
struct Laboratory {
  /// Whether a model shows the failure. Sets the samples and nodes if it does.
  std::function<bool(Case &)> showsFailure;
  std::function<Survey(const Case &)> survey;
  /// Called with the smallest model so far, after each trial.
  std::function<void(const Case &, unsigned trials)> watch = nullptr;
  /// Whether the search is to end.
  std::function<bool()> isStopped = nullptr;
};

struct Reduced {
  Case smallest;
  unsigned trials = 0;
};

/// Removes what the failure does not need: nodes, outputs, inputs, then extents and elements.
/// Results of removed nodes become inputs. Tries at most `most` models. The result shows the
/// failure if `first` does.
Reduced reduceModel(Case first, const Laboratory &laboratory, unsigned most);

} // namespace sluice::reduce
