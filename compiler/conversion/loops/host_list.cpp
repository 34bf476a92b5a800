#include "compiler/conversion/loops/host_list.h"

#include <algorithm>

#include "compiler/conversion/loops/roll_runs.h"
#include "compiler/conversion/plan/order/placement.h"

namespace sluice::loops {
namespace {

class HostList {
public:
  HostList(const rows::Program &program, const Map &map, const Choice &choice, const Links &links)
      : program(program), map(map), choice(choice), links(links) {}

  List run() {
    for (uint32_t input = 0; input < program.inputs.size(); ++input)
      for (uint32_t f = 0; f < program.families.size(); ++f)
        if (program.families[f].input == input)
          links.inputWhole[input] || program.families[f].trips == 1 ? addWhole(f) : addGroups(f);
    std::vector<uint32_t> credits, done;
    for (uint32_t core = 0; core < program.geometry.cores; ++core) {
      const bool ring = links.ring && (links.inputReaders[*links.ring] >> core & 1) != 0;
      credits.push_back(ring ? links.ringGroups : 0);
      done.push_back(links.lastReading[core] != kNone && !endsWithRing(links, core) ? 1 : 0);
    }
    waitForCores(kCreditTokens, credits);
    waitForCores(kDoneTokens, done);
    list.push_back(sequencer(isa::Restart{}));
    return rollRuns(std::move(list), begins);
  }

private:
  const rows::Program &program;
  const Map &map;
  const Choice &choice;
  const Links &links;
  List list;
  std::vector<size_t> begins; ///< of portions of an input

  /// Takes tokens that cores give, by core; equal counts in one instruction.
  void waitForCores(uint32_t tokens, const std::vector<uint32_t> &counts) {
    for (uint32_t core = 0; core < counts.size();) {
      uint32_t end = core + 1;
      while (end < counts.size() && counts[end] == counts[core])
        ++end;
      isa::Input wait;
      wait.skip = 1;
      wait.n[3] = end - core;
      wait.waitLevel = isa::kLoopDepth;
      wait.waitStep = 1;
      pause(list, isa::Unit::Host, wait, tokens + core, counts[core]);
      core = end;
    }
  }

  /// All rows, announced with the last one.
  void addWhole(uint32_t f) {
    const rows::Family &family = program.families[f];
    const uint32_t input = *family.input;
    const uint32_t mask = links.inputReaders[input];
    uint32_t next = 0;
    if (!map.portions[input].empty())
      return addPortions(f);
    if (const uint32_t chunk = links.chunk[input]; chunk != 0) {
      for (const uint32_t count : {family.total() / chunk, family.total() % chunk != 0 ? 1U : 0U}) {
        if (count == 0)
          continue;
        isa::Input take;
        take.mask = mask;
        take.dst = map.families[f].base + next;
        take.n[0] = count;
        take.n[3] = std::min(chunk, family.total() - next);
        take.dstStride[0] = static_cast<int32_t>(chunk);
        take.dstStride[3] = 1;
        give(take, input, links.wholeUnits[input], 1);
        add(take, input, next, 0);
        next += count * chunk;
      }
      return;
    }
    while (next < family.total()) {
      const uint32_t rows = std::min(family.total() - next, isa::kMostN);
      isa::Input take;
      take.mask = mask != 0 ? mask : 1; // rows that nobody reads go where nobody looks
      take.dst = map.families[f].base + next;
      take.n[3] = rows;
      take.dstStride[3] = 1;
      if (next + rows == family.total() && mask != 0)
        give(take, input, plan::kMatrixBit | plan::kVectorBit, 0);
      add(take, input, next, 0);
      next += rows;
    }
  }

