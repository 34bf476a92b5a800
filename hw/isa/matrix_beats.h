// What the beats of a matrix instruction do, as its fields say.
#pragma once

#include "hw/isa/isa.h"

namespace sluice::isa {

/// Its beats multiply a weight block by a row. Those of the other instructions only wait and
/// signal, or take rows as they are.
inline bool multiplies(const Mm &mm) {
  return mm.skip == 0 && mm.emit != Emit::Low && mm.emit != Emit::High;
}

/// Its emit beats send a row to the result FIFO.
inline bool makesResults(const Mm &mm) {
  return mm.skip == 0 && mm.emit != Emit::None && mm.emit != Emit::Raw;
}

} // namespace sluice::isa
