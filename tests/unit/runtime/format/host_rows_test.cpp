// Slots of host tensors against the formula of docs/program-format.md.
#include "runtime/format/host_rows.h"

#include <set>

#include <gtest/gtest.h>

#include "tests/support/rng.h"

namespace sluice::format {
namespace {

TEST(HostRows, FollowTheFormulaBothWays) {
  for (uint64_t seed = 0; seed < 500; ++seed) {
    fixtures::Rng rng(seed);
    HostTensor tensor;
    for (int64_t rank = rng.range(0, 4); rank > 0; --rank)
      tensor.shape.push_back(rng.range(1, 11));
    const size_t rank = tensor.shape.size();
    const int64_t lanes = rng.pick({8, 16});
    uint32_t steps = 1;
    std::vector<int64_t> part = tensor.shape, packed;
    if (rank != 0) {
      if (rng.percent(60)) {
        const auto along = static_cast<uint32_t>(rng.range(0, static_cast<int64_t>(rank) - 1));
        steps = static_cast<uint32_t>(rng.range(2, 4));
        tensor.stepAxis = along;
        tensor.skipped = static_cast<uint32_t>(rng.range(0, part[along] - 1));
        tensor.shape[along] = part[along] * steps - tensor.skipped;
      }
    }
    // Some neighbours are one axis: `into` says which axis of the packed shape each is part of.
    std::vector<size_t> into;
    for (const int64_t extent : part) {
      if (packed.empty() || rng.percent(60))
        packed.push_back(extent);
      else
        packed.back() *= extent;
      into.push_back(packed.size() - 1);
    }
    if (packed != part)
      tensor.packed = packed;
    if (rank != 0)
      tensor.dataDim = static_cast<uint32_t>(rng.range(0, static_cast<int64_t>(packed.size()) - 1));
    const auto packedIndex = [&](const std::vector<int64_t> &index) {
      std::vector<int64_t> result(packed.size(), 0);
      for (size_t axis = 0; axis < rank; ++axis)
        result[into[axis]] = result[into[axis]] * part[axis] + index[axis];
      return result;
    };
    // Row of the part: the other indices in row-major order, times the rows of one.
    const auto rowOf = [&](const std::vector<int64_t> &index) {
      int64_t others = 0;
      for (size_t axis = 0; axis < packed.size(); ++axis)
        if (axis != tensor.dataDim)
          others = others * packed[axis] + index[axis];
      return rank == 0 ? 0
                       : others * ((packed[tensor.dataDim] + lanes - 1) / lanes) +
                             index[tensor.dataDim] / lanes;
    };
    int64_t rows = rank == 0 ? 1 : (packed[tensor.dataDim] + lanes - 1) / lanes;
    for (size_t axis = 0; axis < packed.size(); ++axis)
      rows *= axis == tensor.dataDim ? 1 : packed[axis];
    tensor.rows = static_cast<uint32_t>(rows);
    const addressing::Addressing slots = hostSlots(tensor, static_cast<uint32_t>(lanes), steps);
    ASSERT_EQ(slots.shape(), tensor.shape);
    std::set<int64_t> taken;
    for (int64_t element = 0; element < slots.elements(); ++element) {
      std::vector<int64_t> index = slots.indexOf(element);
      int64_t step = 0;
      if (tensor.stepAxis) {
        int64_t &at = index[*tensor.stepAxis];
        at += tensor.skipped;
        step = at / part[*tensor.stepAxis];
        at %= part[*tensor.stepAxis];
      }
      const std::vector<int64_t> at = packedIndex(index);
      const int64_t lane = rank == 0 ? 0 : at[tensor.dataDim] % lanes;
      const int64_t slot = (step * rows + rowOf(at)) * lanes + lane;
      ASSERT_EQ(slots.at(element), slot) << "seed " << seed << ", element " << element;
      ASSERT_EQ(slots.positionAt(slot), element) << "seed " << seed << ", element " << element;
      taken.insert(slot);
    }
    for (int64_t slot = 0; slot < rows * steps * lanes; ++slot)
      ASSERT_EQ(slots.positionAt(slot).has_value(), taken.contains(slot)) << "seed " << seed;
  }
}

} // namespace
} // namespace sluice::format
