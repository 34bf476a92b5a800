// The loop nest of an instruction: four loops with a trip count each, and the address streams that
// they advance.
#pragma once

#include <array>
#include <cstdint>

#include "hw/isa/isa.h"

namespace sluice::vm {

inline constexpr unsigned kLoops = isa::kLoopDepth;
/// The number of address streams of an instruction. `mm` has x, w, acc and p; `vec` has a, b, c and
/// dst.
inline constexpr unsigned kStreams = 4;
using Addresses = std::array<uint32_t, kStreams>;

/// The part of a loop nest that is equal in every execution of an instruction.
struct NestShape {
  std::array<uint32_t, kLoops> trips{1, 1, 1, 1};
  /// step[l] is added to the addresses when loop l advances and the loops inside it restart.
  std::array<Addresses, kLoops> step{};

  /// For each stream, the mask of the address bits that move, and the values of the other bits. In
  /// a ring only the low bits move.
  Addresses moving{~0U, ~0U, ~0U, ~0U};
  Addresses fixed{};

  using Strides = std::array<std::array<int32_t, kLoops>, kStreams>;
  NestShape() = default;
  NestShape(const std::array<uint32_t, kLoops> &loopTrips, const Strides &strides);
  /// Wraps a stream within the aligned 2^log2Rows rows that contain `base`. With 0 it does not
  /// wrap.
  void setRing(unsigned stream, uint32_t base, uint32_t log2Rows);
};

/// An iterator over the beats of one instruction.
class LoopNest {
public:
  void start(const NestShape &shapeToWalk, const Addresses &base);

  /// Whether every loop at or inside `level` is in its first (last) iteration.
  bool firstAt(unsigned level) const { return firstLevel <= level; }
  bool lastAt(unsigned level) const { return lastLevel <= level; }
  bool lastBeat() const { return lastLevel == 0; }
  /// Returns the address of a stream, before truncation to the width of its field.
  uint32_t address(unsigned stream) const {
    return shape->fixed[stream] | (at[stream] & shape->moving[stream]);
  }

  /// Advances to the next beat. The current beat must not be the last one.
  void advance();

private:
  void findLastLevel();

  const NestShape *shape = nullptr;
  std::array<uint32_t, kLoops> index{};
  Addresses at{};
  unsigned firstLevel = 0; ///< the smallest level at which firstAt (lastAt) is true
  unsigned lastLevel = 0;
};

} // namespace sluice::vm
