// Steps chosen for scalar expressions: how many, which, and what they compute.
#include "compiler/conversion/scalar/map_select.h"

#include <cmath>

#include <gtest/gtest.h>

#include "compiler/conversion/scalar/table_builder.h"
#include "hw/numerics/numerics.h"

namespace sluice::rows {
namespace {

using numerics::toBits;
using numerics::toFloat;
using reference::Function;

NodeId exp(Expr &e, NodeId x) { return e.call(Function::Exp, {x}); }
NodeId tanh(Expr &e, NodeId x) { return e.call(Function::Tanh, {x}); }
NodeId log(Expr &e, NodeId x) { return e.call(Function::Log, {x}); }
NodeId sigmoid(Expr &e, NodeId x) {
  const NodeId minus = e.binary(ScalarOp::Mul, x, e.constant(-1));
  return e.binary(ScalarOp::Div, e.constant(1),
                  e.binary(ScalarOp::Add, e.constant(1), exp(e, minus)));
}

/// Runs a plan on one lane.
float run(const MapPlan &plan, const std::vector<float> &operands) {
  std::vector<float> steps;
  const auto read = [&](const Source &source) {
    switch (source.kind) {
    case Source::Kind::Operand:
      return operands[source.index];
    case Source::Kind::Step:
      return steps[source.index];
    case Source::Kind::Splat:
      return static_cast<float>(bf16ToDouble(roundToBf16(source.value)));
    case Source::Kind::None:
      break;
    }
    return 0.0F;
  };
  for (const MapStep &s : plan.steps) {
    const uint32_t a = toBits(read(s.a)), b = toBits(read(s.b)), c = toBits(read(s.c));
    const uint32_t r1 = s.step.rhs1 == isa::Rhs1::B     ? b
                        : s.step.rhs1 == isa::Rhs1::Imm ? toBits(s.step.imm1)
                                                        : a;
    uint32_t v = numerics::alu(s.step.alu1, a, r1, b, c);
    if (s.step.table)
      v = numerics::Table(*plan.tables[*s.step.table])(v);
    const uint32_t r2 = s.step.rhs2 == isa::Rhs2::C     ? c
                        : s.step.rhs2 == isa::Rhs2::Imm ? toBits(s.step.imm2)
                        : s.step.rhs2 == isa::Rhs2::A   ? a
                                                        : b;
    v = numerics::alu(s.step.alu2, v, r2, b, c);
    steps.push_back(toFloat(static_cast<uint32_t>(numerics::finish(s.step.post, v)) << 16));
  }
  return read(plan.result);
}

struct Selected {
  Expr expr;
  std::optional<MapPlan> plan;
  std::string why;
};

template <typename Build>
Selected select(Build build, const std::vector<MapOperand> &operands = {{}, {}, {}}) {
  Selected s;
  s.expr.result = build(s.expr);
  static TableCache tables;
  s.plan = selectMap(s.expr, operands, tables, s.why);
  return s;
}

/// Every bf16 input of a function of one operand, within `ulps` neighbours of
/// the rounded value.
void expectEverywhere(const Selected &s, int ulps) {
  ASSERT_TRUE(s.plan) << s.why;
  const auto ordinal = [](uint16_t bits) {
    const int magnitude = bits & 0x7FFF;
    const int position = magnitude < 0x80 ? 0 : magnitude - 0x7F;
    return bits & 0x8000 ? -position : position;
  };
  for (unsigned bits = 0; bits < 65536; ++bits) {
    const double x = bf16ToDouble(static_cast<uint16_t>(bits));
    if (!std::isfinite(x))
      continue;
    // A factor that is flushed to zero takes the product with it.
    if (std::fabs(s.expr.evaluate(s.expr.result, {x, 0, 0})) < 1e-35)
      continue;
    const uint16_t want = roundToBf16(s.expr.evaluate(s.expr.result, {x, 0, 0}));
    const uint16_t got = roundToBf16(run(*s.plan, {static_cast<float>(x), 0, 0}));
    ASSERT_LE(std::abs(ordinal(want) - ordinal(got)), ulps) << x;
  }
}

TEST(MapSelect, ChainsOfUnaryFunctionsAreOneTable) {
  const auto silu = select([](Expr &e) {
    const NodeId x = e.input(0);
    return e.binary(ScalarOp::Mul, x, sigmoid(e, x));
  });
  expectEverywhere(silu, 0);
  EXPECT_EQ(silu.plan->steps.size(), 1U);
  EXPECT_TRUE(silu.plan->steps[0].step.table);

  const auto chain = select([](Expr &e) {
    const NodeId t = tanh(e, e.binary(ScalarOp::Mul, e.input(0), e.constant(0.5)));
    return e.binary(ScalarOp::Add, e.binary(ScalarOp::Mul, t, e.constant(3)), e.constant(1));
  });
  expectEverywhere(chain, 0);
  EXPECT_EQ(chain.plan->steps.size(), 1U);
}

/// 3 tanh(x) + 1 has a table of its own, unless tables are scarce and that of tanh is there.
TEST(MapSelect, ScarceTablesAreShared) {
  const auto plainTanh = select([](Expr &e) { return tanh(e, e.input(0)); });
  const auto build = [](Expr &e) {
    const NodeId t = tanh(e, e.input(0));
    return e.binary(ScalarOp::Add, e.binary(ScalarOp::Mul, t, e.constant(3)), e.constant(1));
  };
  const auto alone = select(build);
  ASSERT_TRUE(plainTanh.plan && alone.plan);
  const format::TableImage known = *plainTanh.plan->tables[0];
  EXPECT_NE(alone.plan->tables[0]->entries, known.entries);
  Selected shared = alone;
  TableCache tables;
  shared.plan =
      selectMap(shared.expr, {{}, {}, {}}, tables, shared.why,
                [&](const format::TableImage &image) { return image.entries == known.entries; });
  ASSERT_TRUE(shared.plan);
  ASSERT_EQ(shared.plan->tables.size(), 1U);
  EXPECT_EQ(shared.plan->tables[0]->entries, known.entries);
  EXPECT_GT(shared.plan->steps.size(), alone.plan->steps.size());
}

TEST(MapSelect, PiecewiseLinearFunctionsAreOneStep) {
  const auto relu =
      select([](Expr &e) { return e.binary(ScalarOp::Max, e.input(0), e.constant(0)); });
  expectEverywhere(relu, 0);
  EXPECT_EQ(relu.plan->steps.size(), 1U);
  EXPECT_EQ(relu.plan->steps[0].step.post, isa::Post::Relu);
  EXPECT_FALSE(relu.plan->steps[0].step.table);

  const auto leaky = select([](Expr &e) {
    const NodeId x = e.input(0);
    return e.select(e.binary(ScalarOp::Ge, x, e.constant(0)), x,
                    e.binary(ScalarOp::Mul, x, e.constant(0.01)));
  });
  expectEverywhere(leaky, 0);
  EXPECT_EQ(leaky.plan->steps.size(), 1U);

  const auto clip = select([](Expr &e) {
    return e.binary(ScalarOp::Min, e.binary(ScalarOp::Max, e.input(0), e.constant(-1.5)),
                    e.constant(2));
  });
  expectEverywhere(clip, 0);
  EXPECT_EQ(clip.plan->steps.size(), 1U);

  const auto elu = select([](Expr &e) {
    const NodeId x = e.input(0);
    const NodeId below = e.binary(ScalarOp::Sub, exp(e, x), e.constant(1));
    return e.select(e.binary(ScalarOp::Gt, x, e.constant(0)), x, below);
  });
  expectEverywhere(elu, 0);
  EXPECT_EQ(elu.plan->steps.size(), 1U);
}

/// A model may subtract the argument again: the constant is left then, and no neighbour of the sum.
TEST(MapSelect, KeepsExactSumsWithConstants) {
  const auto relu = select([](Expr &e) {
    const NodeId x = e.input(0);
    return e.binary(
        ScalarOp::Sub,
        e.binary(ScalarOp::Max, e.binary(ScalarOp::Add, x, e.constant(0.5)), e.constant(0)), x);
  });
  ASSERT_TRUE(relu.plan) << relu.why;
  EXPECT_EQ(relu.plan->steps.size(), 1U);
  for (const float x : {0.0F, 1.5F, 63.5F, 64.0F, 64.5F, 100.5F, 127.5F})
    EXPECT_EQ(run(*relu.plan, {x, 0, 0}), 0.5F) << x;

  // No table has both -127.5 for -128 and what is near 0.5.
  const auto least = select([](Expr &e) {
    const NodeId x = e.input(0);
    return e.binary(
        ScalarOp::Sub,
        e.binary(ScalarOp::Min, e.binary(ScalarOp::Add, x, e.constant(0.5)), e.constant(3)), x);
  });
  ASSERT_TRUE(least.plan) << least.why;
  EXPECT_EQ(least.plan->steps.size(), 1U);
  EXPECT_EQ(least.plan->steps[0].step.alu1, isa::Alu::Add);
  EXPECT_EQ(least.plan->steps[0].step.imm1, 0.5F);
  EXPECT_TRUE(least.plan->steps[0].step.table);
  for (const float x : {0.0F, 1.5F, -64.0F, -100.5F, -128.0F})
    EXPECT_EQ(run(*least.plan, {x, 0, 0}), 0.5F) << x;
}

TEST(MapSelect, SplitsWhatNoTableHolds) {
  const auto scaledElu = select([](Expr &e) {
    const NodeId x = e.input(0);
    const NodeId below =
        e.binary(ScalarOp::Mul, e.binary(ScalarOp::Sub, exp(e, x), e.constant(1)), e.constant(0.3));
    return e.select(e.binary(ScalarOp::Gt, x, e.constant(0)), x, below);
  });
  expectEverywhere(scaledElu, 1);
  EXPECT_EQ(scaledElu.plan->steps.size(), 2U);

  const auto mish = select([](Expr &e) {
    const NodeId x = e.input(0);
    const NodeId soft = log(e, e.binary(ScalarOp::Add, exp(e, x), e.constant(1)));
    return e.binary(ScalarOp::Mul, x, tanh(e, soft));
  });
  expectEverywhere(mish, 1);
  EXPECT_EQ(mish.plan->steps.size(), 1U);

  // The slope at zero is 2/sqrt(pi): clamp, then c * (erf(c) / c).
  const auto erf = select([](Expr &e) { return e.call(Function::Erf, {e.input(0)}); });
  expectEverywhere(erf, 1);
  EXPECT_EQ(erf.plan->steps.size(), 2U);

  const auto softplus = select(
      [](Expr &e) { return log(e, e.binary(ScalarOp::Add, exp(e, e.input(0)), e.constant(1))); });
  expectEverywhere(softplus, 1);
  EXPECT_EQ(softplus.plan->steps.size(), 1U);
}

TEST(MapSelect, BinaryOperationsUseBothUnits) {
  // (x - y) * z: one step on three rows.
  const auto s = select([](Expr &e) {
    return e.binary(ScalarOp::Mul, e.binary(ScalarOp::Sub, e.input(0), e.input(1)), e.input(2));
  });
  ASSERT_TRUE(s.plan);
  EXPECT_EQ(s.plan->steps.size(), 1U);
  EXPECT_EQ(run(*s.plan, {5, 3, 4}), 8);
  // x / y: reciprocal table, then the product.
  const auto quotient =
      select([](Expr &e) { return e.binary(ScalarOp::Div, e.input(0), e.input(1)); });
  ASSERT_TRUE(quotient.plan);
  EXPECT_EQ(quotient.plan->steps.size(), 1U);
  EXPECT_EQ(run(*quotient.plan, {6, 4, 0}), 1.5);
  // x < 0.5 ? y : z.
  const auto chosen = select([](Expr &e) {
    return e.select(e.binary(ScalarOp::Lt, e.input(0), e.constant(0.5)), e.input(1), e.input(2));
  });
  ASSERT_TRUE(chosen.plan);
  EXPECT_EQ(chosen.plan->steps.size(), 1U);
  EXPECT_EQ(run(*chosen.plan, {0, 3, 7}), 3);
  EXPECT_EQ(run(*chosen.plan, {1, 3, 7}), 7);
  // x < y ? x * 2 : z: operand b is y for the comparison and x * 2 for the choice.
  const auto doubled = select([](Expr &e) {
    return e.select(e.binary(ScalarOp::Lt, e.input(0), e.input(1)),
                    e.binary(ScalarOp::Mul, e.input(0), e.constant(2)), e.input(2));
  });
  ASSERT_TRUE(doubled.plan);
  EXPECT_EQ(doubled.plan->steps.size(), 3U);
  EXPECT_EQ(run(*doubled.plan, {1, 2, 7}), 2);
  EXPECT_EQ(run(*doubled.plan, {3, 2, 7}), 7);
}

TEST(MapSelect, BroadcastOperandsAreNeverOperandA) {
  // y is one lane: exp(x - y), and y - x.
  const std::vector<MapOperand> operands = {{}, {.broadcast = true}};
  for (const bool reversed : {false, true}) {
    const auto s = select(
        [&](Expr &e) {
          const NodeId x = e.input(0), y = e.input(1);
          return exp(e, e.binary(ScalarOp::Sub, reversed ? y : x, reversed ? x : y));
        },
        operands);
    ASSERT_TRUE(s.plan);
    ASSERT_EQ(s.plan->steps.size(), 1U);
    EXPECT_EQ(s.plan->steps[0].a, (Source{Source::Kind::Operand, 0, 0}));
    EXPECT_TRUE(s.plan->steps[0].step.bBroadcast);
    EXPECT_EQ(run(*s.plan, {2, 2, 0}), 1);
  }
}

TEST(MapSelect, FreshProductsEnterAsOperandA) {
  const std::vector<MapOperand> operands = {{}, {.fusable = true}};
  const auto s = select(
      [](Expr &e) { return e.binary(ScalarOp::Mul, e.input(0), tanh(e, e.input(1))); }, operands);
  ASSERT_TRUE(s.plan);
  EXPECT_EQ(s.plan->steps.size(), 1U);
  EXPECT_EQ(s.plan->steps[0].a.index, 1U);
  const auto sum =
      select([](Expr &e) { return e.binary(ScalarOp::Add, e.input(0), e.input(1)); }, operands);
  EXPECT_EQ(sum.plan->steps[0].a.index, 1U);
}

TEST(MapSelect, NamesWhatItCannotCompute) {
  const auto s = select([](Expr &e) { return e.call(Function::Atan2, {e.input(0), e.input(1)}); });
  EXPECT_FALSE(s.plan);
  EXPECT_EQ(s.why, "math.atan2");
}

} // namespace
} // namespace sluice::rows
