// Instructions and nodes of a program, counters and recordings of a machine at work.
#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "hw/isa/matrix_beats.h"
#include "runtime/api/error.h"
#include "runtime/api/handles.h"
#include "runtime/api/structs.h"
#include "runtime/device/places.h"

using namespace sluice;
using namespace sluice::runtime;

struct sluice_rt_recording {
  std::vector<device::Span> spans;
};

struct sluice_rt_unit_counters {
  std::vector<device::UnitCounters> units;
};

namespace {

/// The instruction memory of a core or of the host port; null if there is none.
const std::vector<format::InstructionWords> *memory(const format::Program &program, uint32_t core) {
  return core < program.cores.size()    ? &program.cores[core].instructions
         : core == program.cores.size() ? &program.hostInstructions
                                        : nullptr;
}

sluice_rt_status noCore(const format::Program &program, uint32_t core) {
  return invalid(fmt::format("core is {}, allowed: 0 to {}", core, program.cores.size()));
}

/// Decoded once per handle: the texts must live as long as it does.
void describe(const sluice_rt_program &handle) {
  const format::Program &program = *handle.program;
  handle.listing.clear(); // an attempt before may have run out of memory
  const device::Places places(program);
  for (uint32_t core = 0; core <= program.cores.size(); ++core) {
    std::vector<sluice_rt_program::Listed> &list = handle.listing.emplace_back();
    for (const format::InstructionWords &words : *memory(program, core)) {
      const isa::Instruction decoded = isa::decode(words).value_or(isa::Halt{});
      const auto *mm = std::get_if<isa::Mm>(&decoded);
      list.push_back({.text = isa::disassemble(words),
                      .unit = mm                                            ? SLUICE_RT_MATRIX
                              : std::holds_alternative<isa::Vec>(decoded)   ? SLUICE_RT_VECTOR
                              : std::holds_alternative<isa::Input>(decoded) ? SLUICE_RT_INPUT
                                                                            : SLUICE_RT_SEQUENCER,
                      .multiplies = mm && isa::multiplies(*mm),
                      .nodes = {},
                      .moves = places.movedBy(core, static_cast<uint32_t>(list.size()))});
    }
  }
  for (const format::SourceEntry &entry : program.sourceMap)
    handle.listing[entry.core][entry.instruction].nodes = entry.nodes;
}

} // namespace

sluice_rt_status sluice_rt_program_instructions(const sluice_rt_program *program, uint32_t core,
                                                uint32_t *count) {
  if (!program || !count)
    return invalid("null argument");
  const auto *list = memory(*program->program, core);
  if (!list)
    return noCore(*program->program, core);
  *count = static_cast<uint32_t>(list->size());
  return SLUICE_RT_OK;
}

sluice_rt_status sluice_rt_program_instruction(const sluice_rt_program *program, uint32_t core,
                                               uint32_t instruction,
                                               sluice_rt_instruction_info *info) {
  if (!program || !info)
    return invalid("null argument");
  return guarded([&] {
    const auto *list = memory(*program->program, core);
    if (!list)
      return noCore(*program->program, core);
    if (instruction >= list->size())
      return noSuch("instruction", instruction, list->size());
    std::call_once(program->listed, describe, *program);
    const auto &found = program->listing[core][instruction];
    return give<sluice_rt_instruction_info>(
        info, {.size = 0,
               .text = found.text.c_str(),
               .unit = found.unit,
               .multiplies = found.multiplies ? 1 : 0,
               .node_count = static_cast<uint32_t>(found.nodes.size()),
               .nodes = found.nodes.data(),
               .moves = found.moves.c_str()});
  });
}

sluice_rt_status sluice_rt_program_nodes(const sluice_rt_program *program, uint32_t *count) {
  if (!program || !count)
    return invalid("null argument");
  *count = static_cast<uint32_t>(program->program->nodes.size());
  return SLUICE_RT_OK;
}

sluice_rt_status sluice_rt_program_node(const sluice_rt_program *program, uint32_t node,
                                        sluice_rt_node_info *info) {
  if (!program || !info)
    return invalid("null argument");
  return guarded([&] {
    const auto &nodes = program->program->nodes;
    if (node >= nodes.size())
      return noSuch("node", node, nodes.size());
    return give<sluice_rt_node_info>(info, {.size = 0,
                                            .index = nodes[node].index,
                                            .name = nodes[node].name.c_str(),
                                            .op = nodes[node].op.c_str()});
  });
}

