#include "compiler/conversion/loops/groups.h"

#include <algorithm>

namespace sluice::loops {

namespace {

Groups groupsOf(uint32_t trips, uint32_t mask, const rows::Program &program, const Choice &choice) {
  mask &= (1U << program.geometry.cores) - 1;
  const auto cores = static_cast<uint32_t>(std::popcount(mask));
  return {trips, std::min(choice.group, (trips + cores - 1) / cores), cores, 0, mask};
}

} // namespace

Groups groupsOf(const rows::Program &program, const rows::Family &family, const Choice &choice) {
  return groupsOf(family.trips, family.cores, program, choice);
}

Groups groupsOf(const rows::Program &program, const rows::Body &body, const Choice &choice) {
  Groups groups = groupsOf(body.trips, body.cores, program, choice);
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
    const Groups groups = groupsOf(program, body, choice);
    if (!anywhere(body) || groups.cores != program.geometry.cores)
      continue;
    body.firstCore = next;
    next = (next + groups.full() + (groups.rest() != 0)) % groups.cores;
  }
}

uint32_t coresOf(const rows::Program &program, const rows::Body &body, const Choice &choice) {
  const Groups groups = groupsOf(program, body, choice);
  uint32_t mask = 0;
  for (uint32_t core = 0; core < program.geometry.cores; ++core)
    mask |= (groups.groupsOf(core) != 0 ? 1U : 0U) << core;
  return mask;
}

} // namespace sluice::loops
