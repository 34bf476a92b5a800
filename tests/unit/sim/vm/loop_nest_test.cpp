#include "sim/vm/loop_nest.h"

#include <gmock/gmock.h>
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

/// The addresses of the first stream, beat after beat.
std::vector<uint32_t> addressesOf(const NestShape &shape, uint32_t start) {
  std::vector<uint32_t> addresses;
  LoopNest nest;
  nest.start(shape, {start, 0, 0, 0});
  addresses.push_back(nest.address(0));
  while (!nest.lastBeat()) {
    nest.advance();
    addresses.push_back(nest.address(0));
  }
  return addresses;
}

TEST(LoopNest, ARingWrapsAtBothEnds) {
  using ::testing::ElementsAre;
  const auto ring = [](const std::array<int32_t, kLoops> &stride, uint32_t base, uint32_t log2) {
    NestShape shape({1, 1, 2, 3}, {stride, {}, {}, {}});
    shape.setRing(0, base, log2);
    return shape;
  };
  // The eight rows from 40 on, upwards and downwards.
  EXPECT_THAT(addressesOf(ring({0, 0, 3, 2}, 45, 3), 45), ElementsAre(45, 47, 41, 40, 42, 44));
  EXPECT_THAT(addressesOf(ring({0, 0, -3, -2}, 41, 3), 41), ElementsAre(41, 47, 45, 46, 44, 42));
  // A register moves inside the region that the base names, here by 11 and by -2.
  EXPECT_THAT(addressesOf(ring({0, 0, 3, 2}, 45, 3), 45 + 11), ElementsAre(40, 42, 44, 43, 45, 47));
  EXPECT_THAT(addressesOf(ring({0, 0, 0, 1}, 40, 3), 40 - 2), ElementsAre(46, 47, 40, 46, 47, 40));
  // Two rows, and no ring.
  EXPECT_THAT(addressesOf(ring({0, 0, 1, 1}, 7, 1), 7), ElementsAre(7, 6, 7, 6, 7, 6));
  EXPECT_THAT(addressesOf(ring({0, 0, 3, 2}, 45, 0), 45), ElementsAre(45, 47, 49, 48, 50, 52));
}

} // namespace
} // namespace sluice::vm
