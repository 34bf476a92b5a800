#include "tests/support/random_memory.h"

#include <algorithm>

#include "hw/isa/isa.h"
#include "tests/support/random_values.h"

namespace sluice::fixtures {

namespace {

template <class Each> void forBothEnds(int64_t window, int64_t size, Each &&each) {
  for (int64_t i = 0; i < window; ++i)
    each(static_cast<uint32_t>(i));
  for (int64_t i = size - kEndWindow; i < size; ++i)
    each(static_cast<uint32_t>(i));
}

format::HostTensor makeTensor(const char *kind, size_t first, size_t rows, uint32_t lanes) {
  format::HostTensor tensor;
  tensor.name = kind + std::to_string(first);
  tensor.shape = {static_cast<int64_t>(rows), lanes};
  tensor.type = format::HostType::BFloat16;
  tensor.dataDim = 1;
  tensor.firstRow = static_cast<uint32_t>(first);
  tensor.rows = static_cast<uint32_t>(rows);
  return tensor;
}

} // namespace

Window windowOf(Rng &rng, int64_t first, int64_t window, int64_t size) {
  return rng.percent(85) ? Window{first, first + window - 1}
                         : Window{first + size - kEndWindow, first + size - 1};
}

format::CoreImage randomMemories(Rng &rng, const format::Geometry &geometry) {
  format::CoreImage core;
  const auto rows = [&](int64_t first, int64_t count) {
    format::RowImage image{static_cast<uint32_t>(first), {}};
    for (int64_t r = 0; r < count; ++r)
      std::ranges::copy(randomRow(rng, geometry.lanes), std::back_inserter(image.lanes));
    core.rows.push_back(std::move(image));
  };
  rows(0, kTensorWindow);
  rows(geometry.inboxRows - kEndWindow, kEndWindow);
  rows(isa::kLocalBase, kTensorWindow);
  rows(int64_t{isa::kLocalBase} + geometry.localRows - kEndWindow, kEndWindow);
  forBothEnds(kBlockWindow, geometry.weightBlocks, [&](uint32_t block) {
    core.weights.push_back({block, randomWeights(rng, geometry.lanes)});
  });
  forBothEnds(kPreloadWindow, geometry.preloadRows, [&](uint32_t row) {
    core.preloads.push_back({row, randomPreload(rng, geometry.lanes)});
  });
  if (rng.percent(25))
    core.tables.push_back(
        randomTable(rng, static_cast<uint32_t>(rng.range(0, geometry.tables - 1))));
  return core;
}

format::Model describeModel(const format::Geometry &geometry, uint32_t inputRows,
                            const std::vector<uint64_t> &outputRows) {
  format::Model model;
  model.name = "random";
  if (inputRows > 0)
    model.inputs.push_back(makeTensor("in", 0, inputRows, geometry.lanes));
  const size_t end = outputRows.size() * 64;
  const auto written = [&](size_t row) { return (outputRows[row / 64] >> (row % 64) & 1) != 0; };
  for (size_t row = 0; row < end; ++row) {
    const size_t first = row;
    while (row < end && written(row))
      ++row;
    if (row > first)
      model.outputs.push_back(makeTensor("out", first, row - first, geometry.lanes));
  }
  return model;
}

} // namespace sluice::fixtures
