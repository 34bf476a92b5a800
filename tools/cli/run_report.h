// What sluice run says of engines and of their outputs.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "tools/cli/engine.h"
#include "tools/cli/streams.h"
#include "tools/cli/tensor_error.h"

namespace sluice::cli {

/// Everything one engine did: one entry per data set or step.
struct EngineRun {
  std::string name;
  std::vector<Inference> inferences;
  UnitCounters counters; ///< of all of them
  Streams::Costs costs;
  std::string state; ///< with --save-state, at the end

  uint64_t cycles() const {
    uint64_t most = 0;
    for (const Inference &inference : inferences)
      most = std::max(most, inference.cycles.latency);
    return most;
  }
};

/// Whether two engines did the same, and if not, what differs first.
bool equalRuns(const EngineRun &a, const EngineRun &b, std::string &difference);

/// The number of the first inference in which two engines differ; 0 if they differ elsewhere.
size_t differingInference(const EngineRun &a, const EngineRun &b);

/// The values of a small tensor, the span of a large one; what is not finite.
std::string valuesText(const io::Tensor &tensor);

/// The fields of an output that has a reference, and of one without.
Json comparisonJson(const Comparison &one);
Json noComparisonJson(const io::Tensor &result);

} // namespace sluice::cli
