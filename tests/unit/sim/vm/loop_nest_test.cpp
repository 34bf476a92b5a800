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
  EXPECT_EQ(shape.inner, 3U);
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

TEST(LoopNest, SkippingQuietBeatsEndsWhereWalkingThemDoes) {
  const NestShape shape({2, 9, 1, 1}, {{{4, 3, 0, 0}, {1, -1, 7, 7}, {}, {}}});
  EXPECT_EQ(shape.inner, 1U);
  LoopNest walked, skipped;
  walked.start(shape, {});
  skipped.start(shape, {});
  EXPECT_EQ(skipped.quietBeats(), 0U); // the first trip is not quiet
  walked.advance();
  skipped.advance();
  ASSERT_EQ(skipped.quietBeats(), 7U); // trips 1 to 7; the last is not quiet
  skipped.skip(7);
  for (int i = 0; i < 7; ++i)
    walked.advance();
  EXPECT_EQ(skipped.quietBeats(), 0U);
  for (unsigned s = 0; s < kStreams; ++s)
    EXPECT_EQ(skipped.address(s), walked.address(s));
  for (unsigned level = 0; level <= kLoops; ++level) {
    EXPECT_EQ(skipped.firstAt(level), walked.firstAt(level));
    EXPECT_EQ(skipped.lastAt(level), walked.lastAt(level));
  }
}

} // namespace
} // namespace sluice::vm
