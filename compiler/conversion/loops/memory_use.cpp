#include "compiler/conversion/loops/memory_use.h"

#include <algorithm>

#include <fmt/format.h>

#include "compiler/conversion/plan/report/fit.h"

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

Problems fitProblems(const rows::Program &program, const std::vector<plan::MemoryUse> &use) {
  return plan::fitProblems(program.geometry, use, [&](const std::string &memory, uint32_t) {
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
}

} // namespace sluice::loops
