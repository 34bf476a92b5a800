// The bound on weight blocks: how many blocks it is sure of, and what it does not count.
#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <set>

#include "compiler/conversion/rows/weight_bound.h"
#include "harness.h"

namespace sluice::rows::test {
namespace {

using Weight = std::function<double(int row, int column)>;

/// Random weights between -1 and 1, none of them zero.
double noise(int row, int column) {
  std::mt19937 random(static_cast<unsigned>(row * 1000 + column));
  return std::uniform_real_distribution<double>(0.25, 1)(random) * (random() % 2 == 0 ? 1 : -1);
}

/// Others.
double more(int row, int column) { return noise(row + 500, column); }

std::string constant(const std::string &name, int rows, int columns, const Weight &weight) {
  std::string text = "  " + name + " = sluice.constant dense<[";
  for (int r = 0; r < rows; ++r) {
    text += r == 0 ? "[" : ", [";
    for (int c = 0; c < columns; ++c)
      text += (c == 0 ? "" : ", ") + std::to_string(weight(r, c));
    text += "]";
  }
  const std::string shape = std::to_string(rows) + "x" + std::to_string(columns);
  return text + "]> : tensor<" + shape + "xf32>\n";
}

std::string type(int columns) {
  return "tensor<1x" + std::to_string(columns) + "xbf16, #sluice.dim<1>>";
}

std::string product(const std::string &name, const std::string &x, int rows, int columns,
                    const Weight &weight = noise) {
  const std::string w = name + "_w";
  return constant(w, rows, columns, weight) + "  " + name + " = sluice.matmul " + x + ", " + w +
         " : (" + type(rows) + ", tensor<" + std::to_string(rows) + "x" + std::to_string(columns) +
         "xf32>) -> " + type(columns) + "\n";
}

/// A product with a constant for each element.
std::string scaled(const std::string &name, const std::string &x, int columns,
                   const Weight &factor) {
  const std::string by = name + "_by";
  return constant(by, 1, columns, factor) + "  " + name + " = sluice.map (%a = " + x +
         ", %b = " + by + ") : (" + type(columns) + ", tensor<1x" + std::to_string(columns) +
         "xf32>) -> " + type(columns) +
         " {\n    %p = arith.mulf %a, %b : f32\n    sluice.yield %p\n  }\n";
}

std::string function(int inputs, const std::string &body, int outputs) {
  return "func.func @main(%x: " + type(inputs) + ") -> " + type(outputs) + " {\n" + body +
         "  return %y : " + type(outputs) + "\n}";
}

/// Blocks of the rows that the model is lowered to.
size_t stored(const Model &model) {
  std::set<uint32_t> blocks;
  for (const Row &row : model.graph->rows)
    for (const Term &term : row.terms)
      blocks.insert(term.block);
  return blocks.size();
}

/// Expects a bound, and that the rows of the model have so many blocks.
void expect(const std::string &text, uint64_t bound, size_t blocks) {
  const Model model(text);
  ASSERT_TRUE(model.graph) << text;
  EXPECT_EQ(weightBound(model.main(), 8).blocks, bound);
  EXPECT_EQ(stored(model), blocks);
}

TEST(WeightBound, CountsTheBlocksOfRandomWeights) {
  expect(function(16, product("%y", "%x", 16, 24), 24), 6, 6);
}

TEST(WeightBound, CountsEqualWeightsOnce) {
  const auto repeats = [](int row, int column) { return noise(row % 8, column % 8); };
  expect(function(16, product("%y", "%x", 16, 24, repeats), 24), 1, 1);
  // A factor behind the product may be all that differs.
  const auto negated = [](int row, int column) {
    return (column % 16 < 8 ? 1 : -2) * noise(row % 8, column % 8);
  };
  expect(function(16, product("%y", "%x", 16, 24, negated), 24), 1, 2);
}

/// Eight lanes have 128 patterns of signs, which are 16 blocks.
TEST(WeightBound, CountsLinesOfEqualSignsByTheirRatios) {
  const auto wide = [](int row, int column) { return noise(row, column) * noise(column, row); };
  const std::string text = function(8, product("%y", "%x", 8, 512, wide), 512);
  const Model model(text);
  ASSERT_TRUE(model.graph);
  const uint64_t bound = weightBound(model.main(), 8).blocks;
  EXPECT_EQ(stored(model), 64U);
  EXPECT_GT(bound, 32U);
  EXPECT_LE(bound, 64U);
}

/// What rounding to bf16 changes of a ratio makes no other pattern.
TEST(WeightBound, CountsEqualRatiosOnce) {
  const auto rounded = [](int row, int column) {
    const int copy = column / 64;
    return noise(row, column % 64) * (1 + copy) * (1 + 0.003 * (row % 2));
  };
  const auto once = [](int row, int column) { return noise(row, column % 64); };
  const Model model(function(8, product("%y", "%x", 8, 512, rounded), 512)),
      equal(function(8, product("%y", "%x", 8, 512, once), 512));
  EXPECT_LE(weightBound(model.main(), 8).blocks, 8U);
  EXPECT_EQ(stored(equal), 8U);
}

TEST(WeightBound, CountsNoRatiosBehindFactorsThatDiffer) {
  const auto wide = [](int row, int column) { return noise(row, column) * noise(column, row); };
  const auto positive = [](int, int column) { return 1 + column; };
  const std::string then = product("%y", "%h", 8, 512, wide);
  EXPECT_LE(
      weightBound(Model(function(8, scaled("%h", "%x", 8, positive) + then, 512)).main(), 8).blocks,
      16U);
}

TEST(WeightBound, CountsNoZeros) {
  const auto diagonal = [](int row, int column) {
    return row / 8 == column / 8 ? noise(row, column) : 0;
  };
  expect(function(24, product("%y", "%x", 24, 24, diagonal), 24), 3, 3);
}

TEST(WeightBound, CountsWeightsBehindARowOnlyIfItIsRead) {
  // The second product reads the first 8 of 16 elements.
  const auto upper = [](int row, int column) { return row < 8 ? more(row, column) : 0; };
  expect(function(8, product("%h", "%x", 8, 16) + product("%y", "%h", 16, 8, upper), 8), 1, 2);
  expect(function(8, product("%h", "%x", 8, 16) + product("%y", "%h", 16, 8, more), 8), 4, 4);
}

TEST(WeightBound, CountsWhatASliceSelects) {
  const std::string slice = "  %y = sluice.slice %h starts [0, 8] sizes [1, 8] steps [1, 1] : (" +
                            type(24) + ") -> " + type(8) + "\n";
  expect(function(8, product("%h", "%x", 8, 24) + slice, 8), 1, 1);
}

TEST(WeightBound, CountsNoWeightsThatAFactorBehindMayClear) {
  const auto mask = [](int, int column) { return column < 8 ? 1.5 : 0; };
  const auto factors = [](int, int column) { return column % 2 == 0 ? 1.5 : -0.5; };
  expect(function(8, product("%h", "%x", 8, 16) + scaled("%y", "%h", 16, mask), 16), 0, 1);
  expect(function(8, product("%h", "%x", 8, 16) + scaled("%y", "%h", 16, factors), 16), 2, 2);
}

TEST(WeightBound, CountsNoWeightsThatAFactorBeforeMayClearOrNegate) {
  const auto mask = [](int, int column) { return column < 8 ? 1.5 : 0; };
  const auto signs = [](int, int column) { return column % 2 == 0 ? 1.5 : -0.5; };
  const auto positive = [](int, int column) { return 1 + column; };
  const std::string then = product("%y", "%h", 16, 8);
  expect(function(16, scaled("%h", "%x", 16, mask) + then, 8), 0, 1);
  expect(function(16, scaled("%h", "%x", 16, signs) + then, 8), 0, 2);
  expect(function(16, scaled("%h", "%x", 16, positive) + then, 8), 2, 2);
}

TEST(WeightBound, CountsNoWeightsOfAnElementThatIsReadTwice) {
  const std::string twice = "  %h = sluice.concat %x, %x axis 1 : (" + type(8) + ", " + type(8) +
                            ") -> " + type(16) + "\n";
  expect(function(8, twice + product("%y", "%h", 16, 8), 8), 0, 1);
}

TEST(WeightBound, CountsTheLineOfAScalar) {
  const std::string weights = "  %w = sluice.constant dense<[1.0, -2.0, 3.0]> : tensor<3xf32>\n";
  expect("func.func @main(%x: tensor<3xbf16, #sluice.dim<0>>) -> tensor<bf16, #sluice.dim<0>> {\n" +
             weights +
             "  %y = sluice.matmul %x, %w : (tensor<3xbf16, #sluice.dim<0>>, tensor<3xf32>) -> "
             "tensor<bf16, #sluice.dim<0>>\n"
             "  return %y : tensor<bf16, #sluice.dim<0>>\n}",
         1, 1);
}

TEST(WeightBound, FollowsElementsThroughViewsToTheRowsTheyAreIn) {
  const std::string reversed =
      "  %h = sluice.slice %x starts [0, 15] sizes [1, 16] steps [1, -1] : (" + type(16) + ") -> " +
      type(16) + "\n";
  expect(function(16, reversed + product("%y", "%h", 16, 8), 8), 2, 2);
}

/// A function with a state that keeps its input.
std::string withState(int columns, const std::string &body, int outputs) {
  return function(columns,
                  "  %s = sluice.state : " + type(columns) + "\n" + body +
                      "  %k = sluice.keep %x in %s : (" + type(columns) + ", " + type(columns) +
                      ") -> " + type(columns) + "\n",
                  outputs);
}

TEST(WeightBound, CountsTheWeightsOfAState) {
  expect(withState(16, product("%y", "%s", 16, 24), 24), 6, 6);
  const auto repeats = [](int row, int column) { return noise(row % 8, column % 8); };
  expect(withState(16, product("%y", "%s", 16, 24, repeats), 24), 1, 1);
}

/// A form of the model may multiply the weights of other rows with factors.
TEST(WeightBound, CountsOfAModelWithAStateOnlyTheWeightsOfStates) {
  const std::string sum = product("%a", "%s", 16, 24) + product("%b", "%x", 16, 24, more) +
                          "  %y = sluice.map (%l = %a, %r = %b) : (" + type(24) + ", " + type(24) +
                          ") -> " + type(24) +
                          " {\n    %p = arith.addf %l, %r : f32\n    sluice.yield %p\n  }\n";
  expect(withState(16, sum, 24), 6, 12);
  const std::string both = "  %h = sluice.concat %s, %x axis 1 : (" + type(8) + ", " + type(8) +
                           ") -> " + type(16) + "\n";
  expect(withState(8, both + product("%y", "%h", 16, 8), 8), 1, 2);
  // One row of the concatenation holds elements of the state and others.
  const std::string mixed = "  %h = sluice.concat %s, %x axis 1 : (" + type(4) + ", " + type(4) +
                            ") -> " + type(8) + "\n";
  EXPECT_EQ(weightBound(Model(withState(4, mixed + product("%y", "%h", 8, 8), 8)).main(), 8).blocks,
            0U);
}

TEST(WeightBound, SaysWhichProductsNeedMost) {
  const Model model(
      function(16, product("%h", "%x", 16, 32) + product("%y", "%h", 32, 32, more), 32));
  const WeightBound bound = weightBound(model.main(), 16);
  EXPECT_EQ(bound.blocks, 6U);
  ASSERT_EQ(bound.products.size(), 2U);
  EXPECT_EQ(bound.products[0].blocks, 4);
  EXPECT_EQ(bound.products[1].blocks, 2);
}

} // namespace
} // namespace sluice::rows::test
