#include "sim/vm/loop_nest.h"

#include <gtest/gtest.h>

namespace sluice::vm {
namespace {

using Index = std::array<uint32_t, kLoops>;

bool allFrom(unsigned level, const Index &index, const Index &value) {
  for (unsigned l = level; l < kLoops; ++l)
    if (index[l] != value[l])
      return false;
  return true;
}

TEST(LoopNest, WalksEveryBeatWithItsAddressesAndLevels) {
  const Index trips{3, 1, 4, 2};
  const NestShape::Strides strides{
      {{5, 99, -3, 7}, {0, 0, 0, 0}, {-32768, 1, 32767, 2}, {1, 10, 100, 1000}}};
  const NestShape shape(trips, strides);
  LoopNest nest;
  nest.start(shape, {100, 200, 300, 400});
  Index i{};
  for (i[0] = 0; i[0] < trips[0]; ++i[0])
    for (i[1] = 0; i[1] < trips[1]; ++i[1])
      for (i[2] = 0; i[2] < trips[2]; ++i[2])
        for (i[3] = 0; i[3] < trips[3]; ++i[3]) {
          for (unsigned s = 0; s < kStreams; ++s) {
            int64_t address = 100 * (int64_t{s} + 1);
            for (unsigned l = 0; l < kLoops; ++l)
              address += int64_t{i[l]} * strides[s][l];
            EXPECT_EQ(nest.address(s), static_cast<uint32_t>(address));
          }
          for (unsigned level = 0; level <= kLoops; ++level) {
            EXPECT_EQ(nest.firstAt(level), allFrom(level, i, {0, 0, 0, 0}));
            EXPECT_EQ(nest.lastAt(level), allFrom(level, i, {2, 0, 3, 1}));
          }
          if (!nest.lastBeat())
            nest.advance();
        }
  EXPECT_TRUE(nest.lastBeat());
}

} // namespace
} // namespace sluice::vm
