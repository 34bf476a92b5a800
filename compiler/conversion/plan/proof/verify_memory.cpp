#include "compiler/conversion/plan/proof/verify_memory.h"

#include <fmt/format.h>

#include "compiler/conversion/row_graph.h"

namespace sluice::plan {

MemoryProof::MemoryProof(const rows::Graph &graph, const Placement &placement)
    : graph(graph), cores(graph.geometry.cores) {
  for (const CoreMemory &memory : placement.cores) {
    std::vector<Cell> &core = cells.emplace_back(isa::kLocalBase + graph.geometry.localRows);
    for (RowId row : memory.constants)
      core[memory.localAddress[row]].value = row;
  }
  for (const rows::State &state : graph.states) {
    const uint32_t core = placement.rows[state.next].core;
    Cell &cell = cells[core][addressAt(placement, core, state.next)];
    cell.value = state.next;
    cell.initial = true;
    cell.inference = 0U - 1; // before the first
  }
}

std::optional<std::string> MemoryProof::read(const Access &by, uint32_t core, int32_t address,
                                             RowId expected, bool low) {
  if (address < 0 || static_cast<size_t>(address) >= cells[core].size())
    return fmt::format("reads tensor row {}, which does not exist", address);
  Cell &cell = cells[core][static_cast<size_t>(address)];
  cell.lastRead[by.unit >= cores] = by.now.beat;
  if (expected == kNoRow) {
    if (cell.value != kNoRow)
      return fmt::format("reads row {} at {}, expected zeros", cell.value, address);
    return std::nullopt;
  }
  const Row &what = graph.rows[expected];
  const bool isState = what.kind == RowKind::State;
  if (isState)
    expected = graph.states[what.state].next;
  if (cell.value != expected || cell.low != low)
    return fmt::format("reads row {} at {}, expected row {}", cell.value, address, expected);
  if (cell.writer < 0 && !cell.initial)
    return std::nullopt;
  if (cell.inference != by.now.inference - (isState ? 1 : 0))
    return fmt::format("reads row {} of another inference", expected);
  if (cell.writer >= 0 && by.clock.arrived[static_cast<size_t>(cell.writer)] < cell.writerBeat)
    return fmt::format("may read row {} before it arrives", expected);
  return std::nullopt;
}

std::optional<std::string> MemoryProof::write(const Access &by, uint32_t core, int32_t address,
                                              RowId row, bool low) {
  if (address < 0 || static_cast<size_t>(address) >= cells[core].size())
    return fmt::format("writes tensor row {}, which does not exist", address);
  Cell &cell = cells[core][static_cast<size_t>(address)];
  if (cell.writer < 0 && cell.value != kNoRow && !cell.initial)
    return fmt::format("overwrites constant row {}", cell.value);
  if (cell.lastRead[0] > by.clock.issued[core] || cell.lastRead[1] > by.clock.issued[cores + core])
    return fmt::format("may overwrite row {} before its last read", cell.value);
  if (cell.writer >= 0 && cell.writer != static_cast<int>(by.unit) &&
      by.clock.arrived[static_cast<size_t>(cell.writer)] < cell.writerBeat)
    return fmt::format("may write row {} before an older write arrives", row);
  cell = {row, low, by.now.inference, static_cast<int>(by.unit), false, by.now.beat, cell.lastRead};
  return std::nullopt;
}

} // namespace sluice::plan
