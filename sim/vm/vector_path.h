// The stages a vector instruction's beats pass, and how long they take.
#pragma once

#include <bit>

#include "hw/isa/isa.h"

namespace sluice::vm {

/// Instructions with different paths are never in the pipeline together. Bits 0 to
/// 2: alu1, table, alu2; from bit 3 the kind of reduction.
constexpr unsigned vectorPath(isa::Alu alu1, bool table, isa::Reduce reduce, isa::Alu alu2) {
  return (alu1 != isa::Alu::Pass ? 1U : 0U) | (table ? 2U : 0U) |
         (alu2 != isa::Alu::Pass ? 4U : 0U) | static_cast<unsigned>(reduce) << 3;
}

constexpr unsigned vectorPath(const isa::Vec &vec) {
  return vectorPath(vec.alu1, vec.tableEn != 0, vec.reduce, vec.alu2);
}

/// A matrix result is taken, or looked at.
constexpr bool takesResult(const isa::Vec &vec) {
  return vec.aSrc == isa::Source::Mxu || vec.aSrc == isa::Source::Peek;
}

/// Cycles a reduction adds; `lanes` is a power of two.
constexpr unsigned reduceLatency(isa::Reduce reduce, unsigned lanes) {
  const auto levels = static_cast<unsigned>(std::bit_width(lanes) - 1);
  switch (reduce) {
  case isa::Reduce::None:
    return 0;
  case isa::Reduce::Max:
    return levels + isa::kVecReduceMax;
  case isa::Reduce::Sum:
    return (levels + 1) / 2 + isa::kVecReduceSum;
  case isa::Reduce::Argmax:
    return levels + isa::kVecReduceArgmax;
  }
  return 0;
}

/// Cycles from issue to the destination: L of docs/machine.md.
constexpr unsigned vectorLatency(unsigned path, unsigned lanes) {
  return isa::kVecRead + (path & 1) * isa::kVecAlu + (path >> 1 & 1) * isa::kVecTable +
         reduceLatency(static_cast<isa::Reduce>(path >> 3), lanes) +
         (path >> 2 & 1) * isa::kVecAlu + isa::kVecOut;
}

} // namespace sluice::vm
