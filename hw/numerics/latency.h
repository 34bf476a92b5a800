// The stages that beats pass in the units, and how long they take (docs/machine.md, Timing).
#pragma once

#include <bit>

#include "hw/isa/isa.h"

namespace sluice::isa {

/// Cycles from a product's issue to the sum at the end of the chain of processing elements; it is
/// accumulated then (A - t in docs/machine.md).
constexpr unsigned chainLatency(unsigned lanes, unsigned peTerms) {
  return kMmRead + kMmFanout + kMmPe + lanes / peTerms - 1;
}

/// Cycles from the last product's issue to the result's being there for the vector unit.
constexpr unsigned resultLatency(unsigned lanes, unsigned peTerms) {
  return chainLatency(lanes, peTerms) + kMmNormalise + 1;
}

/// Beats from the one that writes a preload row to the first that may read it: the write comes
/// two cycles behind the read of a beat (docs/machine.md, Matrix unit).
inline constexpr unsigned kPreloadDistance = 3;

/// The units that a vector beat passes. Bits 0 to 2: alu1, table, alu2; from bit 3 the kind of
/// reduction.
constexpr unsigned vectorPath(Alu alu1, bool table, Reduce reduce, Alu alu2) {
  return (alu1 != Alu::Pass ? 1U : 0U) | (table ? 2U : 0U) | (alu2 != Alu::Pass ? 4U : 0U) |
         static_cast<unsigned>(reduce) << 3;
}

constexpr unsigned vectorPath(const Vec &vec) {
  return vectorPath(vec.alu1, vec.tableEn != 0, vec.reduce, vec.alu2);
}

/// A matrix result is taken, or looked at.
constexpr bool takesResult(const Vec &vec) {
  return vec.aSrc == Source::Mxu || vec.aSrc == Source::Peek;
}

/// Cycles a reduction adds; `lanes` is a power of two.
constexpr unsigned reduceLatency(Reduce reduce, unsigned lanes) {
  const auto levels = static_cast<unsigned>(std::bit_width(lanes) - 1);
  switch (reduce) {
  case Reduce::None:
    return 0;
  case Reduce::Max:
    return levels + kVecReduceMax;
  case Reduce::Sum:
    return (levels + 1) / 2 + kVecReduceSum;
  case Reduce::Argmax:
    return levels + kVecReduceArgmax;
  }
  return 0;
}

/// Cycles from issue to the destination: L of docs/machine.md.
constexpr unsigned vectorLatency(unsigned path, unsigned lanes) {
  return kVecRead + (path & 1) * kVecAlu + (path >> 1 & 1) * kVecTable +
         reduceLatency(static_cast<Reduce>(path >> 3), lanes) + (path >> 2 & 1) * kVecAlu + kVecOut;
}

} // namespace sluice::isa
