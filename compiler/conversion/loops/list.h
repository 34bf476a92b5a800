// Instruction lists, with what their beats are for: what bodies become, and what unrolling and
// rolling look at.
#pragma once

#include <algorithm>
#include <vector>

#include "compiler/conversion/loops/map.h"
#include "compiler/conversion/plan/beats/beats.h"
#include "hw/isa/isa.h"

namespace sluice::loops {

/// An instruction of a list and what its beats are for.
struct Emitted {
  isa::Instruction instruction;
  isa::Unit unit = isa::Unit::Seq;
  uint32_t body = kNone;                 ///< whose rows `origins` names
  uint32_t bodyStep = 0;                 ///< bodies from one pass of the loop to the next
  std::vector<plan::BeatOrigin> origins; ///< of one position; input: none, see `input`
  uint32_t position = kNone; ///< first trip, of the loop's first pass; kNone: no position
  uint32_t step = 0;         ///< trips from one pass of the loop to the next
  uint32_t positions = 1;
  uint32_t input = kNone; ///< rows of this input, from `inputRow` on, `inputStep` more each pass
  uint32_t inputRow = 0, inputStep = 0;
  std::vector<uint32_t> nodes;
};

using List = std::vector<Emitted>;

/// An instruction of the sequencer itself.
inline Emitted sequencer(const isa::Instruction &instruction) {
  Emitted emitted;
  emitted.instruction = instruction;
  return emitted;
}

/// Appends a wait for `count` tokens, however many beats that takes.
template <typename Unit>
void pause(List &list, isa::Unit unit, const Unit &form, uint32_t token, uint32_t count) {
  while (count != 0) {
    const uint32_t now = std::min(count, isa::kTokenMax);
    Unit wait = form;
    wait.waitEn = 1;
    wait.waitToken = token;
    wait.waitCount = now;
    Emitted emitted;
    emitted.instruction = wait;
    emitted.unit = unit;
    list.push_back(std::move(emitted));
    count -= now;
  }
}

} // namespace sluice::loops
