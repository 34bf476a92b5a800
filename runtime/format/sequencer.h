// Analysis of an instruction list: its loops, and the values that every address register can have
// at every instruction.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hw/isa/isa.h"

namespace sluice::format {

/// A superset of the values of a register: low, low + step, ..., high. Values are not reduced to
/// the width of the register.
struct ValueSet {
  int64_t low = 0;
  int64_t high = 0;
  int64_t step = 0; ///< 0 if low == high

  uint64_t count() const { return step == 0 ? 1 : static_cast<uint64_t>((high - low) / step) + 1; }
  bool operator==(const ValueSet &) const = default;
};

/// The width of a sequencer register in bits, which is that of the immediate of setreg.
inline constexpr unsigned kRegisterBits = 18;

using RegisterValues = std::array<ValueSet, isa::kSeqRegs>;

struct SequencerInfo {
  std::vector<RegisterValues> registers; ///< values before each instruction
  std::vector<uint64_t> trips;           ///< executions of each instruction in one run; saturates
};

/// An instruction that makes a list invalid, and the reason. Loops must be balanced and nest at
/// most seq_loops deep. The last instruction, and no other, must be restart or halt.
struct SequencerError {
  size_t instruction = 0;
  std::string message;
};
/// Analyses a list of instructions into `info`. Returns an error if the list is invalid.
/// Analyses a list of instructions into `info`. Returns an error if the list is invalid.
std::optional<SequencerError> analyseSequencer(const std::vector<isa::Instruction> &instructions,
                                               SequencerInfo &info);

} // namespace sluice::format
