// A whole sequence, a few steps at a time: the program of one step is gone through as often as the
// sequence needs, so its size does not depend on the sequence's length.
#pragma once

#include <optional>

#include "compiler/streaming/streaming.h"

namespace sluice::streaming {

/// How a function over a whole sequence is streamed so that its outputs are whole again.
struct WholeSequence {
  Options options;
  int64_t trips = 1; ///< inferences of the streamed function
};

/// The inputs that are streamed, as many steps together as `most` allows; nothing where that does
/// not give every position of every output, or where the function keeps a state of its own. The
/// function stays what it is.
std::optional<WholeSequence> wholeSequence(mlir::FunctionOpInterface function, int64_t most);

} // namespace sluice::streaming
