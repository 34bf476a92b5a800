// Which form of a model is taken, and what is said of the others. The forms here are models of
// their own, which the choice does not look at.
#include "compiler/conversion/model/fastest_plan.h"

#include <limits>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/support/problem.h"
#include "tests/support/rows/graphs.h"
#include "tests/support/rows/runs.h"

namespace sluice::conversion {
namespace {

using ::testing::SizeIs;

plan::PlanOptions searching() {
  plan::PlanOptions options;
  options.work = uint64_t{1} << 22;
  options.explain = true;
  return options;
}

/// Two layers, each of which another core may have while the other is busy with the next inference.
rows::Program deep() { return rows::straightLine(plan::test::perceptron("c6b32", {1, 1, 1}, 3)); }
/// From rest done sooner, but one inference at a time.
rows::Program wide() { return rows::straightLine(plan::test::perceptron("c6b32", {8, 1}, 3)); }

/// From rest done soon, but the next inference waits for rows of this one.
rows::Program recurrent() {
  constexpr uint32_t kStates = 12;
  plan::test::GraphBuilder builder("c6b32", 3);
  std::vector<rows::RowId> read = builder.input(1), states;
  for (uint32_t i = 0; i < kStates; ++i)
    states.push_back(builder.state());
  read.insert(read.end(), states.begin(), states.end());
  const std::vector<rows::RowId> next = builder.dense(read, kStates, plan::test::relu());
  for (uint32_t i = 0; i < kStates; ++i)
    builder.keep(states[i], next[i]);
  builder.output(next);
  return rows::straightLine(builder.graph);
}

plan::Plan fastest(std::vector<Form> forms) {
  plan::Plan plan;
  const Problems problems = planFastest(forms, searching(), plan);
  EXPECT_TRUE(problems.empty());
  return plan;
}

TEST(FastestPlan, AFormThatLosesInARowSaysSo) {
  const rows::Program plain = rows::straightLine(plan::test::perceptron("c6b32", {1, 15}, 3));
  const plan::Plan own = fastest({recurrent()}), kept = fastest({plain, recurrent()});
  ASSERT_LT(own.timing->spaced, kept.timing->spaced);
  ASSERT_GT(own.timing->contiguous, kept.timing->contiguous);
  EXPECT_EQ(kept.timing->spaced, fastest({plain}).timing->spaced);
  std::vector<plan::Loser> forms;
  for (const plan::Loser &loser : kept.explanation->losers)
    if (loser.form)
      forms.push_back(loser);
  ASSERT_THAT(forms, SizeIs(1));
  EXPECT_EQ(forms[0].cycles, own.timing->spaced);
  EXPECT_EQ(
      forms[0].why,
      fmt::format("another form of the model, {:.0f} and {:.0f} cycles per inference back to back",
                  own.timing->contiguous, own.timing->period));
}

TEST(FastestPlan, AFormWithALongerPeriodIsTaken) {
  const plan::Plan own = fastest({wide()}), other = fastest({deep()});
  ASSERT_LT(own.timing->spaced, other.timing->spaced);
  ASSERT_LE(own.timing->contiguous, other.timing->contiguous);
  ASSERT_GT(own.timing->period, other.timing->period);
  EXPECT_EQ(fastest({deep(), wide()}).timing->spaced, own.timing->spaced);
}

TEST(FastestPlan, AFormThatIsFasterInEveryWayIsTaken) {
  const plan::Plan taken =
      fastest({deep(), rows::straightLine(plan::test::perceptron("c6b32", {1, 1}, 3))});
  EXPECT_LT(taken.timing->spaced, fastest({deep()}).timing->spaced);
  ASSERT_THAT(taken.explanation->losers, ::testing::Not(::testing::IsEmpty()));
  EXPECT_EQ(taken.explanation->losers[0].why, "another form of the model");
}

/// A dense layer of so many rows from so many, which takes as many weight blocks as their product.
rows::Program layer(const std::string &target, uint32_t rows, uint32_t from) {
  return rows::straightLine(plan::test::perceptron(target, {from, rows}, 3));
}

/// What is said where none has a plan.
std::vector<std::string> refused(std::vector<Form> forms, uint64_t blocks) {
  plan::Plan plan;
  const Problems problems = planFastest(forms, searching(), plan);
  EXPECT_FALSE(problems.empty());
  std::vector<std::string> messages;
  for (const Problem &problem : problems)
    messages.push_back(problem.message);
  uint64_t most = 0; // of the memory, which is of the same form
  for (const plan::MemoryUse &one : plan.memory)
    if (one.memory == "weight blocks")
      most = std::max(most, one.used);
  EXPECT_EQ(most, blocks);
  return messages;
}

TEST(FastestPlan, OfFormsThatDoNotFitTheClosestIsToldOf) {
  const rows::Program far = layer("c2b8", 80, 80), close = layer("c2b8", 65, 64);
  const std::vector<std::string> told = {
      "the model does not fit c2b8: core 0 needs 2112 weight blocks, 64 more than its 2048"};
  EXPECT_EQ(refused({close}, 2112), told);
  EXPECT_EQ(refused({far, close}, 2112), told);
  EXPECT_EQ(refused({close, far}, 2112), told);
  EXPECT_EQ(refused({far, close, far}, 2112), told);
}

/// A variant of the form before it, which counts how often it is made.
Form counted(rows::Program program, unsigned &made) {
  return {"variant", [program = std::move(program), &made]() -> Outcome<rows::Program> {
            ++made;
            rows::Program variant = program;
            variant.variant = "variant";
            return variant;
          }};
}

TEST(FastestPlan, VariantsOfFormsThatDoNotFitAreNotMade) {
  unsigned made = 0;
  refused({layer("c2b8", 65, 64), counted(layer("c2b8", 65, 64), made)}, 2112);
  EXPECT_EQ(made, 0U);
}

TEST(FastestPlan, VariantsOfTheFastestFormAreMadeOnce) {
  unsigned ofSlower = 0, ofFaster = 0;
  const plan::Plan taken =
      fastest({deep(), counted(deep(), ofSlower), wide(), counted(deep(), ofFaster)});
  EXPECT_EQ(taken.timing->spaced, fastest({wide()}).timing->spaced);
  EXPECT_EQ(ofSlower, 0U);
  EXPECT_EQ(ofFaster, 1U);
}

TEST(FastestPlan, AVariantThatTheModelLacksIsLeftOut) {
  const plan::Plan taken = fastest({wide(), Form("none", [] { return Outcome<rows::Program>(); })});
  EXPECT_EQ(taken.timing->spaced, fastest({wide()}).timing->spaced);
}

TEST(FastestPlan, AVariantThatIsNoValidProgramIsAProblem) {
  plan::Plan plan;
  Problem problem;
  problem.code = "E0499";
  std::vector<Form> forms{
      wide(), Form("invalid", [&] { return Outcome<rows::Program>(Problems{problem}); })};
  const Problems problems = planFastest(forms, searching(), plan);
  ASSERT_THAT(problems, SizeIs(1));
  EXPECT_EQ(problems[0].code, "E0499");
}

/// Memory is not what keeps the first one from being planned: others say nothing of that.
TEST(FastestPlan, WhatIsWrongWithTheFirstFormIsToldOf) {
  rows::Program wrong = deep();
  for (rows::Row &row : wrong.bodies[0].trip.rows)
    if (!row.bias.empty())
      row.bias = std::vector<float>(row.bias.size(), std::numeric_limits<float>::infinity());
  const std::vector<std::string> own = refused({wrong}, 2);
  ASSERT_FALSE(own.empty());
  EXPECT_EQ(refused({wrong, layer("c6b32", 60, 60)}, 2), own);
}

} // namespace
} // namespace sluice::conversion
