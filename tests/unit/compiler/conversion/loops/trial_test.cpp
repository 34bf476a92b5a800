// What `sluice explain --plan` says of group sizes that lost, word for word.
#include "compiler/conversion/loops/trial.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/conversion/loops/loop_plan.h"
#include "tests/support/rows/programs.h"

namespace sluice::loops::test {
namespace {

TEST(Trial, LosesForTheFirstThingThatIsWrong) {
  const rows::Program program = denseNetwork("c2b8", 13, {2, 1}, 1);
  const std::vector<plan::MemoryUse> fits{{0, "inbox rows", 64, 64}, {0, "local rows", 3, 64}};
  const std::vector<plan::MemoryUse> large{
      {0, "inbox rows", 64, 64}, {0, "local rows", 70, 64}, {1, "instructions", 600, 512}};
  const auto why = [&](const Trial &trial) {
    const plan::Loser loser = loserOf(program, trial);
    EXPECT_EQ(loser.choice, "13 positions in groups of 4, round-robin over the cores");
    EXPECT_EQ(loser.cycles, std::nullopt);
    return loser.why;
  };
  EXPECT_EQ(why({{4}, large, 12.5, "a row is late"}), "needs 70 local rows, available: 64");
  EXPECT_EQ(why({{4}, fits, std::nullopt, std::nullopt}), "stalls");
  EXPECT_EQ(why({{4}, fits, 12.5, "a row is late"}), "failed its proof: a row is late");
  EXPECT_EQ(why({{4}, fits, 12.44, std::nullopt}), "12.4 cycles per position");
}

plan::Plan explained(const rows::Program &program) {
  plan::Plan plan;
  plan::PlanOptions options;
  options.explain = true;
  const Problems problems = makeLoopPlan(program, options, plan);
  EXPECT_TRUE(problems.empty());
  EXPECT_TRUE(plan.explanation);
  return plan;
}

TEST(Trial, EverySizeIsChosenOrLoses) {
  rows::Program program = denseNetwork("c2b8", 13, {2, 3, 1}, 1);
  const plan::Plan whole = explained(program);
  EXPECT_THAT(whole.text, testing::MatchesRegex(
                              "plan test for c2b8: loops over 13 positions in groups of [1-6]\n"));
  const plan::Explanation &plain = *whole.explanation;
  std::vector<std::string> sizes{plain.choice};
  for (const plan::Loser &loser : plain.losers) {
    sizes.push_back(loser.choice);
    EXPECT_THAT(loser.why, testing::MatchesRegex("[0-9]+\\.[0-9] cycles per position"));
  }
  std::vector<std::string> expected;
  for (const char *size : {"1", "2", "3", "4", "6"})
    expected.push_back(std::string("13 positions in groups of ") + size +
                       ", round-robin over the cores");
  EXPECT_THAT(sizes, testing::UnorderedElementsAreArray(expected));

  // Two rows a position, of groups of one and of six on the first core.
  program.geometry.localRows = 4 * 3 + 1;
  const plan::Plan small = explained(program);
  std::vector<std::string> tooLarge;
  for (const plan::Loser &loser : small.explanation->losers)
    if (loser.why.starts_with("needs"))
      tooLarge.push_back(loser.choice + ": " + loser.why);
  EXPECT_THAT(tooLarge, testing::ElementsAre("13 positions in groups of 6, round-robin over the "
                                             "cores: needs 18 local rows, available: 13"));
}

TEST(LoopPlan, WhatDoesNotFitNamesItsFamilies) {
  rows::Program program = denseNetwork("c2b8", 13, {2, 3, 1}, 1);
  program.families[0].name = "x";
  program.geometry.inboxRows = 8;
  plan::Plan plan;
  const Problems problems = makeLoopPlan(program, {}, plan);
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems[0].code + ": " + problems[0].message,
            "E0402: the model does not fit c2b8: core 0 needs 14 inbox rows, 6 more than its 8");
  EXPECT_THAT(problems[0].notes,
              testing::ElementsAre("core 1 needs 14 inbox rows, 6 more than its 8",
                                   "'x' (26 rows in total) uses inbox rows on "
                                   "core 0"));
}

TEST(LoopPlan, WeightsThatDoNotFitNameTheirNodes) {
  rows::Program program = denseNetwork("c2b8", 13, {2, 3, 1}, 1);
  program.nodes = {{0, "fc", "MatMul"}};
  for (rows::Body &body : program.bodies)
    for (rows::Row &row : body.trip.rows)
      row.nodes = {0};
  program.geometry.weightBlocks = 1;
  plan::Plan plan;
  const Problems problems = makeLoopPlan(program, {}, plan);
  ASSERT_FALSE(problems.empty());
  EXPECT_EQ(problems[0].code + ": " + problems[0].message,
            "E0401: the model does not fit c2b8: core 0 needs 9 weight blocks, 8 more than its 1");
  EXPECT_THAT(problems[0].notes,
              testing::ElementsAre("core 1 needs 9 weight blocks, 8 more than its 1",
                                   "node 0 'fc' (MatMul) uses 9 weight blocks on core 0",
                                   "each core computes some of the positions, and stores the "
                                   "weights of all layers that it computes"));
}

/// Every position would need weights of its own.
TEST(LoopPlan, WeightsOfOnePositionAlone) {
  ProgramBuilder builder("c2b8", 1);
  const uint32_t x = builder.input(4, 2);
  plan::test::GraphBuilder trip = builder.trip();
  const auto rows = builder.read(trip, x);
  builder.output(trip, 4, trip.product({rows[0]}, {rows[1]}, false));
  builder.finish(trip, 4);
  plan::Plan plan;
  const Problems problems = makeLoopPlan(builder.program, {}, plan);
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems[0].code + ": " + problems[0].message,
            "E0499: internal error: the loop bodies cannot be planned");
}

} // namespace
} // namespace sluice::loops::test
