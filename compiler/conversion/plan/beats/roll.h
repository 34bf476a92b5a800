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

/// Returns the instruction that covers most beats from beat `at` on: a nest of up to `depth` loops,
/// the innermost ones of the instruction. Deterministic. Returns nothing if the beats of a
/// reduction form no such nest: the machine ends a reduction with every vector instruction.
std::optional<Rolled> rollFrom(const UnitBeats &unit, uint32_t at,
                               unsigned depth = isa::kLoopDepth);

/// Covers all beats with instructions: rollFrom() at the first beat, then behind each instruction.
/// Returns nothing if one of them has none.
std::optional<std::vector<Rolled>> roll(const UnitBeats &unit, unsigned depth = isa::kLoopDepth);

/// The beats an instruction issues, by the rules of docs/machine.md. `form` is
/// the index its beats carry.
std::vector<Beat> unroll(const isa::Instruction &instruction, uint32_t form);

} // namespace sluice::plan
