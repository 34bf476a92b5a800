// What planning costs, counted: the budget of the search is held, and dense networks need little.
#include "compiler/conversion/plan/search/search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/conversion/plan/order/work_ahead.h"
#include "compiler/conversion/plan/plan.h"
#include "compiler/conversion/plan/proof/verify.h"
#include "tests/support/rows/graphs.h"

namespace sluice::plan::test {
namespace {

Plan planned(const rows::Graph &graph, uint64_t work) {
  Plan plan;
  const Problems problems = makePlan(graph, {.work = work}, plan);
  EXPECT_TRUE(problems.empty());
  return plan;
}

TEST(Budget, IsSharedByParts) {
  Budget budget(100);
  EXPECT_TRUE(budget.affords(100));
  EXPECT_FALSE(budget.affords(101));
  budget.share(4);
  EXPECT_FALSE(budget.affords(26));
  budget.spend(10);
  EXPECT_TRUE(budget.affords(15));
  EXPECT_FALSE(budget.affords(16));
  budget.share(3); // what a part leaves is for the others
  EXPECT_TRUE(budget.affords(30));
  EXPECT_FALSE(budget.affords(31));
  budget.spend(95);
  EXPECT_EQ(budget.spent(), 105U);
  EXPECT_EQ(budget.left(), 0U);
  budget.share(1);
  EXPECT_FALSE(budget.affords(1));
}

TEST(Search, BeatsAreProductsAndRows) {
  GraphBuilder builder("c2b8", 1);
  const auto x = builder.input(3), h = builder.dense(x, 4, {});
  rows::VectorStep max;
  max.reduce = isa::Reduce::Max;
  builder.output({builder.vector(h, rows::kNoRow, rows::kNoRow, max)});
  EXPECT_EQ(analyse(builder.graph).beats, 3U + 4 * 3 + 4 + 4);
}

TEST(Search, HoldsItsBudget) {
  for (const std::vector<uint32_t> &widths :
       {std::vector<uint32_t>{1, 1}, {4, 7, 5}, {9, 40, 3}, {16, 16, 16, 16}, {7, 7, 7, 7, 7, 7}})
    for (const char *target : {"c2b8", "c6b32"}) {
      const rows::Graph graph = perceptron(target, widths, 3, 0.2);
      const uint64_t beyond = kBeyondBudget * analyse(graph).beats;
      for (const uint64_t work : {0, 1, 1'000, 10'000, 50'000}) {
        const Plan plan = planned(graph, work);
        EXPECT_LE(plan.work, work + beyond);
        EXPECT_EQ(plan.timing.has_value(), work != 0);
      }
    }
}

/// The fit is said of the first candidate where no other can be better: no other is made, though
/// the search could spend the work of a hundred thousand.
TEST(Search, WhatNoPlacementHasRoomForIsOneCandidate) {
  GraphBuilder builder("c2b8", 1);
  const auto x = builder.input(1);
  rows::RowId newest = x[0];
  for (int i = 0; i < 5000; ++i) { // a delay line, longer than all memories
    const rows::RowId state = builder.state();
    builder.keep(state, newest);
    newest = state;
  }
  rows::VectorStep add;
  add.alu1 = isa::Alu::Add;
  builder.output({builder.vector({x[0]}, newest, rows::kNoRow, add)});
  const uint64_t beats = analyse(workAhead(builder.graph, false)).beats;
  for (const uint64_t work : {uint64_t{0}, 100'000 * beats}) {
    Plan plan;
    const Problems problems = makePlan(builder.graph, {.work = work}, plan);
    EXPECT_FALSE(problems.empty());
    EXPECT_EQ(plan.work, beats * (1 + kProvedInferences));
    ASSERT_EQ(problems.size(), 1U);
    EXPECT_EQ(problems[0].message,
              "the model does not fit c2b8: core 0 needs 5000 local rows, 4744 more than its 256");
  }
}

/// Returns a graph whose data has room, but no plan has few enough instructions.
rows::Graph lackingInstructions(uint32_t instructions) {
  rows::Graph graph = perceptron("c6b32", {20, 20, 20, 20}, 3);
  graph.geometry.weightBlocks = 10'000;
  graph.geometry.instructions = instructions;
  return graph;
}

uint64_t spentOn(const rows::Graph &graph, uint64_t mostWithoutFit) {
  const Work work = analyse(graph);
  Budget budget(100'000 * work.beats);
  const Candidate best = search(graph, work, budget, {.mostWithoutFit = mostWithoutFit});
  EXPECT_FALSE(best.fits);
  EXPECT_EQ(best.cycles, kUntimed);
  return budget.spent();
}

TEST(Search, EndsIfNoPlanFits) {
  const rows::Graph graph = lackingInstructions(8);
  const uint64_t beats = analyse(graph).beats;
  EXPECT_GT(spentOn(graph, kMostWithoutFit), 40 * beats);
  EXPECT_LE(spentOn(graph, 20 * beats), 28 * beats); // eight are counted at once
  EXPECT_EQ(spentOn(graph, 40 * beats), 40 * beats);
}

/// The search does not improve a plan that is far from fitting. Its budget counts the first plan,
/// and eight plans for each of four placements.
TEST(Search, DoesNotImproveWhatIsFarFromFitting) {
  const rows::Graph graph = lackingInstructions(1);
  EXPECT_EQ(spentOn(graph, kMostWithoutFit), 33 * analyse(graph).beats);
}

/// The fewest addresses are those that other rows have as soon as they are free. Where the data has
/// no room with these, no other placement of it is made.
TEST(Search, RowsNeedNoFewerAddressesWhereTheseAreFreeLater) {
  unsigned withRoom = 0, without = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    rows::Graph graph = perceptron("c2b8", {3, 9, 7, 5, 8, 2}, seed, 0.4);
    graph.geometry.inboxRows = 10 + static_cast<uint32_t>(seed % 8) * 3;
    graph.geometry.localRows = 4 + static_cast<uint32_t>(seed % 5);
    const Work work = analyse(graph);
    Budget budget(0);
    CandidateMaker make(graph, work, budget);
    for (const bool spread : {false, true}) {
      Choice choice;
      choice.tails.assign(work.stages.size(), kAll);
      choice.placement.spread = spread;
      const auto fits = [&](uint32_t reuse) {
        choice.placement.reuse = reuse;
        return make.mayHaveRoom(choice);
      };
      const bool fewest = fits(1);
      for (const uint32_t reuse : {2U, 3U, 0U}) {
        EXPECT_LE(fits(reuse), fewest) << seed;
        ++(fits(reuse) ? withRoom : without);
      }
    }
  }
  EXPECT_GT(withRoom, 10U);
  EXPECT_GT(without, 10U);
}

/// Weight blocks beside each other count as they are put down.
TEST(Search, WeightBlocksAreCountedBeforeBeatsAreMade) {
  for (uint64_t seed = 0; seed < 8; ++seed) {
    const rows::Graph graph = perceptron("c2b8", {3, 9, 7, 5}, seed, 0.4);
    const Work work = analyse(graph);
    Budget budget(0);
    Choice choice;
    choice.tails.assign(work.stages.size(), kAll);
    const Candidate made = CandidateMaker(graph, work, budget).build(choice);
    std::vector<uint64_t> blocks;
    for (const auto &core : made.beats.weights)
      blocks.push_back(core.size());
    EXPECT_EQ(weightBlocksUsed(graph, work, made.placement), blocks);
  }
}

TEST(Search, DenseNetworksNeedLittleWork) {
  constexpr uint64_t kMostPerProduct = 500; // 178 to 376 are measured
  for (const std::vector<uint32_t> &widths : {std::vector<uint32_t>{4, 4},
                                              {2, 2, 2, 2, 2, 2, 2},
                                              {16, 16, 16},
                                              {48, 12, 48, 12},
                                              {33, 33, 33},
                                              {32, 32, 32, 32}}) {
    const rows::Graph graph = perceptron("c6b32", widths, 3);
    uint64_t products = 0;
    for (const rows::Row &row : graph.rows)
      products += row.terms.size();
    EXPECT_LE(planned(graph, kDefaultWork).work, kMostPerProduct * products);
  }
}

} // namespace
} // namespace sluice::plan::test
