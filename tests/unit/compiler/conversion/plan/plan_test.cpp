// Plans are run on the vm engine and compared with the graph's own meaning.
#include "compiler/conversion/plan/plan.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/conversion/plan/report/fit.h"
#include "compiler/support/problem.h"
#include "runtime/format/program_file.h"
#include "runtime/format/targets.h"
#include "sim/vm/timing.h"
#include "tests/support/rows/graphs.h"
#include "tests/support/rows/runs.h"

namespace sluice::plan::test {
namespace {

struct Network {
  const char *target;
  std::vector<uint32_t> widths;
  double zeros;
};

class Perceptrons : public testing::TestWithParam<Network> {};

TEST_P(Perceptrons, RunAsTheGraphSays) {
  expectRuns(perceptron(GetParam().target, GetParam().widths, 3, GetParam().zeros));
}

INSTANTIATE_TEST_SUITE_P(
    All, Perceptrons,
    testing::Values(Network{"c2b8", {1, 1}, 0}, Network{"c2b8", {3, 7, 2}, 0},
                    Network{"c2b8", {1, 7, 7, 7, 1}, 0}, Network{"c2b8", {8, 40, 40, 2}, 0.5},
                    Network{"c2b8", {2, 3, 3}, 0.9}, Network{"c2b8", {5, 70, 6}, 0},
                    Network{"c6b32", {2, 16, 16, 5, 1}, 0}, Network{"c6b32", {9, 13, 1, 20}, 0.3},
                    Network{"c3b64", {4, 8, 8}, 0}));

TEST(Plan, SoftmaxLikeChainAcrossRows) {
  for (const char *target : {"c2b8", "c6b32"}) {
    GraphBuilder builder(target, 5);
    const auto x = builder.input(2);
    const auto hidden = builder.dense(x, 3, rows::VectorStep{});
    rows::VectorStep reduce;
    reduce.reduce = isa::Reduce::Max;
    const rows::RowId max = builder.vector(hidden, rows::kNoRow, rows::kNoRow, reduce);
    rows::VectorStep shift;
    shift.alu1 = isa::Alu::Sub;
    shift.alu2 = isa::Alu::Mul;
    shift.rhs2 = isa::Rhs2::Imm;
    shift.imm2 = 0.5F;
    std::vector<rows::RowId> shifted;
    for (rows::RowId row : hidden)
      shifted.push_back(builder.vector({row}, max, rows::kNoRow, shift));
    rows::VectorStep gate;
    gate.alu1 = isa::Alu::Mul;
    gate.alu2 = isa::Alu::Add;
    const auto gated = builder.dense(shifted, 2, rows::VectorStep{});
    const rows::RowId mixed = builder.vector({gated[0]}, gated[1], builder.constant(), gate);
    builder.output({mixed, shifted[1]});
    builder.output({hidden[2]});
    expectRuns(builder.graph);
  }
}

TEST(Plan, OperandsOfTheVectorUnitFromOtherCores) {
  GraphBuilder builder("c6b32", 6);
  const auto x = builder.input(3);
  const auto left = builder.dense(x, 7, rows::VectorStep{});
  rows::VectorStep add;
  add.alu1 = isa::Alu::Add;
  auto right = builder.dense(left, 7, add);
  for (size_t i = 0; i < right.size(); ++i)
    builder.graph.rows[right[i]].b = left[(i + 3) % left.size()];
  const auto sum = builder.dense(right, 4, relu());
  builder.output(sum);
  builder.output({right[0]});
  expectRuns(builder.graph);
}

TEST(Plan, RowsThatDoNotDependOnTheInput) {
  GraphBuilder builder("c2b8", 8);
  const auto x = builder.input(2);
  const auto bias = builder.dense(x, 3, relu(), true, 1.0);
  const auto nothing = builder.dense(x, 1, rows::VectorStep{}, false, 1.0);
  const auto fixed = builder.dense({builder.constant()}, 2, rows::VectorStep{});
  rows::VectorStep add;
  add.alu1 = isa::Alu::Add;
  const rows::RowId sum =
      builder.vector({builder.constant()}, builder.constant(), rows::kNoRow, add);
  builder.output({bias[0], nothing[0], fixed[1], sum});
  expectRuns(builder.graph);
}

TEST(Plan, UnusedInputRowsAreTaken) {
  GraphBuilder builder("c2b8", 9);
  const auto x = builder.input(4);
  builder.output(builder.dense({x[2]}, 2, relu()));
  expectRuns(builder.graph);
}

TEST(Plan, SharedBlocksAreStoredOnce) {
  GraphBuilder builder("c2b8", 10);
  const auto x = builder.input(4);
  auto y = builder.dense(x, 2, rows::VectorStep{});
  for (rows::RowId row : y)
    for (rows::Term &term : builder.graph.rows[row].terms)
      term.block = 0;
  builder.output(y);
  const Plan plan = planned(builder.graph);
  for (const format::CoreImage &core : plan.program.cores)
    EXPECT_LE(core.weights.size(), 1U);
  expectRuns(builder.graph);
}

TEST(Plan, SameGraphSamePlan) {
  const rows::Graph graph = perceptron("c6b32", {3, 16, 16, 2}, 4);
  const Plan first = planned(graph, 40), second = planned(graph, 40);
  EXPECT_EQ(first.lists, second.lists);
  EXPECT_EQ(format::write(assemble(first)), format::write(assemble(second)));
}

TEST(Plan, ContiguousCostsNoMoreThanSpaced) {
  const Plan plan = planned(perceptron("c6b32", {2, 16, 16, 4}, 4), 40);
  const auto timing = vm::measureTiming(assemble(plan));
  ASSERT_TRUE(timing);
  EXPECT_EQ(timing->spaced, plan.timing->spaced);
  EXPECT_LE(timing->contiguous, static_cast<double>(timing->spaced) + 1);
}

TEST(Plan, ConsecutiveInferencesOverlap) {
  const auto timing =
      vm::measureTiming(assemble(planned(perceptron("c6b32", {12, 12, 12, 12, 12}, 4), 40)));
  ASSERT_TRUE(timing);
  EXPECT_LE(timing->period, static_cast<double>(timing->spaced) - 20);
  EXPECT_LE(timing->contiguous, static_cast<double>(timing->spaced));
}

/// Cycles above the floor of the matrix units, per dense layer.
double overheadPerLayer(const std::string &target, uint32_t rows, uint32_t layers) {
  const std::vector<uint32_t> widths(layers + 1, rows);
  const rows::Graph graph = perceptron(target, widths, 2);
  const Plan plan = planned(graph, 120);
  const uint32_t cores = graph.geometry.cores;
  const double floor = static_cast<double>(layers) * rows * rows / cores;
  const double overhead = (static_cast<double>(plan.timing->spaced) - floor) / layers;
  std::printf("%s, %u layers of %u rows: %llu cycles, floor %.0f, %.1f above it per layer\n",
              target.c_str(), layers, rows, static_cast<unsigned long long>(plan.timing->spaced),
              floor, overhead);
  return overhead;
}

TEST(Plan, LayersStream) {
  EXPECT_LE(overheadPerLayer("c6b32", 2, 7), 25);
  EXPECT_LE(overheadPerLayer("c6b32", 12, 4), 25);
  EXPECT_LE(overheadPerLayer("c6b32", 16, 4), 25);
  EXPECT_LE(overheadPerLayer("c6b32", 18, 4), 25);
  EXPECT_LE(overheadPerLayer("c2b8", 16, 4), 25);
}

Problems refused(const rows::Graph &graph) {
  Plan plan;
  const Problems problems = makePlan(graph, PlanOptions{}, plan);
  EXPECT_FALSE(problems.empty());
  return problems;
}

/// `layers` layers of one product each on every one of `count` rows; before each
/// layer the rows may be reversed.
rows::Graph batch(const char *target, uint32_t count, uint32_t layers, bool reversed = false) {
  GraphBuilder builder(target, 6);
  auto x = builder.input(count);
  for (uint32_t layer = 0; layer < layers; ++layer) {
    if (reversed)
      std::reverse(x.begin(), x.end());
    for (rows::RowId &row : x) {
      row = builder.dense({row}, 1, relu(), false)[0];
      builder.graph.rows[row].group = layer;
      builder.graph.rows[row].terms[0].block = layer; // the same weights for every row
    }
  }
  builder.output(x);
  return builder.graph;
}

TEST(Plan, ReversedRowsCostNothing) {
  for (const char *target : {"c2b8", "c6b32"})
    for (const uint32_t count : {2U, 7U, 12U, 60U}) {
      SCOPED_TRACE(testing::Message() << target << ", " << count << " rows");
      const rows::Graph graph = batch(target, count, 2, true);
      const Plan plan = planned(graph, 64), straight = planned(batch(target, count, 2), 64);
      EXPECT_LE(plan.timing->spaced, straight.timing->spaced);
      expectRuns(graph, plan);
    }
}

TEST(Plan, PlacesAreUsedAgain) {
  // Seven layers of 100 rows in the 256 local rows of each core, where no two
  // layers are needed at once.
  const rows::Graph graph = batch("c2b8", 200, 8);
  const Plan plan = planned(graph);
  for (const MemoryUse &use : plan.memory)
    if (use.memory == "local rows") {
      EXPECT_GE(use.used, 200U);
      EXPECT_LE(use.used, 256U);
    }
  expectRuns(graph, plan);
}

TEST(Plan, MoreRowsThanATokenCounts) {
  // 280 rows of each core for the other, before it takes any.
  GraphBuilder builder("c2b8", 3);
  const auto hidden = builder.dense(builder.input(1), 560, relu(), false);
  builder.output(builder.dense(hidden, 2, relu()));
  expectRuns(builder.graph);
  // 260 local rows.
  rows::Graph graph = batch("c2b8", 520, 2);
  graph.geometry.localRows = 512;
  expectRuns(graph);
}

TEST(Plan, InputsOfEveryOtherCore) {
  // Row by row to the two cores in turn: more changes than instructions.
  rows::Graph graph = batch("c2b8", 90, 1);
  graph.geometry.hostInstructions = 32;
  const Plan plan = planned(graph);
  for (const MemoryUse &use : plan.memory)
    if (use.memory == "host instructions")
      EXPECT_LE(use.used, 8U);
  expectRuns(graph, plan);
}

TEST(Plan, RowsWithEqualBiasesBeginWithOnePreloadRowIfTheyMust) {
  rows::Graph graph = perceptron("c2b8", {2, 30, 30, 2}, 4);
  graph.geometry.preloadRows = 20;
  for (rows::Row &row : graph.rows)
    if (row.kind == rows::RowKind::Linear)
      row.bias = {1, 2, 3, 4, 5, 6, 7, 8};
  const Plan plan = planned(graph);
  for (const MemoryUse &use : plan.memory)
    if (use.memory == "preload rows")
      EXPECT_EQ(use.used, 1U);
  expectRuns(graph, plan);
}

TEST(Plan, SaysWhatDoesNotFit) {
  rows::Graph graph = perceptron("c2b8", {10, 60, 70, 2}, 4);
  graph.geometry.weightBlocks = 2000;
  graph.geometry.preloadRows = 20;
  const Problems problems = refused(graph);
  ASSERT_EQ(problems.size(), 2U);
  EXPECT_EQ(problems[0].code, "E0401");
  EXPECT_EQ(problems[0].message, "the model does not fit c2b8: core 0 needs 2470 weight blocks, "
                                 "470 more than its 2000");
  EXPECT_THAT(problems[0].notes,
              testing::ElementsAre("core 1 needs 2470 weight blocks, 470 more than its 2000",
                                   "node 1 'Gemm_1' (Gemm) uses 2100 weight blocks on core 0",
                                   "node 0 'Gemm_0' (Gemm) uses 300 weight blocks on core 0",
                                   "node 2 'Gemm_2' (Gemm) uses 70 weight blocks on core 0"));
  EXPECT_EQ(problems[1].code, "E0404");
}

/// The messages about memory that every plan of a graph lacks.
std::vector<std::string> lackingOf(const rows::Graph &graph) {
  const Work work = analyse(graph);
  std::vector<std::string> messages;
  for (const Problem &problem : leastProblems(graph, work, leastMemory(graph, work))) {
    EXPECT_TRUE(std::get<LacksMemory>(problem.reason).atLeast);
    messages.push_back(problem.message);
  }
  return messages;
}

/// Each memory has exactly enough, and then one entry less.
TEST(Plan, SaysWhatEveryPlanLacks) {
  rows::Graph graph = perceptron("c2b8", {10, 60, 70, 2}, 4);
  const auto with = [&](uint32_t format::Geometry::*size, uint32_t value) {
    rows::Graph changed = graph;
    changed.geometry.*size = value;
    return lackingOf(changed);
  };
  using testing::ElementsAre;
  using testing::IsEmpty;
  EXPECT_THAT(with(&format::Geometry::weightBlocks, 2470), IsEmpty());
  EXPECT_THAT(with(&format::Geometry::weightBlocks, 2469),
              ElementsAre("the model does not fit c2b8: its weights need at least 4940 weight "
                          "blocks, 2 more than the 4938 of all cores"));
  graph.geometry.weightBlocks = 2470;
  EXPECT_THAT(with(&format::Geometry::preloadRows, 65), IsEmpty());
  EXPECT_THAT(with(&format::Geometry::preloadRows, 64),
              ElementsAre("the model does not fit c2b8: its sums need at least 130 preload rows, 2 "
                          "more than the 128 of all cores"));
  graph.geometry.localRows = 10;
  EXPECT_THAT(with(&format::Geometry::inboxRows, 110), IsEmpty());
  EXPECT_THAT(with(&format::Geometry::inboxRows, 109),
              ElementsAre("the model does not fit c2b8: its tensors need at least 110 inbox rows, "
                          "1 more than the 109 of an inbox"));
  graph.geometry.inboxRows = 109;
  const Work work = analyse(graph);
  EXPECT_THAT(leastProblems(graph, work, leastMemory(graph, work)).at(0).notes,
              ElementsAre("130 rows are stored at once, 20 of them in local rows",
                          "node 1 'Gemm_1' (Gemm) computes 70 of these rows",
                          "node 0 'Gemm_0' (Gemm) computes 60 of these rows"));

  GraphBuilder builder("c2b8", 1);
  const auto x = builder.input(1);
  std::vector<rows::RowId> sums;
  for (uint32_t i = 0; i < 6; ++i) {
    rows::VectorStep step;
    step.alu1 = isa::Alu::Add;
    step.table = i / 2;
    sums.push_back(builder.vector({x[0]}, builder.constant(), rows::kNoRow, step));
  }
  builder.graph.tables.resize(3);
  builder.output(sums);
  graph = builder.graph;
  EXPECT_THAT(with(&format::Geometry::localRows, 3), IsEmpty());
  EXPECT_THAT(with(&format::Geometry::localRows, 2),
              ElementsAre("the model does not fit c2b8: its constants need at least 6 local rows, "
                          "2 more than the 4 of all cores"));
  EXPECT_THAT(with(&format::Geometry::tables, 2), IsEmpty());
  EXPECT_THAT(with(&format::Geometry::tables, 1),
              ElementsAre("the model does not fit c2b8: its functions need at least 3 function "
                          "tables, 1 more than the 2 of all cores"));
}

/// The network reads rows of an output: all outputs then lie beside the inputs in each inbox.
TEST(Plan, SaysThatInboxesLackRoomForInputsAndOutputs) {
  GraphBuilder builder("c2b8", 1);
  const auto h = builder.dense(builder.input(2), 5, {});
  builder.output(h);
  builder.output(builder.dense(h, 3, {}));
  rows::Graph graph = builder.graph;
  graph.geometry.inboxRows = 10;
  EXPECT_THAT(lackingOf(graph), testing::IsEmpty());
  graph.geometry.inboxRows = 9;
  EXPECT_THAT(lackingOf(graph),
              testing::ElementsAre("the model does not fit c2b8: its inputs and outputs need at "
                                   "least 10 inbox rows, 1 more than the 9 of an inbox"));
  const Work work = analyse(graph);
  EXPECT_THAT(leastProblems(graph, work, leastMemory(graph, work)).at(0).notes,
              testing::ElementsAre("output 'y0' needs at least 5 inbox rows",
                                   "output 'y1' needs at least 3 inbox rows",
                                   "input 'x0' needs at least 2 inbox rows"));
  graph.geometry.inboxRows = 1;
  EXPECT_THAT(lackingOf(graph),
              testing::ElementsAre("the model does not fit c2b8: its inputs need at least 2 inbox "
                                   "rows, 1 more than the 1 of an inbox"));
}

/// A row of more products than a core has weight blocks for is computed by two.
TEST(Plan, LongRowsAreSharedOutWhereBlocksAreFew) {
  rows::Graph graph = perceptron("c2b8", {40, 1, 1}, 3);
  graph.geometry.weightBlocks = 28;
  const Plan plan = planned(graph);
  for (const MemoryUse &use : plan.memory)
    if (use.memory == "weight blocks")
      EXPECT_GE(use.used, 20U) << "core " << use.core;
  expectRuns(graph, plan);

  // By no more than two: and then the plan is told of that has it as a whole.
  graph = perceptron("c2b8", {60, 1, 1}, 3);
  graph.geometry.weightBlocks = 28;
  const Problems problems = refused(graph);
  ASSERT_FALSE(problems.empty());
  EXPECT_EQ(problems[0].message, "the model does not fit c2b8: core 0 needs 61 weight blocks, 33 "
                                 "more than its 28");
}

TEST(Plan, NamesEveryMemoryThatOverflows) {
  rows::Graph graph = perceptron("c2b8", {4, 20, 20, 2}, 4);
  graph.geometry.inboxRows = 30;
  EXPECT_EQ(refused(graph).at(0).code, "E0402");
  graph = perceptron("c2b8", {4, 20, 20, 2}, 4);
  graph.geometry.instructions = 5;
  EXPECT_EQ(refused(graph).at(0).code, "E0406");
  graph.geometry.instructions = 512;
  graph.geometry.hostInstructions = 1;
  EXPECT_EQ(refused(graph).at(0).code, "E0407");
  GraphBuilder builder("c2b8", 1);
  const auto x = builder.input(1);
  std::vector<rows::RowId> a;
  rows::VectorStep add;
  add.alu1 = isa::Alu::Add;
  for (unsigned i = 0; i < 6; ++i)
    a.push_back(builder.vector({x[0]}, builder.constant(), rows::kNoRow, add));
  builder.output(a);
  builder.graph.geometry.localRows = 2;
  EXPECT_EQ(refused(builder.graph).at(0).code, "E0403");
  for (uint32_t i = 0; i < a.size(); ++i) {
    format::TableImage table;
    table.table = i;
    builder.graph.tables.push_back(table);
    builder.graph.rows[a[i]].step.table = i;
  }
  builder.graph.geometry.localRows = 256;
  builder.graph.geometry.tables = 2;
  EXPECT_EQ(refused(builder.graph).at(0).code, "E0405");
}

TEST(Plan, SharesFunctionsOutThatOneCoreHasNoRoomFor) {
  GraphBuilder builder("c2b8", 10); // two cores
  const auto x = builder.input(1);
  std::vector<RowId> a{x[0]};
  for (uint32_t i = 0; i < 6; ++i) { // one after the other, on one core if it may be
    a.push_back(builder.vector({a.back()}, rows::kNoRow, rows::kNoRow, {}));
    format::TableImage table;
    table.table = i;
    builder.graph.tables.push_back(table);
    builder.graph.rows[a.back()].step.table = i;
  }
  builder.output({a.back()});
  builder.graph.geometry.tables = 3;
  Plan plan;
  const Problems problems = makePlan(builder.graph, {}, plan);
  ASSERT_TRUE(problems.empty());
  for (const MemoryUse &use : plan.memory)
    if (use.memory == "function tables") {
      EXPECT_EQ(use.used, 3U) << "core " << use.core;
    }
  builder.graph.geometry.tables = 2;
  EXPECT_EQ(refused(builder.graph).at(0).code, "E0405");
}

TEST(Plan, TakesOldTokensOfOwnRowsBeforeTheyCountTooFar) {
  GraphBuilder builder("c6b32", 12);
  builder.graph.geometry.cores = 1;
  const auto x = builder.input(1);
  rows::VectorStep add;
  add.alu1 = isa::Alu::Add;
  // Of the first ones all but one are read when all of the second ones are there.
  std::vector<RowId> first, second, sums;
  for (unsigned i = 0; i < 200; ++i)
    first.push_back(builder.vector({x[0]}, builder.constant(), rows::kNoRow, add));
  for (unsigned i = 0; i < 200; ++i)
    second.push_back(builder.vector({first[0]}, builder.constant(), rows::kNoRow, add));
  for (unsigned i = 0; i < 200; ++i)
    sums.push_back(builder.vector({first[i]}, second[i], rows::kNoRow, add));
  builder.output(sums);
  expectRuns(builder.graph);
}

TEST(Plan, RefusesMoreInputRowsThanTokensAnnounce) {
  GraphBuilder builder("c6b32", 11);
  const auto x = builder.input(1216);
  rows::VectorStep most;
  most.reduce = isa::Reduce::Max;
  builder.output({builder.vector(x, rows::kNoRow, rows::kNoRow, most)});
  Plan plan;
  const Problems problems = makePlan(builder.graph, {}, plan);
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems[0].code, "E0409");
  EXPECT_EQ(problems[0].message,
            "the inputs need 1216 rows at once; the hardware can announce at most 1200");
  EXPECT_THAT(problems[0].notes, testing::ElementsAre("input 'x0' needs 1216 rows"));
  ASSERT_EQ(problems[0].fixes.size(), 1U);
  EXPECT_EQ(problems[0].fixes[0].text, "make the first axis of the inputs one that the model "
                                       "processes index by index; it then runs as a loop");
}

TEST(Plan, RefusesABiasThatIsNotFinite) {
  rows::Graph graph = perceptron("c2b8", {2, 2}, 4);
  for (const rows::RowId row : graph.outputs[0].rows)
    graph.rows[row].bias = std::vector<float>(8, NAN);
  const Problems problems = refused(graph);
  ASSERT_EQ(problems.size(), 1U); // for each node once
  EXPECT_EQ(problems[0].code, "E0408");
  EXPECT_EQ(problems[0].node->name, "Gemm_0");
  EXPECT_EQ(problems[0].message, "a bias is not finite; its magnitude must be below 3.4e38");
}

} // namespace
} // namespace sluice::plan::test