const char *sluice_rt_unit_name(sluice_rt_unit unit) {
  constexpr std::array kNames{"matrix", "vector", "input", "sequencer", "network"};
  const auto index = static_cast<size_t>(unit);
  return index < kNames.size() ? kNames[index] : "";
}

const char *sluice_rt_activity_name(sluice_rt_activity activity) {
  constexpr std::array kNames{"busy", "token", "result", "taker", "network", "pipeline",
                              "host", "idle",  "queue",  "turn",  "output"};
  static_assert(kNames.size() == device::kActivities);
  const auto index = static_cast<size_t>(activity);
  return index < kNames.size() ? kNames[index] : "";
}

sluice_rt_status sluice_rt_device_unit_counters(const sluice_rt_device *device,
                                                sluice_rt_unit_counters **counters) {
  if (!device || !counters)
    return invalid("null argument");
  *counters = nullptr;
  return guarded([&] {
    const std::lock_guard lock(device->mutex);
    if (!device->session)
      return invalid("the device has no program loaded");
    *counters = new sluice_rt_unit_counters{device->session->unitCounters()};
    return SLUICE_RT_OK;
  });
}

sluice_rt_status sluice_rt_unit_counters_units(const sluice_rt_unit_counters *counters,
                                               uint32_t *count) {
  if (!counters || !count)
    return invalid("null argument");
  *count = static_cast<uint32_t>(counters->units.size());
  return SLUICE_RT_OK;
}

sluice_rt_status sluice_rt_unit_counters_unit(const sluice_rt_unit_counters *counters,
                                              uint32_t index, sluice_rt_unit_cycles *unit) {
  if (!counters || !unit)
    return invalid("null argument");
  return guarded([&] {
    if (index >= counters->units.size())
      return noSuch("unit", index, counters->units.size());
    const device::UnitCounters &found = counters->units[index];
    return give<sluice_rt_unit_cycles>(unit,
                                       {.size = 0,
                                        .unit = static_cast<sluice_rt_unit>(found.unit),
                                        .core = found.core,
                                        .activities = static_cast<uint32_t>(found.cycles.size()),
                                        .cycles = found.cycles.data()});
  });
}

void sluice_rt_unit_counters_release(sluice_rt_unit_counters *counters) { delete counters; }

sluice_rt_status sluice_rt_device_record(sluice_rt_device *device, int record) {
  if (!device)
    return invalid("null device");
  return guarded([&] {
    const std::lock_guard lock(device->mutex);
    device->recording = record != 0;
    if (device->session)
      device->session->record(device->recording);
    return SLUICE_RT_OK;
  });
}

sluice_rt_status sluice_rt_device_recording(const sluice_rt_device *device,
                                            sluice_rt_recording **recording) {
  if (!device || !recording)
    return invalid("null argument");
  *recording = nullptr;
  return guarded([&] {
    const std::lock_guard lock(device->mutex);
    if (!device->session || !device->recording)
      return invalid("the device has no program loaded or is not recording");
    *recording = new sluice_rt_recording{device->session->recorded()};
    return SLUICE_RT_OK;
  });
}

sluice_rt_status sluice_rt_recording_spans(const sluice_rt_recording *recording, size_t *count) {
  if (!recording || !count)
    return invalid("null argument");
  *count = recording->spans.size();
  return SLUICE_RT_OK;
}

sluice_rt_status sluice_rt_recording_span(const sluice_rt_recording *recording, size_t index,
                                          sluice_rt_span *span) {
  if (!recording || !span)
    return invalid("null argument");
  return guarded([&] {
    if (index >= recording->spans.size())
      return noSuch("span", index, recording->spans.size());
    const device::Span &found = recording->spans[index];
    return give<sluice_rt_span>(span, {.size = 0,
                                       .first = found.first,
                                       .last = found.last,
                                       .core = found.core,
                                       .unit = static_cast<sluice_rt_unit>(found.unit),
                                       .activity = static_cast<sluice_rt_activity>(found.block),
                                       .instruction = found.instruction});
  });
}

void sluice_rt_recording_release(sluice_rt_recording *recording) { delete recording; }
