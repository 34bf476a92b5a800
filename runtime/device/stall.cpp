#include "runtime/device/stall.h"

#include <algorithm>

#include <fmt/format.h>

#include "runtime/device/places.h"

namespace sluice::device {
namespace {

std::string reason(const UnitStatus &unit) {
  switch (unit.block) {
  case UnitStatus::Block::Token:
    return fmt::format("waits for token {} (has {}, needs {})", unit.token, unit.have, unit.need);
  case UnitStatus::Block::ResultFifoEmpty:
    return "waits for a result of the matrix unit";
  case UnitStatus::Block::ResultFifoFull:
    return "waits for room in the result FIFO";
  case UnitStatus::Block::OutboxFull:
    return "waits for room in its network FIFO";
  case UnitStatus::Block::PipelineBusy:
    return "waits behind beats of a longer path";
  case UnitStatus::Block::HostInput:
    return "waits for an input row";
  case UnitStatus::Block::None:
  case UnitStatus::Block::Idle:
    break;
  }
  return "is not blocked";
}

std::string unitName(const UnitStatus &unit, size_t cores) {
  return unit.core >= cores ? "the host port"
                            : fmt::format("the {} unit of core {}", unit.unit, unit.core);
}

} // namespace

std::string describeSource(const format::Program &program, uint32_t core, uint32_t instruction) {
  const auto &map = program.sourceMap;
  const auto entry = std::lower_bound(map.begin(), map.end(), std::pair(core, instruction),
                                      [](const format::SourceEntry &e, const auto &key) {
                                        return std::pair(e.core, e.instruction) < key;
                                      });
  if (entry == map.end() || entry->core != core || entry->instruction != instruction)
    return "";
  std::string text;
  for (uint32_t index : entry->nodes) {
    const format::SourceNode &node = program.nodes[index];
    if (!text.empty())
      text += ", ";
    text += node.index < 0 ? "node" : fmt::format("node {}", node.index);
    text += fmt::format(" \"{}\" ({})", node.name, node.op);
  }
  return text;
}

std::string describeStall(const format::Program &program, const std::vector<UnitStatus> &units,
                          uint64_t cycles) {
  std::vector<const UnitStatus *> blocked;
  for (bool token : {true, false})
    for (const UnitStatus &unit : units)
      if (unit.block != UnitStatus::Block::Idle &&
          (unit.block == UnitStatus::Block::Token) == token)
        blocked.push_back(&unit);
  std::string text = fmt::format("no progress for {} cycles: ", cycles);
  if (blocked.empty())
    return text + "all units have finished their instructions, but outputs are missing";
  const Places places(program);
  for (const UnitStatus *unit : blocked) {
    if (unit != blocked.front())
      text += "; ";
    text += fmt::format("{} {} in instruction {}", unitName(*unit, program.cores.size()),
                        reason(*unit), unit->instruction);
    for (const std::string &more : {describeSource(program, unit->core, unit->instruction),
                                    places.movedBy(unit->core, unit->instruction)})
      if (!more.empty())
        text += ", " + more;
  }
  return text;
}

} // namespace sluice::device
