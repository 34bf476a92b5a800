// The bound on rows of constants: how many rows it is sure of, and what it does not count.
#include "compiler/conversion/rows/constant_bound.h"

#include <functional>
#include <string>

#include <gtest/gtest.h>

#include "compiler/conversion/plan/order/least_memory.h"
#include "compiler/conversion/plan/order/work.h"
#include "harness.h"

namespace sluice::rows::test {
namespace {

constexpr uint64_t kAll = 1U << 20;

/// Weights [24, 16] times activations [16, 10] that lie along their last axis, which the result
/// keeps: the activations become weights.
std::string product(const std::function<double(int row, int column)> &weight,
                    const std::string &result = "%p") {
  std::string text = "func.func @main(%x: tensor<16x10xbf16, #sluice.dim<1>>) -> "
                     "tensor<24x10xbf16, #sluice.dim<1>> {\n  %w = sluice.constant dense<[";
  for (int row = 0; row < 24; ++row) {
    text += row == 0 ? "[" : ", [";
    for (int column = 0; column < 16; ++column)
      text += (column == 0 ? "" : ", ") + std::to_string(weight(row, column));
    text += "]";
  }
  return text +
         "]> : tensor<24x16xf32>\n  %p = sluice.matmul %w, %x : (tensor<24x16xf32>, "
         "tensor<16x10xbf16, #sluice.dim<1>>) -> tensor<24x10xbf16, #sluice.dim<1>>\n  %z = "
         "sluice.constant dense<0.0> : tensor<24x10xf32>\n  %n = sluice.map (%a = %p, %b = %z) : "
         "(tensor<24x10xbf16, #sluice.dim<1>>, tensor<24x10xf32>) -> tensor<24x10xbf16, "
         "#sluice.dim<1>> {\n    %m = arith.mulf %a, %b : f32\n    sluice.yield %m\n  }\n"
         "  return " +
         result + " : tensor<24x10xbf16, #sluice.dim<1>>\n}";
}

/// Expects a bound on eight lanes, and that the rows of the model hold so many constants.
void expect(const std::string &text, uint64_t bound, uint64_t stored) {
  const Model model(text);
  ASSERT_TRUE(model.graph) << text;
  BoundFacts facts(model.main());
  const ConstantBound found = constantBound(facts, 8, kAll);
  EXPECT_EQ(found.rows, bound);
  EXPECT_EQ(found.nodes.size(), bound == 0 ? 0U : 1U);
  EXPECT_EQ(plan::leastMemory(*model.graph, plan::analyse(*model.graph)).constantRows, stored);
}

TEST(ConstantBound, CountsTheRowsThatAProductReads) {
  // 24 lines of 16 weights, each in two rows of eight lanes.
  expect(product([](int row, int column) { return 1 + row * 16 + column; }), 48, 48);
}

TEST(ConstantBound, CountsEqualRowsOnce) {
  expect(product([](int row, int column) { return 1 + row % 6 * 16 + column; }), 12, 12);
  // In bf16 they are equal.
  expect(product([](int row, int column) { return 256 + 2 * column + row / 1024.0; }), 2, 2);
}

TEST(ConstantBound, CountsNoRowsOfZeros) {
  expect(product([](int row, int column) { return row < 12 ? 0 : 1 + row * 16 + column; }), 24, 25);
}

TEST(ConstantBound, CountsNothingThatMayBeLeftOut) {
  const Model model(product([](int row, int column) { return 1 + row * 16 + column; }, "%n"));
  BoundFacts facts(model.main());
  EXPECT_EQ(constantBound(facts, 8, kAll).rows, 0U);
}

TEST(ConstantBound, EndsAtTheMost) {
  const Model model(product([](int row, int column) { return 1 + row * 16 + column; }));
  BoundFacts facts(model.main());
  EXPECT_EQ(constantBound(facts, 8, 20).rows, 20U);
}

} // namespace
} // namespace sluice::rows::test
