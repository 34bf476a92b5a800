// What the exact and the timing-only machine read alike from a program's words.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "hw/isa/isa.h"
#include "runtime/format/images.h"

namespace sluice::vm {

/// The tokens of a unit instruction.
struct TokenFields {
  uint8_t waitToken = 0;
  uint8_t waitStep = 0; ///< modulo the bank
  uint8_t waitCount = 0;
  uint8_t sigToken = 0;
  uint8_t sigUnits = 0;
};

template <class Inst> TokenFields tokenFields(const Inst &from) {
  return {static_cast<uint8_t>(from.waitToken),
          static_cast<uint8_t>(static_cast<uint32_t>(from.waitStep) % isa::kTokens),
          static_cast<uint8_t>(from.waitCount), static_cast<uint8_t>(from.sigToken),
          static_cast<uint8_t>(from.sigUnits)};
}

/// One step a word: what `make` of its index and the instruction says. A word that is
/// none stops the sequencer, as `Step{}` does.
template <class Step, class Make>
std::vector<Step> stepsOf(const std::vector<format::InstructionWords> &words, Make make) {
  std::vector<Step> steps;
  steps.reserve(words.size());
  for (const format::InstructionWords &word : words) {
    const std::optional<isa::Instruction> inst = isa::decode(word);
    steps.push_back(inst ? make(static_cast<uint32_t>(steps.size()), *inst) : Step{});
  }
  return steps;
}

} // namespace sluice::vm
