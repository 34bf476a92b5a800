// Explanations add up to the cycles of the run, and their floors hold.
#include "compiler/conversion/plan/report/explain.h"

#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <tuple>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/conversion/plan/plan.h"
#include "compiler/support/problem.h"
#include "tests/support/rows/graphs.h"
#include "tests/support/rows/runs.h"

namespace sluice::plan::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

Plan explained(const rows::Graph &graph, unsigned candidates) {
  Plan plan;
  PlanOptions options;
  options.work = workOf(graph, candidates);
  options.explain = true;
  const Problems problems = makePlan(graph, options, plan);
  EXPECT_TRUE(problems.empty());
  EXPECT_TRUE(plan.explanation);
  return plan;
}

uint64_t sum(const CoreCycles &cycles) {
  return std::accumulate(cycles.begin(), cycles.end(), uint64_t{0});
}

void expectAddsUp(const Explanation &explanation) {
  EXPECT_EQ(explanation.floor.products + sum(explanation.idle),
            explanation.cycles * explanation.cores);
  CoreCycles parts = explanation.drain;
  uint64_t products = 0;
  for (const ExplainedStage &stage : explanation.stages) {
    for (size_t cause = 0; cause < kCauses; ++cause)
      parts[cause] += stage.idle[cause];
    products +=
        std::accumulate(stage.productsByCore.begin(), stage.productsByCore.end(), uint64_t{0});
    EXPECT_LT(stage.start.value(), stage.end.value());
    EXPECT_LT(stage.end.value(), explanation.cycles);
  }
  EXPECT_EQ(parts, explanation.idle);
  EXPECT_EQ(products, explanation.floor.products);
  uint64_t at = 0;
  for (const PathStep &step : explanation.path) {
    EXPECT_EQ(step.from, at);
    EXPECT_GT(step.cycles, 0U);
    at += step.cycles;
  }
  EXPECT_EQ(at, explanation.cycles);
  EXPECT_LE(explanation.floor.cycles, explanation.cycles);
}

TEST(Explain, EveryCycleHasItsCause) {
  for (const char *target : {"c2b8", "c6b32", "c3b64"})
    for (const unsigned candidates : {0U, 12U})
      for (const std::vector<uint32_t> &widths :
           {std::vector<uint32_t>{1, 1}, {4, 7, 5}, {9, 40, 3}, {2, 12, 12, 12, 1}}) {
        const Plan plan = explained(perceptron(target, widths, 3, 0.2), candidates);
        if (candidates != 0) {
          EXPECT_EQ(plan.explanation->cycles, plan.timing->spaced);
        }
        expectAddsUp(*plan.explanation);
      }
}

TEST(Explain, MergesAreNoMaps) {
  GraphBuilder builder("c2b8", 5);
  const auto input = builder.input(8);
  const auto step = [](isa::Alu alu, bool three) {
    rows::VectorStep result;
    result.alu1 = alu;
    if (three)
      result.alu2 = alu;
    return result;
  };
  const auto max = builder.vector({input[0]}, input[1], input[2], step(isa::Alu::Max, true));
  const auto min = builder.vector({input[3]}, input[4], rows::kNoRow, step(isa::Alu::Min, false));
  const auto product = builder.vector({input[5]}, input[6], input[7], step(isa::Alu::Mul, true));
  const auto scaled = builder.vector({max}, min, rows::kNoRow, step(isa::Alu::Mul, false));
  builder.output({builder.vector({scaled}, product, rows::kNoRow, step(isa::Alu::Add, false))});
  const Plan plan = explained(builder.graph, 0);
  std::vector<std::string> derivation;
  for (const ExplainedStage &stage : plan.explanation->stages)
    derivation.insert(derivation.end(), stage.derivation.begin(), stage.derivation.end());
  EXPECT_THAT(derivation, ElementsAre("max of up to 3 rows, 1 row on 1 core",
                                      "min of up to 2 rows, 1 row on 1 core",
                                      "product of up to 3 rows, 1 row on 1 core",
                                      "map, 1 row on 1 core", "map, 1 row on 1 core"));
}

