// Sums over the past whose newest products share a factor: what moves, what it computes, and
// what stays as it is.
#include "compiler/conversion/rows/late_factors.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "compiler/conversion/rows/finish.h"
#include "tests/support/rows/graphs.h"

namespace sluice::rows::test {
namespace {

using plan::test::evaluate;
using plan::test::GraphBuilder;

VectorStep binary(isa::Alu alu1, isa::Alu alu2 = isa::Alu::Pass) {
  VectorStep step;
  step.alu1 = alu1;
  step.alu2 = alu2;
  return step;
}

/// Two rows, normed: every row times one over what their sum of squares gives, and a layer of
/// them and of what they were one inference before.
struct LateFactors : testing::Test {
  GraphBuilder builder{"c2b8", 3};
  std::vector<RowId> x = builder.input(2), past{builder.state(), builder.state()};

  void SetUp() override {
    for (State &state : builder.graph.states)
      for (size_t lane = 0; lane < state.initial.size(); ++lane)
        state.initial[lane] = plan::test::toBf16(0.25 * static_cast<double>(lane) - 0.5);
  }

  /// A sum over all lanes of rows, in every lane.
  RowId total(const std::vector<RowId> &rows) {
    const RowId sum = builder.dense(rows, 1, {}, false)[0];
    for (const Term &term : builder.graph.rows[sum].terms)
      builder.setWeights(term.block, plan::test::toBf16(0.125));
    return sum;
  }

  std::vector<RowId> scaled(RowId factor, bool withGain = false) {
    std::vector<RowId> result;
    for (const RowId row : x)
      result.push_back(
          builder.vector({row}, factor, withGain ? builder.constant() : kNoRow,
                         binary(isa::Alu::Mul, withGain ? isa::Alu::Mul : isa::Alu::Pass)));
    for (size_t i = 0; i < past.size(); ++i)
      builder.keep(past[i], result[i]);
    return result;
  }

  std::vector<RowId> layer(const std::vector<RowId> &newest, const VectorStep &step = {}) {
    const auto y = builder.dense({past[0], newest[0], past[1], newest[1]}, 2, step);
    builder.output(y);
    return y;
  }

  [[nodiscard]] size_t count(const auto &predicate) const {
    return static_cast<size_t>(std::ranges::count_if(builder.graph.rows, predicate));
  }

  void moves() {
    Graph &graph = builder.graph;
    compact(graph);
    std::vector<std::vector<uint16_t>> inputs(2);
    for (std::vector<uint16_t> &row : inputs)
      for (uint32_t lane = 0; lane < graph.geometry.lanes; ++lane)
        row.push_back(
            plan::test::toBf16(std::uniform_real_distribution<double>(0.5, 2)(builder.random)));
    const auto before = evaluate(graph, inputs);
    ASSERT_TRUE(factorsBehindNewest(graph));
    const auto isOf = [&](bool states) {
      return [&graph, states](const Row &row) {
        return !row.terms.empty() && std::ranges::all_of(row.terms, [&](const Term &term) {
          return graph.rows[term.x].kind == (states ? RowKind::State : RowKind::Input);
        });
      };
    };
    EXPECT_EQ(count(isOf(true)), 2U) << "sums of the past alone";
    EXPECT_EQ(count(isOf(false)), 3U) << "products of what has no factor yet, and the factor";
    for (RowId id = 0; id < graph.rows.size(); ++id) // topological
      for (const Term &term : graph.rows[id].terms)
        EXPECT_LT(term.x, id);
    const auto after = evaluate(graph, inputs);
    for (size_t row = 0; row < before.size(); ++row)
      for (size_t lane = 0; lane < before[row].size(); ++lane)
        // Sums are of the order of one; each rounding to bf16 is 1/256 of a value.
        EXPECT_NEAR(plan::test::fromBf16(after[row][lane]), plan::test::fromBf16(before[row][lane]),
                    0.04)
            << row << ", " << lane;
  }

