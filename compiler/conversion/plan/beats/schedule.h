// The finished schedule: per core one list of instructions, and which beats
// each of them stands for.
#pragma once

#include <optional>
#include <vector>

#include "compiler/conversion/plan/beats/build.h"
#include "compiler/conversion/plan/beats/roll.h"

namespace sluice::plan {

/// An instruction of a list.
struct Scheduled {
  isa::Instruction instruction;
  isa::Unit unit = isa::Unit::Seq;
  uint32_t firstBeat = 0;      ///< in the unit's beats
  uint32_t beats = 0;          ///< 0 for sequencer instructions
  std::vector<uint32_t> nodes; ///< source nodes, ascending
};

using InstructionList = std::vector<Scheduled>;

/// Instruction lists by core, the host port's last.
struct Schedule {
  std::vector<InstructionList> lists;
};

/// Rolls the beats and merges a core's two units into one list by the estimated
/// time of their first beats. That order cannot deadlock: the earliest beat not
/// yet done never sits behind an instruction that starts later. Nothing if a
/// reduction cannot be rolled.
std::optional<Schedule> makeSchedule(const rows::Graph &graph, const MachineBeats &beats);

} // namespace sluice::plan
