// Contractions whose weights are activations: DD-MM-DYN-1 to 4.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness.h"

#include "compiler/support/problem.h"

namespace sluice::rows::test {
namespace {

struct Tensor {
  std::vector<int64_t> shape;
  int dim; ///< -1: a constant
};

std::string typeOf(const Tensor &tensor) {
  std::string text = "tensor<";
  for (int64_t extent : tensor.shape)
    text += std::to_string(extent) + "x";
  return tensor.dim < 0 ? text + "f32>"
                        : text + "bf16, #sluice.dim<" + std::to_string(tensor.dim) + ">>";
}

/// Nested lists of values that bf16 holds.
std::string values(const std::vector<int64_t> &shape, size_t axis, int &next) {
  if (axis == shape.size())
    return std::to_string((next++ * 7 % 23 - 11) * 0.125);
  std::string text = "[";
  for (int64_t i = 0; i < shape[axis]; ++i)
    text += (i > 0 ? "," : "") + values(shape, axis + 1, next);
  return text + "]";
}

/// matmul of two tensors after layout, or a contraction with indexing maps.
std::string product(const Tensor &lhs, const Tensor &rhs, const Tensor &result,
                    const std::string &op = "sluice.matmul") {
  std::string arguments, body;
  for (const auto &[name, tensor] : {std::pair("%l", &lhs), std::pair("%r", &rhs)}) {
    int next = 0;
    if (tensor->dim >= 0)
      arguments += (arguments.empty() ? "" : ", ") + std::string(name) + ": " + typeOf(*tensor);
    else
      body += std::string("  ") + name + " = sluice.constant dense<" +
              values(tensor->shape, 0, next) + "> : " + typeOf(*tensor) + "\n";
  }
  return "func.func @main(" + arguments + ") -> " + typeOf(result) + " {\n" + body +
         "  %y = " + op + " %l, %r : (" + typeOf(lhs) + ", " + typeOf(rhs) + ") -> " +
         typeOf(result) + "\n  return %y : " + typeOf(result) + "\n}";
}

struct Case {
  const char *name;
  Tensor lhs, rhs, result;
  size_t rows;     ///< of the result
  size_t blocks;   ///< written ones
  size_t products; ///< of the whole
};

class Dynamic : public testing::TestWithParam<Case> {};

TEST_P(Dynamic, ComputesTheProduct) {
  const Case &one = GetParam();
  Model model(product(one.lhs, one.rhs, one.result));
  ASSERT_TRUE(model.graph) << model.problems[0].message;
  EXPECT_EQ(model.computed(), one.rows);
  EXPECT_EQ(model.graph->dynamic.size(), one.blocks);
  size_t products = 0;
  for (const Row &row : model.graph->rows)
    products += row.terms.size();
  EXPECT_EQ(products, one.products);
  EXPECT_LT(model.error(), 0.004);
}

// Eight lanes.
INSTANTIATE_TEST_SUITE_P(
    All, Dynamic,
    testing::Values(
        Case{"ConstantLeft", {{5, 12}, -1}, {{12, 9}, 1}, {{5, 9}, 1}, 10, 4, 20},
        Case{"ConstantRight", {{9, 12}, 0}, {{12, 5}, -1}, {{9, 5}, 0}, 10, 4, 20},
        Case{"ConstantVector", {{12}, -1}, {{12, 9}, 1}, {{9}, 0}, 2, 4, 4},
        Case{"MatrixVectorRows", {{9, 12}, 0}, {{12}, 0}, {{9}, 0}, 2, 4, 4},
        Case{"MatrixVectorColumns", {{9, 12}, 1}, {{12}, 0}, {{9}, 0}, 2, 4, 4},
        Case{"VectorMatrixRows", {{12}, 0}, {{12, 9}, 0}, {{9}, 0}, 2, 4, 4},
        Case{"VectorMatrixColumns", {{12}, 0}, {{12, 9}, 1}, {{9}, 0}, 2, 4, 4},
        Case{"Dot", {{12}, 0}, {{12}, 0}, {{}, 0}, 1, 2, 2},
        Case{"LeftKept", {{9, 12}, 0}, {{12, 5}, 0}, {{9, 5}, 0}, 10, 4, 20},
        Case{"RightKept", {{5, 12}, 1}, {{12, 9}, 1}, {{5, 9}, 1}, 10, 4, 20},
        Case{"BothContracted", {{5, 12}, 1}, {{12, 9}, 0}, {{5, 9}, 1}, 10, 4, 20},
        Case{"BothContractedToTheLeft", {{9, 12}, 1}, {{12, 5}, 0}, {{9, 5}, 0}, 10, 4, 20},
        Case{"Batch", {{2, 5, 12}, 2}, {{2, 12, 9}, 1}, {{2, 5, 9}, 2}, 20, 8, 40},
        Case{"BatchOfOneSide", {{3, 2, 5, 12}, 3}, {{12, 9}, 0}, {{3, 2, 5, 9}, 3}, 60, 4, 120},
        Case{"BatchBroadcast", {{2, 1, 5, 12}, 3}, {{3, 12, 9}, 2}, {{2, 3, 5, 9}, 3}, 60, 12, 120},
        Case{"ExtentsOfOne", {{1, 1}, 1}, {{1, 1}, 0}, {{1, 1}, 1}, 1, 1, 1}),
    [](const auto &info) { return info.param.name; });

TEST(DynamicWeights, ContractionWithTwoSummedLoops) {
  const std::string maps =
      "[affine_map<(i, j, k, c) -> (k, i, c)>, affine_map<(i, j, k, c) -> (c, j, "
      "k)>, affine_map<(i, j, k, c) -> (j, i)>]";
  for (const auto &[left, right, out] :
       {std::tuple(2, 0, 0), std::tuple(2, 1, 0), std::tuple(1, 0, 1), std::tuple(2, 0, 1)}) {
    Model model(
        product({{3, 5, 9}, left}, {{9, 10, 3}, right}, {{10, 5}, out}, "sluice.contract " + maps));
    ASSERT_TRUE(model.graph) << left << right << out;
    EXPECT_LT(model.error(), 0.004) << left << right << out;
  }
}

/// The same activation on both sides, and two products with the same weights.
TEST(DynamicWeights, BlocksAreSharedByAllWhoReadThem) {
  Model model(
      R"(func.func @main(%x: tensor<7x7xbf16, #sluice.dim<1>>, %z: tensor<7x7xbf16, #sluice.dim<1>>)
      -> (tensor<7x7xbf16, #sluice.dim<1>>, tensor<7x7xbf16, #sluice.dim<1>>) {
    %a = sluice.matmul %x, %x : (tensor<7x7xbf16, #sluice.dim<1>>, tensor<7x7xbf16, #sluice.dim<1>>)
           -> tensor<7x7xbf16, #sluice.dim<1>>
    %b = sluice.matmul %z, %x : (tensor<7x7xbf16, #sluice.dim<1>>, tensor<7x7xbf16, #sluice.dim<1>>)
           -> tensor<7x7xbf16, #sluice.dim<1>>
    return %a, %b : tensor<7x7xbf16, #sluice.dim<1>>, tensor<7x7xbf16, #sluice.dim<1>>
  })");
  ASSERT_TRUE(model.graph);
  EXPECT_EQ(model.graph->dynamic.size(), 1U);
  EXPECT_LT(model.error(), 0.004);
}

/// exp(0) = 1 beyond the elements of both sides must not get into the sums.
TEST(DynamicWeights, LanesBeyondTheElementsDoNotCount) {
  Model model(
      R"(func.func @main(%x: tensor<3x5xbf16, #sluice.dim<1>>, %z: tensor<4x5xbf16, #sluice.dim<1>>)
      -> tensor<3x4xbf16, #sluice.dim<1>> {
    %e = sluice.map (%l = %x) : (tensor<3x5xbf16, #sluice.dim<1>>) -> tensor<3x5xbf16, #sluice.dim<1>> {
      %0 = math.exp %l : f32
      sluice.yield %0
    }
    %f = sluice.map (%l = %z) : (tensor<4x5xbf16, #sluice.dim<1>>) -> tensor<4x5xbf16, #sluice.dim<1>> {
      %0 = math.exp %l : f32
      sluice.yield %0
    }
    %y = sluice.contract [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>,
                          affine_map<(i, j, k) -> (i, j)>] %e, %f
           : (tensor<3x5xbf16, #sluice.dim<1>>, tensor<4x5xbf16, #sluice.dim<1>>)
           -> tensor<3x4xbf16, #sluice.dim<1>>
    return %y : tensor<3x4xbf16, #sluice.dim<1>>
  })");
  ASSERT_TRUE(model.graph);
  EXPECT_LT(model.error(), 0.008);
}

/// Scale and offset behind the product: the offset is its bias.
TEST(DynamicWeights, MapsBehindAreFused) {
  Model model(
      R"(func.func @main(%x: tensor<3x5xbf16, #sluice.dim<1>>, %z: tensor<5x4xbf16, #sluice.dim<1>>)
      -> tensor<3x4xbf16, #sluice.dim<1>> {
    %m = sluice.matmul %x, %z : (tensor<3x5xbf16, #sluice.dim<1>>, tensor<5x4xbf16, #sluice.dim<1>>)
           -> tensor<3x4xbf16, #sluice.dim<1>>
    %y = sluice.map (%l = %m) : (tensor<3x4xbf16, #sluice.dim<1>>) -> tensor<3x4xbf16, #sluice.dim<1>> {
      %c = arith.constant 0.3 : f32
      %o = arith.constant 1.5 : f32
      %0 = arith.mulf %l, %c : f32
      %1 = arith.addf %0, %o : f32
      sluice.yield %1
    }
    return %y : tensor<3x4xbf16, #sluice.dim<1>>
  })");
  ASSERT_TRUE(model.graph);
  EXPECT_EQ(model.computed(), 3U);
  EXPECT_LT(model.error(), 0.004);
}

TEST(DynamicWeights, ConstantRowsAreInTheBlockFromTheStart) {
  Model model(
      R"(func.func @main(%x: tensor<3x5xbf16, #sluice.dim<1>>, %z: tensor<2x4xbf16, #sluice.dim<1>>)
      -> tensor<3x4xbf16, #sluice.dim<1>> {
    %c = sluice.constant dense<0.5> : tensor<3x4xf32>
    %w = sluice.concat %z, %c axis 0 : (tensor<2x4xbf16, #sluice.dim<1>>, tensor<3x4xf32>)
           -> tensor<5x4xbf16, #sluice.dim<1>>
    %y = sluice.matmul %x, %w : (tensor<3x5xbf16, #sluice.dim<1>>, tensor<5x4xbf16, #sluice.dim<1>>)
           -> tensor<3x4xbf16, #sluice.dim<1>>
    return %y : tensor<3x4xbf16, #sluice.dim<1>>
  })");
  ASSERT_TRUE(model.graph);
  ASSERT_EQ(model.graph->dynamic.size(), 1U);
  EXPECT_EQ(model.graph->dynamic.begin()->second.writes.size(), 2U);
  EXPECT_LT(model.error(), 0.004);
}

std::string codeOf(const Model &model) {
  return model.problems.size() == 1 ? model.problems[0].code + ": " + model.problems[0].message
                                    : "";
}

/// No solver gives such types; hand-written IR may.
TEST(DynamicWeights, RefusesWhatNoRuleAllows) {
  Model model(product({{5, 12}, 0}, {{12, 9}, 1}, {{5, 9}, 0}));
  EXPECT_FALSE(model.graph);
  EXPECT_EQ(
      codeOf(model),
      "E0413: no rule of DD-MM-DYN-1 to DD-MM-DYN-4 allows the data dimensions of the product");
}

TEST(DynamicWeights, RefusesConstantsThatAreNotFinite) {
  Model model(
      R"(func.func @main(%z: tensor<2x4xbf16, #sluice.dim<1>>) -> tensor<2x4xbf16, #sluice.dim<1>> {
    %c = sluice.constant dense<0x7F800000> : tensor<2x2xf32>
    %y = sluice.matmul %c, %z : (tensor<2x2xf32>, tensor<2x4xbf16, #sluice.dim<1>>)
           -> tensor<2x4xbf16, #sluice.dim<1>>
    return %y : tensor<2x4xbf16, #sluice.dim<1>>
  })");
  EXPECT_FALSE(model.graph);
  EXPECT_EQ(codeOf(model),
            "E0412: a weight is not finite in bf16; its magnitude must be below 3.4e38");
}

} // namespace
} // namespace sluice::rows::test
