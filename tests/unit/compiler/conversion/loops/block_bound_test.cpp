#include "compiler/conversion/loops/block_bound.h"

#include <gtest/gtest.h>

#include "compiler/conversion/loops/loop_plan.h"
#include "compiler/support/problem.h"
#include "tests/support/rows/windows.h"

namespace sluice::loops::test {
namespace {

TEST(BlockBound, NoPlanNeedsFewerBlocks) {
  unsigned bounded = 0;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    rows::Program program = windowNetwork("c2b8", seed, 120);
    const BlockBound bound = blockBound(program);
    if (bound.blocks <= program.geometry.cores)
      continue;
    ++bounded;
    program.geometry.weightBlocks =
        static_cast<uint32_t>(bound.blocks - 1) / program.geometry.cores;
    plan::Plan plan;
    EXPECT_FALSE(makeLoopPlan(program, {}, plan).empty());
  }
  EXPECT_GE(bounded, 10U);
}

TEST(BlockBound, CountsEqualBlocksOfTwoBodiesOnce) {
  rows::Program program = windowNetwork("c2b8", 1, 120);
  const uint64_t blocks = blockBound(program).blocks;
  EXPECT_GT(blocks, 0U);
  program.bodies.push_back(program.bodies.back());
  EXPECT_EQ(blockBound(program).blocks, blocks);
}

} // namespace
} // namespace sluice::loops::test
