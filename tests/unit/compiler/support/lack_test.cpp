#include "compiler/support/lack.h"

#include <gtest/gtest.h>

#include "compiler/support/problem.h"

namespace sluice {
namespace {

Problem lacking(const std::string &memory, uint64_t needed, uint64_t available) {
  Problem problem;
  problem.reason = LacksMemory{memory, needed, available};
  return problem;
}

TEST(Lack, IsTheProductOverTheMemories) {
  EXPECT_EQ(lackOf({}), 1);
  EXPECT_EQ(lackOf({Problem()}), 1);
  EXPECT_EQ(lackOf({lacking("inbox rows", 30, 20)}), 1.5);
  EXPECT_EQ(lackOf({lacking("inbox rows", 30, 20), lacking("weight blocks", 4, 2)}), 3);
}

TEST(Lack, OfAMemoryIsTheLargest) {
  EXPECT_EQ(lackOf({lacking("inbox rows", 30, 20), lacking("inbox rows", 50, 20)}), 2.5);
}

} // namespace
} // namespace sluice
