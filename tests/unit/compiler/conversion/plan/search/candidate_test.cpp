// Candidates are what their choice says, whichever were built before.
#include "compiler/conversion/plan/search/candidate.h"

#include <gtest/gtest.h>

#include "tests/support/rows/graphs.h"

namespace sluice::plan::test {
namespace {

Choice choiceOf(const Work &work, const SplitOptions &split) {
  Choice choice;
  choice.placement.keepTogether = 0;
  choice.split = split;
  choice.tails.assign(work.stages.size(), kAll);
  return choice;
}

TEST(Candidate, SplitsWhatItsChoiceSays) {
  const rows::Graph graph = perceptron("c2b8", {3, 7, 7}, 3);
  const Work work = analyse(graph);
  Budget budget(0);
  CandidateMaker make(graph, work, budget);
  const Candidate plain = make.build(choiceOf(work, {}));
  EXPECT_EQ(plain.variant, nullptr);
  EXPECT_EQ(&make.graphOf(plain), &graph);
  Candidate last = make.build(choiceOf(work, {{1}, 0}));
  const Choice other = choiceOf(work, {{2}, 0});
  last = make.build(other); // one candidate after the other in the same place
  ASSERT_NE(last.variant, nullptr);
  const SplitGraph expected =
      splitContractions(graph, work, place(graph, work, other.placement), other.split);
  EXPECT_EQ(last.variant->split.cores, expected.cores);
  EXPECT_EQ(make.build(other).variant, last.variant); // not made again
  EXPECT_TRUE(make.sound(plain) && make.sound(last));
  EXPECT_EQ(make.time(plain), make.timeAll(plain)->spaced);
}

TEST(Candidate, VariantsDependOnThePlacement) {
  const rows::Graph graph = perceptron("c2b8", {3, 7, 7}, 3);
  const Work work = analyse(graph);
  Budget budget(0);
  CandidateMaker make(graph, work, budget);
  Choice choice = choiceOf(work, {{2}, 0});
  const Candidate apart = make.build(choice);
  choice.placement.keepTogether = 100; // the first layer stays on one core
  const Candidate together = make.build(choice);
  const SplitGraph expected =
      splitContractions(graph, work, place(graph, work, choice.placement), choice.split);
  EXPECT_EQ(together.variant->split.cores, expected.cores);
  EXPECT_NE(together.variant, apart.variant);
  EXPECT_NE(together.variant->split.cores, apart.variant->split.cores);
}

TEST(Candidate, WithoutRoomThereIsNothingToTime) {
  rows::Graph graph = perceptron("c2b8", {3, 7, 7}, 3);
  graph.geometry.weightBlocks = 4;
  const Work work = analyse(graph);
  Budget budget(0);
  CandidateMaker make(graph, work, budget);
  const Candidate candidate = make.build(choiceOf(work, {}));
  EXPECT_FALSE(candidate.fits);
  EXPECT_FALSE(make.sound(candidate));
  EXPECT_EQ(make.time(candidate), kUntimed);
  EXPECT_FALSE(make.timeAll(candidate));
  EXPECT_FALSE(make.explain(candidate));
}

} // namespace
} // namespace sluice::plan::test