  void stays() {
    compact(builder.graph);
    const size_t rows = builder.graph.rows.size(), blocks = builder.graph.blocks.size();
    EXPECT_FALSE(factorsBehindNewest(builder.graph));
    EXPECT_EQ(builder.graph.rows.size(), rows);
    EXPECT_EQ(builder.graph.blocks.size(), blocks);
  }
};

TEST_F(LateFactors, ComeBehindTheProducts) {
  layer(scaled(total(x)));
  moves();
}

TEST_F(LateFactors, AConstantGoesIntoTheWeights) {
  layer(scaled(total(x), true));
  const size_t blocks = builder.graph.blocks.size();
  moves();
  EXPECT_EQ(builder.graph.blocks.size(), blocks);
}

TEST_F(LateFactors, ARowIsWhatAStepMakesOfTheSum) {
  const auto y = layer(scaled(total(x)), [] {
    VectorStep step = binary(isa::Alu::Max, isa::Alu::Add);
    step.rhs1 = isa::Rhs1::Imm;
    return step;
  }());
  builder.graph.rows[y[0]].c = x[0];
  builder.graph.rows[y[1]].c = x[1];
  moves();
  // The maximum with zero is made with the sum; only the second addition is a pass of its own.
  EXPECT_EQ(count([](const Row &row) { return row.step.post == isa::Post::Relu; }), 2U);
  EXPECT_EQ(count([](const Row &row) { return row.step == binary(isa::Alu::Pass, isa::Alu::Add); }),
            2U);
}

TEST_F(LateFactors, AStepThatReadsTheSumTwiceReadsItBeforeTheMaximum) {
  // max(sum, 0) - sum: how far the sum is below 0.
  layer(scaled(total(x)), [] {
    VectorStep step = binary(isa::Alu::Max, isa::Alu::Sub);
    step.rhs1 = isa::Rhs1::Imm;
    step.rhs2 = isa::Rhs2::A;
    return step;
  }());
  moves();
}

TEST_F(LateFactors, AStepThatIsARectifierTakesNoPass) {
  layer(scaled(total(x)), plan::test::relu());
  const size_t rows = builder.graph.rows.size();
  moves();
  EXPECT_EQ(builder.graph.rows.size(), rows + 2);
}

TEST_F(LateFactors, OfOneLaneAreBroadcast) {
  const auto newest = scaled(builder.dense(x, 1, {})[0]);
  for (const RowId row : newest)
    builder.graph.rows[row].step.bBroadcast = true;
  layer(newest);
  moves();
}

TEST_F(LateFactors, ThatDifferFromLaneToLaneStay) {
  layer(scaled(builder.dense(x, 1, {})[0]));
  stays();
}

TEST_F(LateFactors, WithLanesOfABiasStay) {
  const RowId factor = total(x);
  builder.graph.rows[factor].bias = {0, 0, 0, 1, 0, 0, 0, 0};
  layer(scaled(factor));
  stays();
}

TEST_F(LateFactors, ThatAreTwoStay) {
  const auto one = scaled(total(x)), other = scaled(total({x[0]}));
  layer({one[0], other[1]});
  stays();
}

TEST_F(LateFactors, OfProductsWithoutAPastStay) {
  const auto newest = scaled(total(x));
  builder.output(builder.dense(newest, 2, {}));
  stays();
}

TEST_F(LateFactors, OfRowsWithAFunctionStay) {
  const auto newest = scaled(total(x));
  for (const RowId row : newest)
    builder.graph.rows[row].step.post = isa::Post::Relu;
  layer(newest);
  stays();
}

TEST_F(LateFactors, OfWeightsThatAreWrittenStay) {
  const auto newest = scaled(total(x));
  const auto y = layer(newest);
  builder.graph.dynamic[builder.graph.rows[y[0]].terms[1].block] = {true, {{x[0], 0}}, {}};
  builder.graph.dynamic[builder.graph.rows[y[1]].terms[0].block] = {true, {{x[0], 0}}, {}};
  stays();
}

TEST_F(LateFactors, WhoseConstantMakesAWeightInfiniteStay) {
  const auto newest = scaled(total(x), true);
  for (const RowId row : newest)
    for (uint16_t &lane : builder.graph.rows[builder.graph.rows[row].c].lanes)
      lane = 0x7F00;
  const auto y = layer(newest);
  for (const RowId row : y)
    for (const Term &term : builder.graph.rows[row].terms) {
      std::vector<uint16_t> weights = builder.graph.blocks[term.block];
      weights.front() = 0x4080;
      builder.graph.blocks[term.block] = std::move(weights);
    }
  stays();
}

} // namespace
} // namespace sluice::rows::test
