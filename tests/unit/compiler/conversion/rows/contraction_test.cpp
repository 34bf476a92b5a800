// Contractions: both orders, batch axes, vectors, and what is folded into them.
#include <gtest/gtest.h>

#include <numeric>

#include "compiler/conversion/rows/contraction_loops.h"
#include "compiler/conversion/scalar/table_builder.h"
#include "compiler/reference/ops.h"
#include "compiler/support/problem.h"
#include "harness.h"

namespace sluice::rows::test {
namespace {

/// `rows` x `columns` constant with a pattern of values that bf16 holds.
std::string weights(int rows, int columns, bool flat = false) {
  std::string text = "dense<[";
  for (int r = 0; r < rows; ++r) {
    text += flat ? "" : "[";
    for (int c = 0; c < columns; ++c)
      text += std::to_string(((r * 7 + c * 3) % 11 - 5) * 0.125) + (c + 1 < columns ? "," : "");
    text += flat ? "" : (r + 1 < rows ? "]," : "]");
  }
  return text + "]>";
}

std::string function(const std::string &arguments, const std::string &body,
                     const std::string &result, const std::string &type) {
  return "func.func @main(" + arguments + ") -> " + type + " {\n" + body + "\n  return " + result +
         " : " + type + "\n}";
}

TEST(Contraction, WeightsOnTheRight) {
  Model model(function("%x: tensor<3x20xbf16, #sluice.dim<1>>",
                       "%w = sluice.constant " + weights(20, 11) + " : tensor<20x11xf32>" + R"(
    %y = sluice.matmul %x, %w : (tensor<3x20xbf16, #sluice.dim<1>>, tensor<20x11xf32>)
           -> tensor<3x11xbf16, #sluice.dim<1>>)",
                       "%y", "tensor<3x11xbf16, #sluice.dim<1>>"));
  ASSERT_TRUE(model.graph);
  EXPECT_EQ(model.computed(), 3U * 2);
  EXPECT_EQ(model.graph->blocks.size(), 3U * 2); // shared by the three rows
  EXPECT_EQ(model.graph->macs, 3U * 20 * 10);    // every eleventh weight is 0
  EXPECT_LT(model.error(), 0.004);
}

TEST(Contraction, WeightsOnTheLeftWithBatch) {
  Model model(function("%x: tensor<2x20x3xbf16, #sluice.dim<1>>",
                       "%w = sluice.constant " + weights(9, 20) + " : tensor<9x20xf32>" + R"(
    %y = sluice.matmul %w, %x : (tensor<9x20xf32>, tensor<2x20x3xbf16, #sluice.dim<1>>)
           -> tensor<2x9x3xbf16, #sluice.dim<1>>)",
                       "%y", "tensor<2x9x3xbf16, #sluice.dim<1>>"));
  ASSERT_TRUE(model.graph);
  EXPECT_EQ(model.computed(), 2U * 3 * 2);
  EXPECT_EQ(model.graph->blocks.size(), 3U * 2);
  EXPECT_LT(model.error(), 0.004);
}

TEST(Contraction, VectorOperand) {
  Model model(function("%x: tensor<12xbf16, #sluice.dim<0>>",
                       "%w = sluice.constant " + weights(12, 5) + " : tensor<12x5xf32>" + R"(
    %y = sluice.matmul %x, %w : (tensor<12xbf16, #sluice.dim<0>>, tensor<12x5xf32>)
           -> tensor<5xbf16, #sluice.dim<0>>)",
                       "%y", "tensor<5xbf16, #sluice.dim<0>>"));
  ASSERT_TRUE(model.graph);
  EXPECT_EQ(model.computed(), 1U);
  EXPECT_LT(model.error(), 0.004);
}

TEST(Contraction, GeneralLoops) {
  Model model(function("%x: tensor<2x10xbf16, #sluice.dim<1>>",
                       "%w = sluice.constant " + weights(4, 10) + " : tensor<4x10xf32>" + R"(
    %y = sluice.contract [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>,
                          affine_map<(i, j, k) -> (i, j)>] %x, %w
           : (tensor<2x10xbf16, #sluice.dim<1>>, tensor<4x10xf32>)
           -> tensor<2x4xbf16, #sluice.dim<1>>)",
                       "%y", "tensor<2x4xbf16, #sluice.dim<1>>"));
  ASSERT_TRUE(model.graph);
  EXPECT_EQ(model.computed(), 2U);
  EXPECT_LT(model.error(), 0.004);
}

/// Gemm and activation: one row each, the bias unrounded.
TEST(Contraction, BiasAndActivationAreFused) {
  Model model(function("%x: tensor<1x20xbf16, #sluice.dim<1>>",
                       "%w = sluice.constant " + weights(20, 11) + " : tensor<20x11xf32>" +
                           "%b = sluice.constant " + weights(1, 11) + " : tensor<1x11xf32>" + R"(
    %m = sluice.matmul %x, %w : (tensor<1x20xbf16, #sluice.dim<1>>, tensor<20x11xf32>)
           -> tensor<1x11xbf16, #sluice.dim<1>>
    %s = sluice.map (%l = %m, %r = %b)
           : (tensor<1x11xbf16, #sluice.dim<1>>, tensor<1x11xf32>)
           -> tensor<1x11xbf16, #sluice.dim<1>> {
      %0 = arith.addf %l, %r : f32
      sluice.yield %0
    }
    %y = sluice.map (%l = %s) : (tensor<1x11xbf16, #sluice.dim<1>>)
           -> tensor<1x11xbf16, #sluice.dim<1>> {
      %0 = math.tanh %l : f32
      sluice.yield %0
    })",
                       "%y", "tensor<1x11xbf16, #sluice.dim<1>>"));
  ASSERT_TRUE(model.graph);
  EXPECT_EQ(model.count(RowKind::Linear), 2U);
  EXPECT_EQ(model.computed(), 2U);
  EXPECT_EQ(model.count(RowKind::Constant), 0U);
  EXPECT_LT(model.error(), 0.006);
}

/// y * s + o per output channel goes into weights and bias.
TEST(Contraction, ScaleBehindGoesIntoTheWeights) {
  Model model(function("%x: tensor<2x8xbf16, #sluice.dim<1>>",
                       "%w = sluice.constant " + weights(8, 8) + " : tensor<8x8xf32>" +
                           "%s = sluice.constant " + weights(2, 8) + " : tensor<2x8xf32>" + R"(
    %c = sluice.constant dense<[[1.,2.,3.,4.,5.,6.,7.,8.],[1.,2.,3.,4.,5.,6.,7.,8.]]> : tensor<2x8xf32>
    %m = sluice.matmul %x, %w : (tensor<2x8xbf16, #sluice.dim<1>>, tensor<8x8xf32>)
           -> tensor<2x8xbf16, #sluice.dim<1>>
    %y = sluice.map (%l = %m, %q = %c, %r = %s)
           : (tensor<2x8xbf16, #sluice.dim<1>>, tensor<2x8xf32>, tensor<2x8xf32>)
           -> tensor<2x8xbf16, #sluice.dim<1>> {
      %k = arith.constant 0.5 : f32
      %0 = arith.divf %l, %q : f32
      %1 = arith.subf %r, %0 : f32
      %2 = arith.mulf %1, %k : f32
      sluice.yield %2
    })",
                       "%y", "tensor<2x8xbf16, #sluice.dim<1>>"));
  ASSERT_TRUE(model.graph);
  EXPECT_EQ(model.computed(), 2U);
  EXPECT_EQ(model.graph->rows.size(), 4U);
  EXPECT_LT(model.error(), 0.006);
}

/// (x - mean) / deviation before a product folds into it, also through a view.
TEST(Contraction, NormalisationBeforeGoesIntoTheWeights) {
  Model model(function("%x: tensor<1x4x3xbf16, #sluice.dim<2>>",
                       R"(%c = sluice.constant dense<10.> : tensor<1x4x3xf32>
    %d = sluice.constant dense<[[[0.5,0.25,2.],[0.5,0.25,2.],[0.5,0.25,2.],[0.5,0.25,2.]]]> : tensor<1x4x3xf32>
    %n = sluice.map (%l = %x, %q = %c, %r = %d)
           : (tensor<1x4x3xbf16, #sluice.dim<2>>, tensor<1x4x3xf32>, tensor<1x4x3xf32>)
           -> tensor<1x4x3xbf16, #sluice.dim<2>> {
      %0 = arith.subf %l, %q : f32
      %1 = arith.mulf %0, %r : f32
      sluice.yield %1
    }
    %f = sluice.slice %n starts [0, 2, 0] sizes [1, 1, 3] steps [1, 1, 1]
           : (tensor<1x4x3xbf16, #sluice.dim<2>>) -> tensor<1x1x3xbf16, #sluice.dim<2>>
    %g = sluice.reshape %f : (tensor<1x1x3xbf16, #sluice.dim<2>>)
           -> tensor<1x3xbf16, #sluice.dim<1>>
    %w = sluice.constant )" +
                           weights(3, 5) + R"( : tensor<3x5xf32>
    %y = sluice.matmul %g, %w : (tensor<1x3xbf16, #sluice.dim<1>>, tensor<3x5xf32>)
           -> tensor<1x5xbf16, #sluice.dim<1>>)",
                       "%y", "tensor<1x5xbf16, #sluice.dim<1>>"));
  ASSERT_TRUE(model.graph);
  EXPECT_EQ(model.computed(), 1U);
  EXPECT_LT(model.error(9, 11), 0.004);
}

/// Lanes moved before a product are moved by its weights.
TEST(Contraction, SelectionGoesIntoTheWeights) {
  Model model(
      function("%x: tensor<1x20xbf16, #sluice.dim<1>>, %z: tensor<1x3xbf16, #sluice.dim<1>>",
               R"(%s = sluice.slice %x starts [0, 17] sizes [1, 6] steps [1, -3]
           : (tensor<1x20xbf16, #sluice.dim<1>>) -> tensor<1x6xbf16, #sluice.dim<1>>
    %c = sluice.concat %s, %z axis 1 : (tensor<1x6xbf16, #sluice.dim<1>>,
           tensor<1x3xbf16, #sluice.dim<1>>) -> tensor<1x9xbf16, #sluice.dim<1>>
    %w = sluice.constant )" +
                   weights(9, 4) + R"( : tensor<9x4xf32>
    %y = sluice.matmul %c, %w : (tensor<1x9xbf16, #sluice.dim<1>>, tensor<9x4xf32>)
           -> tensor<1x4xbf16, #sluice.dim<1>>)",
               "%y", "tensor<1x4xbf16, #sluice.dim<1>>"));
  ASSERT_TRUE(model.graph);
  EXPECT_EQ(model.computed(), 1U);
  EXPECT_LT(model.error(), 0.004);
}

/// Elements of a border and weights that are 0 take no time: utilisation is at most 100 %.
TEST(Contraction, MultiplyAccumulatesAreWhatTheArrayDoes) {
  Model model(function("%x: tensor<1x3x4xbf16, #sluice.dim<2>>", R"(
    %c = sluice.constant dense<0.> : tensor<1x1x4xf32>
    %p = sluice.concat %c, %x axis 1 : (tensor<1x1x4xf32>, tensor<1x3x4xbf16, #sluice.dim<2>>)
           -> tensor<1x4x4xbf16, #sluice.dim<2>>
    %w = sluice.constant dense<[[1.,0.,0.,0.],[0.,1.,0.,0.],[0.,0.,1.,2.],[0.,0.,3.,4.]]> : tensor<4x4xf32>
    %y = sluice.matmul %p, %w : (tensor<1x4x4xbf16, #sluice.dim<2>>, tensor<4x4xf32>)
           -> tensor<1x4x4xbf16, #sluice.dim<2>>)",
                       "%y", "tensor<1x4x4xbf16, #sluice.dim<2>>"));
  ASSERT_TRUE(model.graph);
  EXPECT_EQ(model.graph->macs, 3U * 6);
  EXPECT_LT(model.error(), 0.004);
}

TEST(Contraction, ZeroBlocksAreDropped) {
  Model model(function("%x: tensor<16xbf16, #sluice.dim<0>>", R"(
    %w = sluice.constant dense<[[1.,0.,0.,0.,0.,0.,0.,0.,0.,0.,0.,0.,0.,0.,0.,0.],
                                [0.,2.,0.,0.,0.,0.,0.,0.,0.,0.,0.,0.,0.,0.,0.,0.]]> : tensor<2x16xf32>
    %y = sluice.matmul %w, %x : (tensor<2x16xf32>, tensor<16xbf16, #sluice.dim<0>>)
           -> tensor<2xbf16, #sluice.dim<0>>)",
                       "%y", "tensor<2xbf16, #sluice.dim<0>>"));
  ASSERT_TRUE(model.graph);
  EXPECT_EQ(model.graph->rows.back().terms.size(), 1U);
  EXPECT_LT(model.error(), 1e-9);
}

/// Weights that bf16 does not hold err in the same direction here; the bias
/// takes that back where the input is zero, and nearly so around it.
TEST(Contraction, BiasCorrectsRoundedWeights) {
  Model model(function("%x: tensor<16xbf16, #sluice.dim<0>>", R"(
    %w = sluice.constant dense<0.3331> : tensor<4x16xf32>
    %b = sluice.constant dense<[1.0, -5.0, -5.5, 0.125]> : tensor<4xf32>
    %a = sluice.map (%l = %x) : (tensor<16xbf16, #sluice.dim<0>>) -> tensor<16xbf16, #sluice.dim<0>> {
      %one = arith.constant 1.0 : f32
      %0 = arith.maximumf %l, %one : f32
      sluice.yield %0
    }
    %m = sluice.matmul %w, %a : (tensor<4x16xf32>, tensor<16xbf16, #sluice.dim<0>>)
           -> tensor<4xbf16, #sluice.dim<0>>
    %y = sluice.map (%l = %m, %r = %b) : (tensor<4xbf16, #sluice.dim<0>>, tensor<4xf32>)
           -> tensor<4xbf16, #sluice.dim<0>> {
      %0 = arith.addf %l, %r : f32
      sluice.yield %0
    })",
                       "%y", "tensor<4xbf16, #sluice.dim<0>>"));
  ASSERT_TRUE(model.graph);
  const std::vector<reference::Tensor> zero = {reference::Tensor({16})};
  const auto found = model.run(zero), wanted = model.golden(zero);
  // Without the correction the last place of -5.5 + 5.33 is far off.
  for (size_t i = 0; i < 4; ++i)
    EXPECT_EQ(found[0].values[i], bf16ToDouble(roundToBf16(wanted[0].values[i]))) << i;
}

/// Two products behind each other over `positions` rows, with a bias behind the second; the
/// first is node 0.
std::string twoProducts(int positions) {
  const std::string n = std::to_string(positions);
  const std::string row = "tensor<" + n + "x8xbf16, #sluice.dim<1>>";
  return "#first = loc(fused<#sluice.node<0, \"fc\", \"Gemm\">>[unknown])\n" +
         function(
             "%x: " + row,
             "%s = sluice.constant dense<1.0> : tensor<" + n + "x8xf32>\n" +
                 "%w = sluice.constant dense<0.3331> : tensor<8x8xf32>\n" +
                 "%b = sluice.constant dense<-2.6> : tensor<" + n + "x8xf32>\n" +
                 "%a = sluice.map (%l = %x, %r = %s) : (" + row + ", tensor<" + n + "x8xf32>) -> " +
                 row + " {\n%0 = arith.maximumf %l, %r : f32\nsluice.yield %0\n}\n" +
                 "%h = sluice.matmul %a, %w : (" + row + ", tensor<8x8xf32>) -> " + row +
                 " loc(#first)\n%m = sluice.matmul %h, %w : (" + row + ", tensor<8x8xf32>) -> " +
                 row + "\n" + "%y = sluice.map (%l = %m, %r = %b) : (" + row + ", tensor<" + n +
                 "x8xf32>) -> " + row + " {\n%0 = arith.addf %l, %r : f32\nsluice.yield %0\n}",
             "%y", row);
}

/// What a model's rows are compared by: the bits of all biases.
std::vector<std::vector<float>> biasesOf(const Model &model) {
  std::vector<std::vector<float>> biases;
  for (const Row &row : model.graph->rows)
    biases.push_back(row.bias.lanes());
  return biases;
}

/// A hidden layer whose typical values are large, and which is 0 for an input: the result is the
/// bias, but for 2^-8 of it, whatever the weights of the typical values are rounded to.
TEST(Contraction, TypicalValuesLeaveABiasWhereALayerIsZero) {
  Model model(function("%x: tensor<1x8xbf16, #sluice.dim<1>>", R"(
    %w = sluice.constant dense<-1000.0> : tensor<8x8xf32>
    %b = sluice.constant dense<300.0> : tensor<1x8xf32>
    %v = sluice.constant dense<0.0100250244> : tensor<8x2xf32>
    %c = sluice.constant dense<0.5> : tensor<1x2xf32>
    %p = sluice.matmul %x, %w : (tensor<1x8xbf16, #sluice.dim<1>>, tensor<8x8xf32>)
           -> tensor<1x8xbf16, #sluice.dim<1>>
    %h = sluice.map (%l = %p, %r = %b) : (tensor<1x8xbf16, #sluice.dim<1>>, tensor<1x8xf32>)
           -> tensor<1x8xbf16, #sluice.dim<1>> {
      %zero = arith.constant 0.0 : f32
      %0 = arith.addf %l, %r : f32
      %1 = arith.maximumf %0, %zero : f32
      sluice.yield %1
    }
    %q = sluice.matmul %h, %v : (tensor<1x8xbf16, #sluice.dim<1>>, tensor<8x2xf32>)
           -> tensor<1x2xbf16, #sluice.dim<1>>
    %y = sluice.map (%l = %q, %r = %c) : (tensor<1x2xbf16, #sluice.dim<1>>, tensor<1x2xf32>)
           -> tensor<1x2xbf16, #sluice.dim<1>> {
      %0 = arith.addf %l, %r : f32
      sluice.yield %0
    })",
                       "%y", "tensor<1x2xbf16, #sluice.dim<1>>"));
  ASSERT_TRUE(model.graph);
  EXPECT_LT(model.error(1, 2), 0.004);  // the layer is 0
  EXPECT_LT(model.error(-2, 2), 0.008); // and is not
}

/// The typical value of a difference is small although that of its row is large: the offset is
/// multiplied by the same rounded weight as the row.
TEST(Contraction, TypicalValuesCountOffsets) {
  Model model(function("%x: tensor<1x8xbf16, #sluice.dim<1>>", R"(
    %b = sluice.constant dense<300.0> : tensor<1x8xf32>
    %o = sluice.constant dense<298.0> : tensor<1x8xf32>
    %v = sluice.constant dense<0.0100250244> : tensor<8x2xf32>
    %u = sluice.constant dense<0.000244140625> : tensor<8x2xf32>
    %h = sluice.map (%l = %x, %r = %b) : (tensor<1x8xbf16, #sluice.dim<1>>, tensor<1x8xf32>)
           -> tensor<1x8xbf16, #sluice.dim<1>> {
      %0 = arith.maximumf %l, %r : f32
      sluice.yield %0
    }
    %d = sluice.map (%l = %h, %r = %o) : (tensor<1x8xbf16, #sluice.dim<1>>, tensor<1x8xf32>)
           -> tensor<1x8xbf16, #sluice.dim<1>> {
      %0 = arith.subf %l, %r : f32
      sluice.yield %0
    }
    %p = sluice.matmul %d, %v : (tensor<1x8xbf16, #sluice.dim<1>>, tensor<8x2xf32>)
           -> tensor<1x2xbf16, #sluice.dim<1>>
    %q = sluice.matmul %h, %u : (tensor<1x8xbf16, #sluice.dim<1>>, tensor<8x2xf32>)
           -> tensor<1x2xbf16, #sluice.dim<1>>
    %y = sluice.map (%l = %p, %r = %q) : (tensor<1x2xbf16, #sluice.dim<1>>, tensor<1x2xbf16, #sluice.dim<1>>)
           -> tensor<1x2xbf16, #sluice.dim<1>> {
      %0 = arith.addf %l, %r : f32
      sluice.yield %0
    })",
                       "%y", "tensor<1x2xbf16, #sluice.dim<1>>"));
  ASSERT_TRUE(model.graph);
  EXPECT_LT(model.error(300, 2), 0.004); // the result is 0.16 + 0.59
}

/// Beyond the budget typical values come from some positions, which is said; where all
/// positions are alike, that changes nothing.
TEST(Contraction, TypicalValuesAreSampledBeyondTheBudget) {
  const Model exact(twoProducts(6)), sampled(twoProducts(6), 8, {130, nullptr});
  ASSERT_TRUE(exact.graph);
  ASSERT_TRUE(sampled.graph);
  EXPECT_TRUE(exact.notes.empty());
  EXPECT_EQ(sampled.notes,
            std::vector<std::string>{"the bias correction for rounded weights of node 0 \"fc\" "
                                     "(Gemm) samples 2 of 6 positions"});
  EXPECT_EQ(biasesOf(exact), biasesOf(sampled));
}

TEST(Contraction, SamplesAreEvenlySpaced) {
  Loops loops;
  loops.extents = {5, 2, 3}; // positions, results, summed
  loops.lhs = {3, 0, 1};
  loops.rhs = {0, 1, 2};
  loops.result = {2, 1, 0};
  reference::Tensor left({5, 3}), right({3, 2});
  std::iota(left.values.begin(), left.values.end(), 1);
  std::iota(right.values.begin(), right.values.end(), 1);
  const Sampled all = sampleContraction(loops, true, left, right, {5, 2}, 30);
  EXPECT_EQ(all.result, reference::matmul(left, right));
  EXPECT_EQ(std::pair(all.sampled, all.positions), std::pair(int64_t{5}, int64_t{5}));
  const Sampled two = sampleContraction(loops, true, left, right, {5, 2}, 17);
  EXPECT_EQ(two.sampled, 2);
  for (int64_t position = 0; position < 5; ++position)
    for (int64_t i = 0; i < 2; ++i) // of positions 0 and 2
      EXPECT_EQ(two.result.values[position * 2 + i],
                all.result.values[(position < 2 ? 0 : 2) * 2 + i]);
  EXPECT_EQ(sampleContraction(loops, true, left, right, {5, 2}, 0).sampled, 1);
}

TEST(Contraction, RefusesNonFiniteWeights) {
  Model model(function("%x: tensor<2xbf16, #sluice.dim<0>>", R"(
    %w = sluice.constant dense<[[1., 0x7F800000], [0., 1.]]> : tensor<2x2xf32>
    %y = sluice.matmul %w, %x : (tensor<2x2xf32>, tensor<2xbf16, #sluice.dim<0>>)
           -> tensor<2xbf16, #sluice.dim<0>>)",
                       "%y", "tensor<2xbf16, #sluice.dim<0>>"));
  EXPECT_FALSE(model.graph);
  ASSERT_EQ(model.problems.size(), 1U);
  EXPECT_EQ(model.problems[0].code, "E0412");
}

/// 1/x is infinite in the lanes beyond the elements: it must not reach the
/// matrix unit.
TEST(Contraction, PaddingNeverPoisons) {
  Model model(function("%x: tensor<1x5xbf16, #sluice.dim<1>>",
                       R"(%r = sluice.map (%l = %x) : (tensor<1x5xbf16, #sluice.dim<1>>)
           -> tensor<1x5xbf16, #sluice.dim<1>> {
      %one = arith.constant 1.0 : f32
      %0 = arith.divf %one, %l : f32
      sluice.yield %0
    }
    %w = sluice.constant )" +
                           weights(5, 4) + R"( : tensor<5x4xf32>
    %y = sluice.matmul %r, %w : (tensor<1x5xbf16, #sluice.dim<1>>, tensor<5x4xf32>)
           -> tensor<1x4xbf16, #sluice.dim<1>>)",
                       "%y", "tensor<1x4xbf16, #sluice.dim<1>>"));
  ASSERT_TRUE(model.graph);
  EXPECT_EQ(model.computed(), 2U);
  EXPECT_LT(model.error(1, 4), 0.006);
}

} // namespace
} // namespace sluice::rows::test
