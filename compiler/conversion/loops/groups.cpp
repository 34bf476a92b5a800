#include "compiler/conversion/loops/groups.h"

#include <algorithm>

namespace sluice::loops {

Groups groupsOf(uint32_t trips, const rows::Program &program, const Choice &choice) {
  const uint32_t cores = program.geometry.cores;
  return {trips, std::min(choice.group, (trips + cores - 1) / cores), cores};
}

Groups groupsOf(const rows::Program &program, const rows::Body &body, const Choice &choice) {
  Groups groups = groupsOf(body.trips, program, choice);
  groups.firstCore = body.firstCore;
  return groups;
}

void dealOut(rows::Program &program, const Choice &choice) {
  const auto anywhere = [](const rows::Body &body) {
    return std::ranges::all_of(body.reads, [](const rows::Read &read) { return read.all; }) &&
           std::ranges::all_of(body.writes, [](const rows::Write &write) {
             return write.output || write.placed();
           });
  };
  if (!program.hasWindows())
    return;
  uint32_t next = 0;
  for (rows::Body &body : program.bodies) {
    if (!anywhere(body))
      continue;
    body.firstCore = next;
    const Groups groups = groupsOf(program, body, choice);
    next = (next + groups.full() + (groups.rest() != 0)) % groups.cores;
  }
}

uint32_t coresOf(const rows::Program &program, const rows::Body &body, const Choice &choice) {
  const Groups groups = groupsOf(program, body, choice);
  uint32_t mask = 0;
  for (uint32_t core = 0; core < groups.cores; ++core)
    mask |= (groups.groupsOf(core) != 0 ? 1U : 0U) << core;
  return mask;
}

} // namespace sluice::loops
