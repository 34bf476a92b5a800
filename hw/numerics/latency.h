// The stages that beats pass in the units, and how long they take (docs/machine.md, Timing).
#pragma once

#include <bit>

#include "hw/isa/isa.h"

namespace sluice::isa {

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

/// The latencies of one machine, in cycles.
struct Latencies {
  unsigned lanes = 0;
  unsigned peTerms = 0;
  Stages stages;

  /// From a product's issue to the sum at the end of the chain of processing elements; it is
  /// accumulated then (A - t in docs/machine.md).
  constexpr unsigned chain() const {
    return kMmRead + stages.mmFanout + kMmPe + lanes / peTerms - 1;
  }

  /// From the last product's issue to the first cycle in which the vector unit sees the result.
  constexpr unsigned result() const { return chain() + stages.mmNormalise + 1; }

  /// From the grant of a packet to the first cycle in which its destinations show it.
  constexpr unsigned hop() const { return stages.netHop; }

  /// What a reduction adds; `lanes` is a power of two.
  constexpr unsigned reduce(Reduce reduce) const {
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

  /// What an arithmetic unit adds if a beat uses it.
  constexpr unsigned alu() const { return stages.vecAlu; }

  /// What the function table adds if a beat uses it.
  constexpr unsigned table() const { return stages.vecTable; }

  /// From the issue of a beat with this path to its destination: L of docs/machine.md.
  constexpr unsigned vector(unsigned path) const {
    return kVecRead + (path & 1) * stages.vecAlu + (path >> 1 & 1) * table() +
           reduce(static_cast<Reduce>(path >> 3)) + (path >> 2 & 1) * stages.vecAlu + stages.vecOut;
  }
};

} // namespace sluice::isa
