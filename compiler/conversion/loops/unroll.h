// Lists with loops as what the proof and the engines see: beats one by one, and the
// rows of every trip by name.
#pragma once

#include <optional>
#include <string>

#include "compiler/conversion/loops/emit.h"
#include "compiler/conversion/plan/beats/schedule.h"

namespace sluice::loops {

/// A plan without loops: what compiler/conversion/plan/proof/verify.h proves.
struct Unrolled {
  rows::Graph graph;
  plan::Placement placement;
  plan::MachineBeats beats;
  plan::Schedule schedule;
};

Unrolled unroll(const rows::Program &program, const Map &map, const Choice &choice,
                const std::vector<List> &lists);

} // namespace sluice::loops
