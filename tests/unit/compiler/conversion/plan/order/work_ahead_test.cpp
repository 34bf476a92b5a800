// What moves to the inference before, on graphs small enough to derive it by hand.
#include "compiler/conversion/plan/order/work_ahead.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/conversion/plan/order/work.h"
#include "tests/support/rows/graphs.h"

namespace sluice::plan::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Optional;

struct WorkingAhead : testing::Test {
  GraphBuilder builder{"c2b8", 1};
  rows::Graph ahead;

  void run() {
    ahead = workAhead(builder.graph, false);
    EXPECT_EQ(verifyAhead(builder.graph, ahead), std::nullopt);
  }

  std::vector<RowId> operands(RowId row) const {
    std::vector<RowId> operands;
    for (const rows::Term &term : ahead.rows[row].terms)
      operands.push_back(term.x);
    return operands;
  }

  /// A row as it was one inference before, and two.
  std::pair<RowId, RowId> delayLine(RowId row) {
    const RowId first = builder.state(), second = builder.state();
    builder.keep(first, row);
    builder.keep(second, first);
    return {first, second};
  }

  RowId copyOf(RowId row) {
    return builder.vector({row}, rows::kNoRow, rows::kNoRow, rows::VectorStep{});
  }
};

TEST_F(WorkingAhead, WithoutStateNothingMoves) {
  const auto x = builder.input(2);
  const auto y = builder.dense(x, 2, relu());
  builder.output(y);
  run();
  EXPECT_EQ(ahead.rows.size(), builder.graph.rows.size());
  EXPECT_THAT(operands(y[0]), ElementsAre(x[0], x[1]));
  EXPECT_EQ(ahead.rows[y[0]].start, rows::kNoRow);
}

TEST_F(WorkingAhead, ProductsOfAStateAreThoseOfWhatItBecomes) {
  const auto x = builder.input(1);
  const RowId h = builder.state();
  const auto y = builder.dense({x[0], h}, 1, relu());
  builder.keep(h, y[0]);
  builder.output(y);
  const rows::Bias bias = builder.graph.rows[y[0]].bias;
  run();
  EXPECT_THAT(operands(y[0]), ElementsAre(x[0]));
  const RowId sum = ahead.rows[y[0]].start;
  ASSERT_NE(sum, rows::kNoRow);
  EXPECT_TRUE(ahead.rows[sum].ahead);
  EXPECT_THAT(operands(sum), ElementsAre(y[0]));
  EXPECT_EQ(ahead.rows[sum].bias, bias);
  EXPECT_EQ(ahead.rows[y[0]].bias, bias); // the state is zeros in the beginning
  EXPECT_TRUE(ahead.states.empty());      // no step reads it
}

TEST_F(WorkingAhead, TheFirstSumHasTheInitialState) {
  const auto x = builder.input(1);
  const RowId h = builder.state();
  builder.graph.states[0].initial[2] = toBf16(2);
  const auto y = builder.dense({x[0], h}, 1, relu(), false);
  builder.keep(h, y[0]);
  builder.output(y);
  run();
  const std::vector<uint16_t> &block =
      builder.graph.blocks[builder.graph.rows[y[0]].terms[1].block];
  for (size_t lane = 0; lane < 8; ++lane)
    EXPECT_EQ(ahead.rows[y[0]].bias[lane], 2 * fromBf16(block[lane * 8 + 2]));
}

TEST_F(WorkingAhead, ADelayLineIsAChainOfSums) {
  const auto x = builder.input(1);
  const auto [first, second] = delayLine(x[0]);
  const auto y = builder.dense({x[0], first, second}, 1, relu());
  builder.output(y);
  run();
  const RowId sum = ahead.rows[y[0]].start, older = ahead.rows[sum].start;
  EXPECT_THAT(operands(y[0]), ElementsAre(x[0]));
  EXPECT_THAT(operands(sum), ElementsAre(x[0]));
  EXPECT_THAT(operands(older), ElementsAre(x[0]));
  EXPECT_EQ(ahead.rows[older].start, rows::kNoRow);
  EXPECT_LT(ahead.rows[sum].group, ahead.rows[older].group); // begins before the other leaves
}

