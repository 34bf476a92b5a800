// The cell of an LSTM, as its rows come from the model and as they are with fewer passes in a row.
#include "compiler/conversion/rows/short_chains.h"

#include <gtest/gtest.h>

#include "tests/support/rows/graphs.h"

namespace sluice::rows::test {
namespace {

VectorStep table() {
  VectorStep step;
  step.table = 0;
  return step;
}

/// c' = fc + ig; h = table(o) * table(c').
struct ShortChains : testing::Test {
  plan::test::GraphBuilder builder{"c2b8", 5};
  Graph &graph = builder.graph;
  std::vector<RowId> x = builder.input(1);
  RowId fc = builder.dense(x, 1, {})[0], ig = builder.dense(x, 1, {})[0], cell = kNoRow,
        bent = kNoRow, hidden = kNoRow;

  void SetUp() override {
    VectorStep sum;
    sum.alu1 = isa::Alu::Add;
    cell = builder.vector({fc}, ig, kNoRow, sum);
    bent = builder.vector({cell}, kNoRow, kNoRow, table());
    VectorStep gate = table();
    gate.alu2 = isa::Alu::Mul;
    hidden = builder.dense(x, 1, gate)[0];
    graph.rows[hidden].c = bent;
    graph.tables.emplace_back();
    builder.output({cell, hidden});
  }
};

TEST_F(ShortChains, FromTheSumToTheHiddenRowInOnePass) {
  ASSERT_TRUE(shortenChains(graph));
  const Row &last = graph.rows[hidden], &gate = graph.rows[bent];
  EXPECT_EQ(gate.kind, RowKind::Linear);
  EXPECT_EQ(gate.step, table());
  EXPECT_EQ(gate.c, kNoRow);
  VectorStep expected = table();
  expected.alu1 = isa::Alu::Add;
  expected.alu2 = isa::Alu::Mul;
  EXPECT_EQ(last.kind, RowKind::Vector);
  EXPECT_EQ(last.step, expected);
  EXPECT_EQ(last.a, std::vector{fc});
  EXPECT_EQ(last.b, ig);
  EXPECT_EQ(last.c, bent);
  EXPECT_LT(gate.group, last.group);
  EXPECT_EQ(graph.rows[cell].step.alu1, isa::Alu::Add) << "the cell itself stays";
  EXPECT_FALSE(shortenChains(graph)) << "there is no more";
}

TEST_F(ShortChains, TheNodesOfBothAreNamed) {
  const auto nodesOf = [&](RowId row) { return graph.rows[row].nodes; };
  const std::vector<uint32_t> all{nodesOf(cell)[0], nodesOf(bent)[0], nodesOf(hidden)[0]};
  ASSERT_TRUE(shortenChains(graph));
  EXPECT_EQ(nodesOf(hidden), all);
}

TEST_F(ShortChains, WhatOthersReadIsNotExchanged) {
  builder.output({bent});
  ASSERT_TRUE(shortenChains(graph));
  EXPECT_EQ(graph.rows[hidden].kind, RowKind::Linear);
  EXPECT_EQ(graph.rows[bent].a, std::vector{fc}) << "the sum is repeated all the same";
}

TEST_F(ShortChains, ASumOfWhatComesLaterIsNotExchanged) {
  graph.rows[hidden].terms[0].x = bent;
  ASSERT_TRUE(shortenChains(graph));
  EXPECT_EQ(graph.rows[hidden].kind, RowKind::Linear);
}

TEST_F(ShortChains, AFunctionOfAProductOfTheMatrixUnitStays) {
  graph.rows[bent].a = {fc};
  EXPECT_FALSE(shortenChains(graph));
}

TEST_F(ShortChains, TwoOperationsAreNotRepeated) {
  graph.rows[cell].step.alu2 = isa::Alu::Mul;
  graph.rows[cell].c = fc;
  EXPECT_FALSE(shortenChains(graph));
}

} // namespace
} // namespace sluice::rows::test