TEST(Explain, ReductionsAndVectorChains) {
  GraphBuilder builder("c2b8", 5);
  const auto hidden = builder.dense(builder.input(2), 3, rows::VectorStep{});
  rows::VectorStep reduce, shift;
  reduce.reduce = isa::Reduce::Max;
  shift.alu1 = isa::Alu::Sub;
  const rows::RowId max = builder.vector(hidden, rows::kNoRow, rows::kNoRow, reduce);
  std::vector<rows::RowId> shifted;
  for (rows::RowId row : hidden)
    shifted.push_back(builder.vector({row}, max, rows::kNoRow, shift));
  builder.output(builder.dense(shifted, 2, relu()));
  const Plan plan = explained(builder.graph, 8);
  expectAddsUp(*plan.explanation);
  // Six products of three rows, then six of two; the rows between are no products.
  EXPECT_EQ(plan.explanation->floor.products, 12U);
  EXPECT_EQ(plan.explanation->floor.work, 6U);
  std::vector<std::vector<std::string>> derivation;
  for (const ExplainedStage &stage : plan.explanation->stages)
    derivation.push_back(stage.derivation);
  const auto map = ElementsAre("map, 1 row on 1 core");
  EXPECT_THAT(
      derivation,
      ElementsAre(IsEmpty(),
                  ElementsAre("matmul by result rows, 3 rows on 1 core, up to 2 products per sum",
                              "bias added, 3 rows"),
                  ElementsAre("max of up to 3 rows and their lanes, 1 row on 1 core"), map, map,
                  map,
                  ElementsAre("matmul by result rows, 2 rows on 1 core, up to 3 products per sum",
                              "bias added, 2 rows")));
}

// One row in, one product, one row out on c2b8: the way of one row, cycle by
// cycle as docs/machine.md has it, and nothing else.
TEST(Explain, OneProduct) {
  const Plan plan = explained(perceptron("c2b8", {1, 1}, 1), 4);
  const Explanation &explanation = *plan.explanation;
  EXPECT_EQ(explanation.cycles, 26U);
  EXPECT_EQ(explanation.floor.cycles, 26U);
  std::vector<std::pair<Delay, uint64_t>> path;
  for (const PathStep &step : explanation.path)
    path.emplace_back(step.delay, step.cycles);
  EXPECT_THAT(path, ElementsAre(std::pair(Delay::HostRows, 1), std::pair(Delay::Network, 3),
                                std::pair(Delay::MatrixDepth, 14), std::pair(Delay::VectorDepth, 4),
                                std::pair(Delay::Network, 3), std::pair(Delay::HostRows, 1)));
}

// Every line says what was different and why it lost, and no two lines say the same.
TEST(Explain, NamesWhatLost) {
  const Plan plan = explained(perceptron("c6b32", {8, 16, 16, 16}, 3), 40);
  const Explanation &explanation = *plan.explanation;
  ASSERT_THAT(explanation.losers, Not(IsEmpty()));
  bool slower = false;
  std::set<std::tuple<std::optional<uint64_t>, std::string, std::string>> lines;
  for (const Loser &loser : explanation.losers) {
    EXPECT_THAT(loser.choice, Not(IsEmpty()));
    EXPECT_THAT(loser.why, Not(IsEmpty())) << loser.choice;
    EXPECT_TRUE(!loser.cycles || *loser.cycles >= explanation.cycles ||
                loser.why.find(" back to back") != std::string::npos);
    EXPECT_TRUE(lines.emplace(loser.cycles, loser.choice, loser.why).second) << loser.choice;
    slower |= loser.cycles && *loser.cycles > explanation.cycles &&
              loser.why.find(" more cycle") != std::string::npos;
  }
  EXPECT_TRUE(slower);
  EXPECT_GT(plansNotChosen(explanation), explanation.losers.size());
}

} // namespace
} // namespace sluice::plan::test
