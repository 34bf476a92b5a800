// The rows that a core keeps of every position of a group while it computes them.
#pragma once

#include "compiler/conversion/loops/map.h"

namespace sluice::loops {

/// Sets where the rows of a trip are, a stage's rows one behind the other: those that do not depend
/// on the position from local row `first` on, then the frames of all positions of a group. The rows
/// of a stage whose readers are done are given away: units finish one stage of a group before the
/// vector unit writes the next. Returns the end of the last frame.
uint32_t placeFrame(const rows::Body &body, uint32_t first, uint32_t positions, BodyMap &result);

} // namespace sluice::loops