TEST_F(WorkingAhead, WhatAStateBecomesHoldsItBehindItsReaders) {
  const auto x = builder.input(1);
  const RowId c = builder.state();
  rows::VectorStep multiply;
  multiply.alu1 = isa::Alu::Mul;
  const RowId reader = builder.vector({x[0]}, c, rows::kNoRow, multiply);
  const RowId next = copyOf(reader);
  builder.keep(c, next);
  builder.output({next});
  run();
  ASSERT_EQ(ahead.states.size(), 1U);
  EXPECT_EQ(ahead.states[0].next, next);
  const Work work = analyse(ahead);
  EXPECT_EQ(work[reader].home, work[next].home);
  EXPECT_NE(work[reader].home, kNoHome);
}

TEST_F(WorkingAhead, ACopyHoldsAStateThatIsReadLater) {
  const auto x = builder.input(1);
  const RowId c = builder.state();
  const RowId next = copyOf(x[0]);
  rows::VectorStep multiply;
  multiply.alu1 = isa::Alu::Mul;
  const RowId reader = builder.vector({next}, c, rows::kNoRow, multiply);
  builder.keep(c, next);
  builder.output({reader});
  run();
  const RowId holder = ahead.states[0].next;
  EXPECT_NE(holder, next);
  EXPECT_THAT(ahead.rows[holder].a, ElementsAre(next));
  EXPECT_GT(ahead.rows[holder].group, ahead.rows[reader].group);
}

TEST_F(WorkingAhead, ADelayLineIsCopiedFromItsEnd) {
  const auto x = builder.input(1);
  const auto [first, second] = delayLine(x[0]);
  builder.output({copyOf(second)});
  run();
  const RowId newer = ahead.states[0].next, older = ahead.states[1].next;
  EXPECT_THAT(ahead.rows[older].a, ElementsAre(first));
  EXPECT_THAT(ahead.rows[newer].a, ElementsAre(x[0]));
  EXPECT_LT(ahead.rows[older].group, ahead.rows[newer].group);
}

TEST_F(WorkingAhead, StatesThatChangePlacesPassThroughARowOfTheirOwn) {
  const auto x = builder.input(1);
  const RowId a = builder.state(), b = builder.state();
  builder.keep(a, b);
  builder.keep(b, a);
  rows::VectorStep add;
  add.alu1 = isa::Alu::Add;
  builder.output({builder.vector({x[0]}, a, rows::kNoRow, add)});
  run();
  EXPECT_EQ(ahead.states.size(), 2U);
  EXPECT_EQ(circularState(builder.graph), std::nullopt); // no product reads them
}

TEST_F(WorkingAhead, ProductsOfStatesInACircleAreRefused) {
  const auto x = builder.input(1);
  const RowId a = builder.state(), b = builder.state();
  builder.keep(a, b);
  builder.keep(b, a);
  builder.output(builder.dense({x[0], a}, 1, relu()));
  EXPECT_NE(circularState(builder.graph), std::nullopt);
}

TEST_F(WorkingAhead, TheProofSeesWhatIsLost) {
  const auto x = builder.input(1);
  const auto [first, second] = delayLine(x[0]);
  const auto y = builder.dense({x[0], first, second}, 1, relu());
  const RowId held = copyOf(second);
  builder.output({y[0], held});
  run();
  const RowId sum = ahead.rows[y[0]].start;
  const auto verdict = [&](auto spoil) {
    rows::Graph spoilt = ahead;
    spoil(spoilt);
    return verifyAhead(builder.graph, spoilt).value_or("sound");
  };
  EXPECT_THAT(verdict([&](rows::Graph &g) { g.rows[sum].terms.clear(); }),
              HasSubstr("has changed"));
  EXPECT_THAT(verdict([&](rows::Graph &g) { std::swap(g.rows[sum].start, g.rows[y[0]].start); }),
              HasSubstr("has changed"));
  EXPECT_THAT(verdict([&](rows::Graph &g) {
                rows::Row &start = g.rows[g.rows[sum].start];
                std::vector<float> other = start.bias.lanes();
                other[0] += 1;
                start.bias = other;
              }),
              HasSubstr("has changed"));
  EXPECT_THAT(verdict([&](rows::Graph &g) { g.states[0].next = y[0]; }),
              HasSubstr("is updated differently"));
  EXPECT_THAT(verdict([&](rows::Graph &g) { g.states[0].initial[0] = toBf16(1); }),
              HasSubstr("is updated differently"));
}

} // namespace
} // namespace sluice::plan::test
