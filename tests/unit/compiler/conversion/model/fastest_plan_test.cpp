// Which form of a model is taken, and what is said of the others. The forms here are models of
// their own, which the choice does not look at.
#include "compiler/conversion/model/fastest_plan.h"

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

plan::Plan fastest(const std::vector<rows::Program> &forms) {
  plan::Plan plan;
  Problems problems;
  EXPECT_TRUE(planFastest(forms, searching(), plan, problems));
  return plan;
}

TEST(FastestPlan, AFormThatLosesInARowSaysSo) {
  const plan::Plan own = fastest({wide()}), kept = fastest({deep(), wide()});
  ASSERT_LT(own.timing->spaced, kept.timing->spaced);
  ASSERT_GT(own.timing->period, kept.timing->period);
  EXPECT_EQ(kept.timing->spaced, fastest({deep()}).timing->spaced);
  std::vector<plan::Loser> forms;
  for (const plan::Loser &loser : kept.explanation->losers)
    if (loser.form)
      forms.push_back(loser);
  ASSERT_THAT(forms, SizeIs(1));
  EXPECT_EQ(forms[0].cycles, own.timing->spaced);
  EXPECT_EQ(forms[0].why,
            fmt::format("another form of the model, takes {:.0f} and {:.0f} cycles per inference "
                        "in a row",
                        own.timing->contiguous, own.timing->period));
}

TEST(FastestPlan, AFormThatIsFasterInEveryWayIsTaken) {
  const plan::Plan taken =
      fastest({deep(), rows::straightLine(plan::test::perceptron("c6b32", {1, 1}, 3))});
  EXPECT_LT(taken.timing->spaced, fastest({deep()}).timing->spaced);
  ASSERT_THAT(taken.explanation->losers, ::testing::Not(::testing::IsEmpty()));
  EXPECT_EQ(taken.explanation->losers[0].why, "another form of the model");
}

} // namespace
} // namespace sluice::conversion
