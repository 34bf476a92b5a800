#include "compiler/conversion/loops/image.h"

#include <algorithm>

#include "compiler/conversion/plan/beats/images.h"

namespace sluice::loops {
namespace {

format::Program makeShell(const rows::Program &program) {
  return plan::makeShell(
      program.geometry, program.nodes,
      {program.modelName, program.inputs, program.outputs, program.macs, program.parameters});
}

/// The rows of a core's own positions, in the order in which it comes to them.
std::vector<uint16_t> ownRows(const rows::Program &program, const rows::Family &family,
                              const Choice &choice, uint32_t core) {
  const Groups groups = groupsOf(program, family, choice);
  const size_t row = size_t{family.rows} * program.geometry.lanes;
  std::vector<uint16_t> lanes;
  for (uint32_t g = 0; g < groups.groupsOf(core); ++g) {
    const uint32_t first = groups.first(core, g);
    const uint32_t last = std::min(first + groups.size, family.trips);
    lanes.insert(lanes.end(), family.constant.begin() + static_cast<std::ptrdiff_t>(first * row),
                 family.constant.begin() + static_cast<std::ptrdiff_t>(last * row));
  }
  return lanes;
}

} // namespace

std::optional<format::Program> timedPart(const rows::Program &program,
                                         const std::vector<List> &lists) {
  format::Program result = makeShell(program);
  for (size_t list = 0; list < lists.size(); ++list)
    for (const Emitted &one : lists[list]) {
      const std::optional<isa::Words> words = isa::encode(one.instruction);
      if (!words)
        return std::nullopt;
      (list < result.cores.size() ? result.cores[list].instructions : result.hostInstructions)
          .push_back(*words);
    }
  return result;
}

format::Program makeImages(const rows::Program &program, const Map &map, const Choice &choice) {
  format::Program result = makeShell(program);
  for (uint32_t core = 0; core < program.geometry.cores; ++core) {
    format::CoreImage &image = result.cores[core];
    for (const StoredBlock &stored : map.blocks)
      if (stored.on(core) && !stored.block.isCleared())
        image.weights.push_back({stored.address, stored.block});
    format::RowImage constants{isa::kLocalBase, {}};
    for (const std::vector<uint16_t> &row : map.constantRows)
      constants.lanes.insert(constants.lanes.end(), row.begin(), row.end());
    if (!constants.lanes.empty())
      image.rows.push_back(std::move(constants));
    for (uint32_t f = 0; f < program.families.size(); ++f)
      if (const rows::Family &family = program.families[f]; !family.constant.empty())
        if (format::RowImage own{isa::kLocalBase + map.families[f].base,
                                 ownRows(program, family, choice, core)};
            !own.lanes.empty())
          image.rows.push_back(std::move(own));
    for (uint32_t row = 0; row < map.preloads.size(); ++row)
      image.preloads.push_back(plan::preloadImage(row, map.preloads[row]));
    for (uint32_t slot = 0; slot < map.tables.size(); ++slot) {
      image.tables.push_back(map.tables[slot]);
      image.tables.back().table = slot;
    }
  }
  return result;
}

} // namespace sluice::loops
