// Values that several operations read: what moves into one of them changes none of the others.
#include <gtest/gtest.h>

#include "harness.h"

#include "compiler/support/problem.h"

namespace sluice::rows::test {
namespace {

/// x * W of 2 x 11, and `map` of it, %l, and of the constant row %b.
std::string ofProduct(const std::string &map) {
  std::string weights, bias;
  for (int row = 0; row < 4; ++row) {
    weights += row == 0 ? "[" : ", [";
    for (int column = 0; column < 11; ++column)
      weights +=
          (column == 0 ? "" : ", ") + std::to_string(((row * 7 + column * 3) % 11 - 5) * 0.125);
    weights += "]";
  }
  for (int column = 0; column < 11; ++column)
    bias += (column == 0 ? "" : ", ") + std::to_string(1.5 - column * 0.25);
  return R"(func.func @main(%x: tensor<2x4xbf16, #sluice.dim<1>>) -> tensor<2x11xbf16, #sluice.dim<1>> {
    %w = sluice.constant dense<[)" +
         weights + R"(]> : tensor<4x11xf32>
    %c = sluice.constant dense<[[)" +
         bias + "], [" + bias + R"(]]> : tensor<2x11xf32>
    %p = sluice.matmul %x, %w : (tensor<2x4xbf16, #sluice.dim<1>>, tensor<4x11xf32>)
           -> tensor<2x11xbf16, #sluice.dim<1>>
    %y = sluice.map (%l = %p, %b = %c) : (tensor<2x11xbf16, #sluice.dim<1>>, tensor<2x11xf32>)
           -> tensor<2x11xbf16, #sluice.dim<1>> {
)" + map +
         R"(
    }
    return %y : tensor<2x11xbf16, #sluice.dim<1>>
  })";
}

/// A product that one map reads with a bias and without it.
struct SharedProduct : testing::TestWithParam<std::string> {};

TEST_P(SharedProduct, KeepsItsValueBesideTheOneWithABias) {
  Model model(ofProduct(GetParam()));
  ASSERT_TRUE(model.graph);
  EXPECT_LT(model.error(), 0.008);
}

INSTANTIATE_TEST_SUITE_P(Maps, SharedProduct,
                         testing::Values(R"(
      %0 = arith.addf %l, %b : f32
      %1 = math.tanh %0 : f32
      %2 = arith.addf %1, %l : f32
      sluice.yield %2)",
                                         R"(
      %0 = arith.addf %l, %b : f32
      %1 = arith.addf %0, %l : f32
      sluice.yield %1)",
                                         R"(
      %0 = arith.addf %l, %b : f32
      %1 = arith.mulf %0, %l : f32
      sluice.yield %1)",
                                         R"(
      %0 = arith.addf %b, %l : f32
      %1 = arith.maximumf %l, %0 : f32
      sluice.yield %1)",
                                         R"(
      %0 = arith.subf %b, %l : f32
      %1 = arith.mulf %0, %l : f32
      sluice.yield %1)",
                                         R"(
      %0 = arith.mulf %l, %b : f32
      %1 = arith.subf %0, %l : f32
      sluice.yield %1)",
                                         R"(
      %0 = arith.addf %l, %b : f32
      %1 = arith.cmpf ogt, %0, %l : f32
      %2 = arith.select %1, %l, %0 : f32
      sluice.yield %2)"));

} // namespace
} // namespace sluice::rows::test