  /// Lines of an input, each as soon as all cores are done with what it overwrites.
  void addPortions(uint32_t f) {
    const FamilyHome &home = map.families[f];
    const uint32_t input = *program.families[f].input, size = 1U << home.ring;
    const uint32_t mask = links.inputReaders[input];
    uint32_t next = 0, credits = 0;
    for (const Portion &portion : map.portions[input]) {
      begins.push_back(list.size());
      uint32_t needed = 0;
      for (uint32_t b = 0; portion.behind && b <= *portion.behind; ++b)
        needed += map.bodies[b].credits;
      std::vector<uint32_t> counts;
      for (uint32_t core = 0; core < program.geometry.cores; ++core)
        counts.push_back((mask >> core & 1) != 0 ? needed - credits : 0);
      if (needed != credits)
        waitForCores(kCreditTokens, counts);
      credits = needed;
      isa::Input take;
      take.mask = mask;
      take.dst = home.base + next % size;
      take.dstRing = home.ring;
      take.n[3] = portion.end - next;
      take.dstStride[3] = 1;
      give(take, input, plan::kMatrixBit | plan::kVectorBit, 0);
      add(take, input, next, 0);
      next = portion.end;
    }
    begins.push_back(list.size());
  }

  static void give(isa::Input &take, uint32_t input, uint32_t units, uint32_t level) {
    take.sigEn = units != 0;
    take.sigToken = kInputTokens + input;
    take.sigUnits = units;
    take.sigLevel = level;
  }

  void add(const isa::Input &take, uint32_t input, uint32_t row, uint32_t step) {
    Emitted emitted;
    emitted.instruction = take;
    emitted.unit = isa::Unit::Host;
    emitted.input = input;
    emitted.inputRow = row;
    emitted.inputStep = step;
    list.push_back(std::move(emitted));
  }

  /// Group after group round the cores; with a ring, as cores give groups back.
  void addGroups(uint32_t f) {
    const rows::Family &family = program.families[f];
    const Groups groups = groupsOf(program, family, choice);
    const FamilyHome &home = map.families[f];
    const uint32_t rounds = groups.full() / groups.cores;
    const bool waits = home.ring != 0;
    list.push_back(sequencer(isa::Setreg{1, 0}));
    addRounds(f, groups, 0, rounds, waits);
    for (uint32_t g = rounds * groups.cores; g < groups.full(); ++g)
      addGroup(f, groups, g, groups.size, 0, waits);
    if (groups.rest() != 0)
      addGroup(f, groups, groups.full(), groups.rest(), 0, waits);
  }

  void addRounds(uint32_t f, const Groups &groups, uint32_t first, uint32_t count, bool waits) {
    const auto advance = static_cast<int32_t>(groups.size * program.families[f].rows);
    while (count != 0) {
      const uint32_t passes = std::min(count, rows::kMostTrips);
      if (passes > 1)
        list.push_back(sequencer(isa::Loop{passes}));
      for (uint32_t turn = 0; turn < groups.cores; ++turn)
        addGroup(f, groups, first * groups.cores + turn, groups.size, groups.cores * groups.size,
                 waits);
      list.push_back(sequencer(isa::Addreg{1, advance}));
      if (passes > 1)
        list.push_back(sequencer(isa::Endloop{}));
      first += passes;
      count -= passes;
    }
  }

  /// `group` is that of the first pass. Register 1 holds where its core's group begins.
  void addGroup(uint32_t f, const Groups &groups, uint32_t group, uint32_t positions, uint32_t step,
                bool waits) {
    const rows::Family &family = program.families[f];
    const FamilyHome &home = map.families[f];
    const uint32_t core = groups.coreOfGroup(group);
    isa::Input take;
    take.mask = 1U << core;
    take.dst = home.base;
    take.dstReg = 1;
    take.dstRing = home.ring;
    take.n[0] = positions;
    take.n[3] = family.rows;
    take.dstStride[0] = static_cast<int32_t>(family.rows);
    take.dstStride[3] = 1;
    give(take, *family.input, links.inputUnits[*family.input],
         links.byGroup[*family.input] ? 0 : 1);
    if (waits) {
      take.waitEn = 1;
      take.waitToken = kCreditTokens + core;
      take.waitCount = 1;
    }
    add(take, *family.input, group * groups.size * family.rows, step * family.rows);
  }
};

} // namespace

List hostList(const rows::Program &program, const Map &map, const Choice &choice,
              const Links &links) {
  return HostList(program, map, choice, links).run();
}

} // namespace sluice::loops
