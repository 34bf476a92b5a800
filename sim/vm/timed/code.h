// A program's instructions as the timing-only machine runs them: everything that
// computes is gone, and the loops are groups of beats.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "hw/numerics/vector_pipeline.h"
#include "runtime/format/images.h"
#include "sim/vm/words.h"

namespace sluice::vm::timed {

/// How often nothing happens.
inline constexpr uint64_t kNone = std::numeric_limits<uint64_t>::max();

/// A unit instruction: `groups` groups of `beats` beats. It waits before the first
/// beat of a group and gives, or sends, with the last one, each in every so many
/// groups; the beats between concern nobody else.
struct Instruction : TokenFields {
  uint32_t index = 0; ///< in the instruction RAM
  uint64_t groups = 1;
  uint64_t beats = 1;
  uint64_t waitEvery = kNone;
  uint64_t signalEvery = kNone;
  uint64_t outEvery = kNone; ///< matrix results, packets
  // Vector unit: a group is one beat if a matrix result is taken.
  bool takesResult = false; ///< popped or not
  bool popsResult = false;
  bool toNetwork = false; ///< signals travel with the packets
  isa::VectorEntries entries;
  // Vector unit and host port.
  bool hasRow = false; ///< the packets
  uint16_t mask = 0;
};

/// One entry of an instruction RAM. A unit instruction of another unit does nothing.
struct Step {
  enum class Op : uint8_t { Halt, Nothing, Restart, Loop, Endloop, Unit };
  Op op = Op::Halt;
  uint8_t unit = 0;   ///< Unit: 0 the matrix unit or the host port, 1 the vector unit
  uint32_t value = 0; ///< Loop: trips; Unit: index of its instruction
};

/// The instruction RAM of a core or of the host port.
struct Code {
  std::vector<Step> steps;
  std::vector<Instruction> units;
};

/// Words that are no instruction stop the sequencer, like `halt`.
Code decodeCode(const std::vector<format::InstructionWords> &words, const isa::Latencies &latencies,
                bool hostPort);

} // namespace sluice::vm::timed
