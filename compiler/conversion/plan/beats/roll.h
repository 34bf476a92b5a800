// Rolling beats into affine instructions and unrolling them again. Rolling
// preserves the sequence of beats exactly: unroll(roll(b)) == b.
#pragma once

#include <optional>

#include "compiler/conversion/plan/beats/beats.h"

namespace sluice::plan {

/// An instruction and the beats it stands for.
struct Rolled {
  isa::Instruction instruction;
  uint32_t firstBeat = 0;
  uint32_t beats = 0;
};

/// Covers the beats with instructions, greedily: at every place the nest of up
/// to `depth` loops that covers most beats, the innermost ones of the instruction. Deterministic.
/// Nothing if the beats of a reduction are no such nest: the machine ends a reduction with every
/// vector instruction.
std::optional<std::vector<Rolled>> roll(const UnitBeats &unit, unsigned depth = isa::kLoopDepth);

/// The beats an instruction issues, by the rules of docs/machine.md. `form` is
/// the index its beats carry.
std::vector<Beat> unroll(const isa::Instruction &instruction, uint32_t form);

} // namespace sluice::plan
