// Beats that only wait or signal, in front of a unit's other beats.
#pragma once

#include "hw/isa/isa.h"

namespace sluice::plan {

inline isa::Mm matrixPause() {
  isa::Mm pause;
  pause.skip = 1;
  return pause;
}

/// On the path of the beat that follows, so that the pipeline need not empty.
inline isa::Vec vectorPause(const isa::Vec &like) {
  isa::Vec pause;
  pause.alu1 = like.alu1;
  pause.rhs1 = isa::Rhs1::Imm;
  pause.tableEn = like.tableEn;
  pause.tableId = like.tableId;
  pause.reduce = like.reduce;
  pause.alu2 = like.alu2;
  pause.rhs2 = isa::Rhs2::Imm;
  return pause;
}

} // namespace sluice::plan
