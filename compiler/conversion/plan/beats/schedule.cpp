#include "compiler/conversion/plan/beats/schedule.h"

#include <algorithm>

#include "compiler/conversion/row_graph.h"

namespace sluice::plan {
namespace {

/// Source nodes of a beat; null for waits and signals. Writing weights is part of
/// what reads them.
const std::vector<uint32_t> *nodesOf(const rows::Graph &graph, const BeatOrigin &origin,
                                     isa::Unit unit) {
  if (origin.row == rows::kNoRow)
    return nullptr;
  const bool writes = unit == isa::Unit::Vec && origin.block != kNoBlock;
  return writes ? &graph.dynamic.at(origin.block).nodes : &graph.rows[origin.row].nodes;
}

/// Rolls one unit's beats; empty lists for empty beats.
std::optional<InstructionList> rollUnit(const rows::Graph &graph, const UnitBeats &unit,
                                        isa::Unit which) {
  const std::optional<std::vector<Rolled>> rolled = roll(unit);
  if (!rolled)
    return std::nullopt;
  InstructionList list;
  for (const Rolled &one : *rolled) {
    Scheduled scheduled{one.instruction, which, one.firstBeat, one.beats, {}};
    const std::vector<uint32_t> *previous = nullptr;
    for (uint32_t i = 0; i < one.beats; ++i) {
      const std::vector<uint32_t> *nodes = nodesOf(graph, unit.origins[one.firstBeat + i], which);
      if (nodes && nodes != previous)
        scheduled.nodes.insert(scheduled.nodes.end(), nodes->begin(), nodes->end());
      previous = nodes;
    }
    std::sort(scheduled.nodes.begin(), scheduled.nodes.end());
    scheduled.nodes.erase(std::unique(scheduled.nodes.begin(), scheduled.nodes.end()),
                          scheduled.nodes.end());
    list.push_back(std::move(scheduled));
  }
  return list;
}

Scheduled sequencer(const isa::Instruction &instruction) {
  return {instruction, isa::Unit::Seq, 0, 0, {}};
}

} // namespace

std::optional<Schedule> makeSchedule(const rows::Graph &graph, const MachineBeats &beats) {
  Schedule schedule;
  for (size_t core = 0; core < beats.matrix.size(); ++core) {
    auto matrix = rollUnit(graph, beats.matrix[core], isa::Unit::Mxu);
    auto vector = rollUnit(graph, beats.vector[core], isa::Unit::Vec);
    if (!matrix || !vector)
      return std::nullopt;
    const auto time = [&](const Scheduled &one) {
      const UnitBeats &unit = one.unit == isa::Unit::Mxu ? beats.matrix[core] : beats.vector[core];
      return unit.origins[one.firstBeat].time;
    };
    InstructionList list;
    std::merge(std::make_move_iterator(matrix->begin()), std::make_move_iterator(matrix->end()),
               std::make_move_iterator(vector->begin()), std::make_move_iterator(vector->end()),
               std::back_inserter(list), [&](const Scheduled &left, const Scheduled &right) {
                 return time(left) < time(right);
               });
    list.push_back(list.empty() ? sequencer(isa::Halt{}) : sequencer(isa::Restart{}));
    schedule.lists.push_back(std::move(list));
  }
  auto host = rollUnit(graph, beats.host, isa::Unit::Host);
  if (!host)
    return std::nullopt;
  host->push_back(sequencer(isa::Restart{}));
  schedule.lists.push_back(std::move(*host));
  return schedule;
}

} // namespace sluice::plan
