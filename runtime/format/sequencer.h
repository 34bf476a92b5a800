// The sequencer part of an instruction list: its loop structure, and which
// values every address register can have at every instruction.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hw/isa/isa.h"

namespace sluice::format {

/// A superset of the values of a register: low, low+step, ... high. Values are
/// not reduced to the register's width.
struct ValueSet {
  int64_t low = 0;
  int64_t high = 0;
  int64_t step = 0; ///< 0 where low == high

  uint64_t count() const { return step == 0 ? 1 : static_cast<uint64_t>((high - low) / step) + 1; }
  bool operator==(const ValueSet &) const = default;
};

/// Bits of a sequencer register (those of setreg's immediate).
inline constexpr unsigned kRegisterBits = 18;

using RegisterValues = std::array<ValueSet, isa::kSeqRegs>;

struct SequencerInfo {
  std::vector<RegisterValues> registers; ///< on entry of each instruction
  std::vector<uint64_t> trips;           ///< how often each executes per pass; saturates
};

/// Analyses a list of instructions. Loops must be balanced and nest at most
/// seq_loops deep; restart or halt must be the last instruction and stand
/// nowhere else. Otherwise gives the offending instruction and the reason.
struct SequencerError {
  size_t instruction = 0;
  std::string message;
};
std::optional<SequencerError> analyseSequencer(const std::vector<isa::Instruction> &instructions,
                                               SequencerInfo &info);

} // namespace sluice::format
