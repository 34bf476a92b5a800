// Decoding that the machine with data and the timing-only machine share.
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
  uint8_t waitStep = 0; ///< modulo the number of tokens
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

/// Returns one step for each word: the result of `make` for the index and the instruction. A word
/// that is no instruction becomes `Step{}`, which stops the sequencer.
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
