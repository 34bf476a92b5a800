// What operations are told of the axes they work along.
#pragma once

#include <cstdint>

#include "compiler/reference/shape.h"

namespace sluice::reference {

/// What a window sees; by windowed axis, as sluice.window has it.
struct Window {
  Shape axes, sizes, counts, starts, strides, dilations;
};

/// The axis that a loop takes an element of, or adds one along, in each iteration.
struct LoopAxis {
  int64_t axis = 0;
  bool reversed = false;
};

} // namespace sluice::reference
