#include "compiler/conversion/plan/proof/verify_preloads.h"

#include <fmt/format.h>

#include "compiler/conversion/row_graph.h"
#include "hw/numerics/latency.h"

namespace sluice::plan {

PreloadProof::PreloadProof(const rows::Graph &graph, const Placement &placement)
    : graph(graph), placement(placement) {
  for (const CoreMemory &memory : placement.cores)
    cells.emplace_back(memory.preloads.size());
}

std::optional<std::string> PreloadProof::begin(uint32_t core, uint32_t address, Moment now) {
  if (address >= cells[core].size())
    return fmt::format("starts from preload row {}, which does not exist", address);
  Cell &cell = cells[core][address];
  const RowId row = placement.cores[core].preloads[address];
  if (graph.rows[row].start == kNoRow)
    return std::nullopt;
  if (cell.begun == now.inference)
    return fmt::format("starts from preload row {} twice", address);
  cell.begun = now.inference;
  if (now.inference == 0)
    return std::nullopt;
  if (!cell.left || cell.left->inference + 1 != now.inference)
    return fmt::format("starts from preload row {} of another inference", address);
  if (now.beat < cell.left->beat + isa::kPreloadDistance)
    return fmt::format("may start from preload row {} before it is written", address);
  return std::nullopt;
}

std::optional<std::string> PreloadProof::leave(uint32_t core, uint32_t address, RowId sum,
                                               Moment now) {
  if (address >= cells[core].size() ||
      graph.rows[placement.cores[core].preloads[address]].start != sum)
    return fmt::format("leaves row {} in preload row {}, which no sum of it starts from", sum,
                       address);
  Cell &cell = cells[core][address];
  if (cell.begun != now.inference)
    return fmt::format("overwrites preload row {} before its sum starts", address);
  cell.left = now;
  return std::nullopt;
}

} // namespace sluice::plan
