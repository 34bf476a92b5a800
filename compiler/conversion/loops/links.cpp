#include "compiler/conversion/loops/links.h"

#include <algorithm>
#include <numeric>

#include "compiler/conversion/plan/order/placement.h"

namespace sluice::loops {
namespace {

/// Inputs that loops move over are announced as they come, as many rows together as a group moves.
void setChunks(const rows::Program &program, const Map &map, const Choice &choice,
               const std::vector<std::vector<Statements>> &statements, Links &links) {
  links.chunk.assign(program.inputs.size(), 0);
  links.wholeUnits.assign(program.inputs.size(), 0);
  const auto early = [&](const rows::Body &body) {
    return std::ranges::all_of(body.reads, [&](const rows::Read &read) {
      const rows::Family &family = program.families[read.family];
      return read.all && read.step >= 0 && (family.input || !family.constant.empty());
    });
  };
  while (links.early < program.bodies.size() && early(program.bodies[links.early]))
    ++links.early;
  for (uint32_t b = 0; b < program.bodies.size(); ++b) {
    const rows::Body &body = program.bodies[b];
    for (const Statements &one : statements[b])
      for (uint32_t input = 0; input < one.wholeUnits.size(); ++input)
        links.wholeUnits[input] |= one.wholeUnits[input];
    for (const rows::Read &read : body.reads)
      if (const auto &input = program.families[read.family].input;
          b < links.early && input && read.step > 0)
        links.chunk[*input] =
            std::gcd(links.chunk[*input],
                     static_cast<uint32_t>(read.step) * groupsOf(program, body, choice).size);
  }
  for (uint32_t input = 0; input < program.inputs.size(); ++input) {
    uint32_t &chunk = links.chunk[input];
    const bool whole = links.inputWhole[input] && links.wholeUnits[input] != 0;
    // More tokens than that are not counted.
    if (!whole || !map.portions[input].empty() ||
        (chunk != 0 && program.inputs[input].rows / chunk >= isa::kTokenMax))
      chunk = 0;
  }
}

} // namespace

Links linksOf(const rows::Program &program, const Map &map, const Choice &choice,
              const std::vector<std::vector<Statements>> &statements) {
  const uint32_t cores = program.geometry.cores;
  Links links;
  links.lastReading.assign(cores, kNone);
  links.inputReaders.assign(program.inputs.size(), 0);
  links.inputWhole.assign(program.inputs.size(), false);
  links.inputUnits.assign(program.inputs.size(), 0);
  links.byGroup.assign(program.inputs.size(), false);
  for (uint32_t f = 0; f < program.families.size(); ++f)
    if (const rows::Family &family = program.families[f]; family.input) {
      const Groups groups = groupsOf(program, family, choice);
      const uint32_t ahead =
          map.families[f].ring != 0 ? map.families[f].groups * groups.size : groups.most();
      links.byGroup[*family.input] = ahead > isa::kTokenMax;
    }
  for (uint32_t b = 0; b < program.bodies.size(); ++b)
    for (const rows::Read &read : program.bodies[b].reads) {
      const FamilyHome &home = map.families[read.family];
      if (!home.local)
        for (uint32_t core = 0; core < cores; ++core)
          if ((coresOf(program, program.bodies[b], choice) >> core & 1) != 0)
            links.lastReading[core] = b;
      if (const auto input = program.families[read.family].input) {
        links.inputReaders[*input] |= coresOf(program, program.bodies[b], choice);
        if (home.everywhere)
          links.inputWhole[*input] = true;
        if (home.groups != 0) {
          links.ring = input;
          links.ringGroups = home.groups;
          links.ringBody = b;
        }
      }
    }
  for (uint32_t b = 0; b < program.bodies.size(); ++b) {
    const Groups groups = groupsOf(program, program.bodies[b], choice);
    std::vector<uint32_t> signals(cores, 0);
    for (uint32_t core = 0; core < cores; ++core) {
      if ((coresOf(program, program.bodies[b], choice) >> core & 1) == 0)
        continue;
      for (uint32_t input = 0; input < program.inputs.size(); ++input)
        links.inputUnits[input] |= statements[b][core].inputUnits[input];
      if (map.bodies[b].readers != 0)
        signals[core] = groups.groupsOf(core);
    }
    links.signals.push_back(std::move(signals));
  }
  setChunks(program, map, choice, statements, links);
  return links;
}

} // namespace sluice::loops
