#include "compiler/conversion/plan/proof/verify_blocks.h"

#include <algorithm>

#include <fmt/format.h>

#include "compiler/conversion/row_graph.h"

namespace sluice::plan {

std::optional<std::string> BlockProof::read(uint32_t core, uint32_t address, Moment now,
                                            uint32_t arrivedWrites) {
  Cell &cell = cells[core][address];
  cell.lastRead = now.beat;
  const size_t writes = graph.dynamic.at(beats.weights[core][address]).writes.size();
  const size_t written = cell.inference == now.inference ? cell.current : 0;
  if (written != writes)
    return fmt::format("reads weight block {} with {} of {} rows written", address, written,
                       writes);
  if (arrivedWrites < cell.lastWrite)
    return fmt::format("may read weight block {} before it is written", address);
  return std::nullopt;
}

std::optional<std::string> BlockProof::write(uint32_t core, const isa::Vec &vec, int32_t dst,
                                             rows::RowId row, Moment now, uint32_t issuedReads) {
  const std::vector<uint32_t> &weights = beats.weights[core];
  const uint32_t lanes = graph.geometry.lanes;
  const uint32_t address = static_cast<uint32_t>(dst) / lanes;
  const rows::BlockWrite write{row, static_cast<uint32_t>(dst) % lanes};
  const auto dynamic =
      address < weights.size() ? graph.dynamic.find(weights[address]) : graph.dynamic.end();
  const bool column = vec.dstKind == isa::Dst::Wcol;
  const auto wanted = [&](const std::vector<rows::BlockWrite> &writes) {
    return std::find(writes.begin(), writes.end(), write) != writes.end();
  };
  if (dynamic == graph.dynamic.end() || dynamic->second.columns != column ||
      !wanted(dynamic->second.writes))
    return fmt::format("writes row {} to {} {} of weight block {}", row, column ? "column" : "row",
                       write.index, address);
  Cell &cell = cells[core][address];
  if (cell.lastRead > issuedReads)
    return fmt::format("may overwrite weight block {} before its last read", address);
  const auto [entry, first] = cell.written.try_emplace(write.index, now.inference);
  if (!first && entry->second == now.inference)
    return fmt::format("writes index {} of weight block {} twice", write.index, address);
  entry->second = now.inference;
  cell.current = cell.inference == now.inference ? cell.current + 1 : 1;
  cell.inference = now.inference;
  cell.lastWrite = now.beat;
  return std::nullopt;
}

} // namespace sluice::plan
