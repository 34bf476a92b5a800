#include "compiler/check/recorded_rows.h"

#include <algorithm>

#include "hw/numerics/numerics.h"
#include "runtime/format/packed_rows.h"

namespace sluice::check {

RecordedRows::RecordedRows(const format::Program &program)
    : program(program), rows(program.cores.size()), positions(program.tensors.size()),
      written(program.tensors.size()), next(program.cores.size()) {
  if (program.models.front().steps > 1)
    return;
  for (uint32_t core = 0; core < program.cores.size(); ++core)
    device::followRows(program, core, [&](const device::WrittenRow &row) {
      const bool isWhole = row.holds && !row.holds->partial;
      rows[core].push_back(isWhole ? row.holds : std::nullopt);
      if (isWhole)
        written[row.holds->tensor] = true;
    });
  const uint32_t lanes = program.geometry.lanes;
  for (size_t i = 0; i < positions.size(); ++i) {
    if (!written[i])
      continue;
    const format::PackedRows packed(program.tensors[i]);
    positions[i].assign(packed.rows(lanes) * lanes, -1);
    packed.slots(lanes).forEach(
        [&](int64_t position, int64_t slot) { positions[i][slot] = position; });
  }
}

void RecordedRows::restart() {
  std::ranges::fill(next, 0);
  recorded.clear();
}

void RecordedRows::record(uint32_t core, std::span<const uint16_t> lanes) {
  if (core >= rows.size() || rows[core].empty())
    return;
  const uint64_t number = next[core]++, inference = number / rows[core].size();
  const auto &row = rows[core][number % rows[core].size()];
  if (!row)
    return;
  while (recorded.size() <= inference)
    recorded.emplace_back(program.tensors.size());
  Copies &copies = recorded[inference][row->tensor];
  const std::vector<int64_t> &places = positions[row->tensor];
  copies.count.resize(places.size() / lanes.size());
  if (row->row >= copies.count.size())
    return;
  const uint32_t copy = copies.count[row->row]++;
  if (copy == copies.tensors.size()) {
    const auto elements = static_cast<size_t>(
        std::ranges::count_if(places, [](int64_t position) { return position >= 0; }));
    copies.tensors.push_back({std::vector<double>(elements), std::vector<bool>(elements)});
  }
  RecordedTensor &tensor = copies.tensors[copy];
  for (size_t lane = 0; lane < lanes.size(); ++lane)
    if (const int64_t position = places[row->row * lanes.size() + lane]; position >= 0) {
      tensor.values[position] = numerics::bf16ToDouble(lanes[lane]);
      tensor.isKnown[position] = true;
    }
}

std::span<const RecordedTensor> RecordedRows::of(uint64_t inference, uint32_t tensor) const {
  if (inference >= recorded.size())
    return {};
  return recorded[inference][tensor].tensors;
}

} // namespace sluice::check
