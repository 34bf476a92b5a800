#include "tools/cli/listing.h"

#include <map>

#include <fmt/format.h>

namespace sluice::cli {
namespace {

/// Behind every node, so that these layers come last.
constexpr uint32_t kInput = UINT32_MAX - 1, kSynchronisation = UINT32_MAX;

Layer makeLayer(const ProgramHandle &program, const std::vector<uint32_t> &nodes) {
  if (nodes.front() == kInput || nodes.front() == kSynchronisation)
    return {{}, {nodes.front() == kInput ? "(input)" : "(synchronisation)"}, {}};
  Layer layer;
  for (uint32_t node : nodes) {
    auto info = sized<sluice_rt_node_info>();
    sluice_rt_program_node(program.get(), node, &info);
    layer.nodes.push_back(info.index);
    layer.names.emplace_back(info.name);
    layer.operators.emplace_back(info.op);
  }
  return layer;
}

} // namespace

std::string Layer::title() const {
  std::string text;
  for (size_t i = 0; i < names.size(); ++i) {
    text += (i == 0 ? "" : ", ") + names[i];
    if (i < operators.size())
      text += fmt::format("{}({})", names[i].empty() ? "" : " ", operators[i]);
  }
  return text;
}

Listing::Listing(const ProgramHandle &program) {
  const uint32_t count = program.machine().cores;
  std::map<std::vector<uint32_t>, std::vector<ListedInstruction *>> members;
  cores.resize(count + 1);
  for (uint32_t core = 0; core <= count; ++core) {
    uint32_t instructions = 0;
    sluice_rt_program_instructions(program.get(), core, &instructions);
    cores[core].resize(instructions);
    for (uint32_t i = 0; i < instructions; ++i) {
      auto info = sized<sluice_rt_instruction_info>();
      sluice_rt_program_instruction(program.get(), core, i, &info);
      cores[core][i] = {info.text, info.moves, info.unit, info.multiplies != 0, 0};
      std::vector<uint32_t> nodes(info.nodes, info.nodes + info.node_count);
      if (nodes.empty())
        nodes = {core == count ? kInput : kSynchronisation};
      if (info.unit != SLUICE_RT_SEQUENCER)
        members[nodes].push_back(&cores[core][i]);
    }
  }
  for (const auto &[nodes, instructions] : members) {
    for (ListedInstruction *instruction : instructions)
      instruction->layer = layers.size();
    layers.push_back(makeLayer(program, nodes));
  }
}

std::string coreName(uint32_t core, size_t cores) {
  return core >= cores ? "host port" : fmt::format("core {}", core);
}

std::string unitName(sluice_rt_unit unit) {
  return unit == SLUICE_RT_MATRIX ? "matrix" : unit == SLUICE_RT_VECTOR ? "vector" : "input";
}

} // namespace sluice::cli
