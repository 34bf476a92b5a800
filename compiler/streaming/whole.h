// Runs a whole sequence with the streamed form of a network: the host runs the program several
// times, a few steps each. The size of the program does not depend on the length of the sequence.
#pragma once

#include <optional>

#include "compiler/streaming/streaming.h"

namespace sluice::streaming {

/// The options with which the streamed form computes all positions of all outputs.
struct WholeSequence {
  Options options;
  int64_t trips = 1; ///< number of inferences of the streamed function
};

/// Returns the inputs to stream, with at most `most` steps in each inference. Returns nothing if
/// that does not compute every position of every output, or if the function has a state of its own.
/// The function is not changed.
std::optional<WholeSequence> wholeSequence(mlir::FunctionOpInterface function, int64_t most);

} // namespace sluice::streaming
