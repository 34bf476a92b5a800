// The affine stream of an instruction: four counted loops and the addresses
// they move.
#pragma once

#include <array>
#include <cstdint>

#include "hw/isa/isa.h"

namespace sluice::vm {

inline constexpr unsigned kLoops = isa::kLoopDepth;
/// Address streams of one instruction: mm x, w, acc, p; vec a, b, c, dst.
inline constexpr unsigned kStreams = 4;
using Addresses = std::array<uint32_t, kStreams>;

/// What stays the same from one execution of an instruction to the next.
struct NestShape {
  std::array<uint32_t, kLoops> trips{1, 1, 1, 1};
  /// Added to the addresses when loop l advances and the loops inside restart.
  std::array<Addresses, kLoops> step{};

  /// Of an address, what moves and what stays where it is: a ring moves its low bits.
  Addresses moving{~0U, ~0U, ~0U, ~0U};
  Addresses fixed{};

  using Strides = std::array<std::array<int32_t, kLoops>, kStreams>;
  NestShape() = default;
  NestShape(const std::array<uint32_t, kLoops> &loopTrips, const Strides &strides);
  /// The stream stays within the 2^log2Rows aligned rows around `base`; 0: it does not.
  void setRing(unsigned stream, uint32_t base, uint32_t log2Rows);
};

/// A walk through the beats of one instruction.
class LoopNest {
public:
  void start(const NestShape &shapeToWalk, const Addresses &base);

  /// Every loop at or inside `level` is at its first (last) trip.
  bool firstAt(unsigned level) const { return firstLevel <= level; }
  bool lastAt(unsigned level) const { return lastLevel <= level; }
  bool lastBeat() const { return lastLevel == 0; }
  /// Address of a stream, before it is cut to the field's width.
  uint32_t address(unsigned stream) const {
    return shape->fixed[stream] | (at[stream] & shape->moving[stream]);
  }

  /// Goes to the next beat; there must be one.
  void advance();

private:
  void findLastLevel();

  const NestShape *shape = nullptr;
  std::array<uint32_t, kLoops> index{};
  Addresses at{};
  unsigned firstLevel = 0; ///< smallest level this beat is first (last) at
  unsigned lastLevel = 0;
};

} // namespace sluice::vm
