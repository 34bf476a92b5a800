#include "compiler/conversion/loops/memory_use.h"

#include <algorithm>
#include <variant>

#include <fmt/format.h>

#include "compiler/conversion/plan/report/fit.h"
#include "compiler/support/problem.h"

namespace sluice::loops {

std::vector<plan::MemoryUse> dataUse(const rows::Program &program, const Map &map) {
  const format::Geometry &geometry = program.geometry;
  std::vector<plan::MemoryUse> use;
  for (uint32_t core = 0; core < geometry.cores; ++core) {
    use.push_back({core, "weight blocks", map.blocksUsed[core], geometry.weightBlocks});
    use.push_back({core, "inbox rows", map.inboxRows, geometry.inboxRows});
    use.push_back({core, "local rows", map.localRows, geometry.localRows});
    use.push_back({core, "preload rows", map.preloads.size(), geometry.preloadRows});
    use.push_back({core, "function tables", map.tables.size(), geometry.tables});
  }
  return use;
}

void addInstructionUse(const format::Geometry &geometry, const std::vector<List> &lists,
                       std::vector<plan::MemoryUse> &use) {
  for (uint32_t core = 0; core < geometry.cores; ++core)
    use.push_back({core, "instructions", lists[core].size(), geometry.instructions});
  use.push_back(
      {geometry.cores, "host instructions", lists.back().size(), geometry.hostInstructions});
}

bool exceedsOthers(const std::vector<plan::MemoryUse> &use) {
  return std::ranges::any_of(
      use, [](const auto &one) { return one.used > one.capacity && one.memory != "inbox rows"; });
}

namespace {

/// The nodes with the most weight blocks on a core. A block counts for the first node that has it.
std::vector<plan::User> largestWeights(const rows::Program &program, const Map &map,
                                       uint32_t core) {
  std::vector<bool> seen(map.blocks.size());
  plan::NodeCount count(program.nodes);
  for (size_t i = 0; i < map.bodies.size(); ++i) {
    const BodyMap &body = map.bodies[i];
    const rows::Graph &trip = program.bodies[i].trip;
    if ((body.cores >> core & 1) == 0)
      continue;
    for (rows::RowId row = 0; row < trip.rows.size(); ++row)
      for (const rows::Term &term : body.work[row].terms) {
        const uint32_t stored = body.blocks[term.block];
        if (stored == plan::kNone || seen[stored])
          continue;
        seen[stored] = true;
        count.add(trip.rows[row]);
      }
  }
  return count.largest();
}

} // namespace

Problems fitProblems(const rows::Program &program, const Map &map,
                     const std::vector<plan::MemoryUse> &use) {
  Problems problems =
      plan::fitProblems(program.geometry, use, [&](const std::string &memory, uint32_t core) {
        if (memory == "weight blocks")
          return plan::usesOf(largestWeights(program, map, core), memory);
        std::vector<std::pair<uint32_t, std::string>> families;
        if (memory == "inbox rows" || memory == "local rows")
          for (const rows::Family &family : program.families)
            if (family.input.has_value() == (memory == "inbox rows"))
              families.emplace_back(family.total(), family.name);
        std::ranges::sort(families, std::ranges::greater());
        families.resize(std::min<size_t>(families.size(), 3));
        std::vector<std::string> users;
        for (const auto &[rows, name] : families)
          users.push_back(fmt::format("'{}' ({} rows in total) uses {}", name, rows, memory));
        return users;
      });
  const auto holding = std::ranges::count_if(
      use, [](const auto &one) { return one.memory == "weight blocks" && one.used != 0; });
  for (Problem &problem : problems)
    if (const auto *lacks = std::get_if<LacksMemory>(&problem.reason);
        lacks && lacks->memory == "weight blocks" && holding > 1)
      problem.notes.emplace_back("each core computes some of the positions, and stores the weights "
                                 "of all layers that it computes");
  return problems;
}

} // namespace sluice::loops
