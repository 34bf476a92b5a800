// Maps between tensors: inlining, constants, fusion behind products.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness.h"

#include "compiler/support/problem.h"

namespace sluice::rows::test {
namespace {

const std::string kType = "tensor<2x11xbf16, #sluice.dim<1>>";

std::string body(const std::string &lines) {
  std::string text = "func.func @main(%x: T, %z: T) -> T {\n" + lines + "\n  return %y : T\n}";
  for (size_t at = text.find('T'); at != std::string::npos; at = text.find('T', at))
    text.replace(at, 1, kType);
  return text;
}

/// x * sigmoid(x) from two nodes is one table.
TEST(Map, ChainsOfNodesAreOneStep) {
  Model model(body(R"(
    %s = sluice.map (%l = %x) : (T) -> T {
      %one = arith.constant 1.0 : f32
      %0 = arith.negf %l : f32
      %1 = math.exp %0 : f32
      %2 = arith.addf %1, %one : f32
      %3 = arith.divf %one, %2 : f32
      sluice.yield %3
    }
    %y = sluice.map (%l = %x, %r = %s) : (T, T) -> T {
      %0 = arith.mulf %l, %r : f32
      sluice.yield %0
    })"));
  ASSERT_TRUE(model.graph);
  EXPECT_EQ(model.computed(), 4U);
  EXPECT_EQ(model.graph->tables.size(), 1U);
  EXPECT_LT(model.error(-8, 8), 0.003);
}

/// A map used twice is computed once.
TEST(Map, SharedMapsAreComputedOnce) {
  Model model(body(R"(
    %s = sluice.map (%l = %x) : (T) -> T {
      %0 = math.tanh %l : f32
      sluice.yield %0
    }
    %a = sluice.map (%l = %s, %r = %z) : (T, T) -> T {
      %0 = arith.mulf %l, %r : f32
      sluice.yield %0
    }
    %y = sluice.map (%l = %s, %r = %a) : (T, T) -> T {
      %0 = arith.maximumf %l, %r : f32
      sluice.yield %0
    })"));
  ASSERT_TRUE(model.graph);
  EXPECT_EQ(model.computed(), 8U);
  EXPECT_LT(model.error(), 0.008);
}

/// Constants that vary along the lanes are rows; dividing by one multiplies.
TEST(Map, ConstantTensorsAreRows) {
  Model model(body(R"(
    %c = sluice.constant dense<[[1.,2.,3.,4.,5.,6.,7.,8.,9.,10.,11.],
                                [1.,2.,3.,4.,5.,6.,7.,8.,9.,10.,11.]]> : tensor<2x11xf32>
    %y = sluice.map (%l = %x, %r = %c, %q = %z) : (T, tensor<2x11xf32>, T) -> T {
      %0 = arith.divf %l, %r : f32
      %1 = arith.addf %0, %q : f32
      sluice.yield %1
    })"));
  ASSERT_TRUE(model.graph);
  EXPECT_EQ(model.computed(), 4U);
  EXPECT_EQ(model.count(RowKind::Constant), 2U); // the two rows are equal
  EXPECT_LT(model.error(), 0.008);
}

/// A result that depends on constants alone has a value for every element.
TEST(Map, ResultsOfConstantsAreConstants) {
  Model model(body(R"(
    %c = sluice.constant dense<[[1.,2.,3.,4.,5.,6.,7.,8.,9.,10.,11.],
                                [2.,3.,4.,5.,6.,7.,8.,9.,10.,11.,12.]]> : tensor<2x11xf32>
    %y = sluice.map (%l = %x, %r = %c, %q = %z) : (T, tensor<2x11xf32>, T) -> T {
      %true = arith.constant true
      %0 = arith.mulf %r, %r : f32
      %1 = arith.select %true, %0, %l : f32
      sluice.yield %1
    })"));
  ASSERT_TRUE(model.graph);
  EXPECT_LT(model.error(), 0.004);
}

/// What fp32 holds and bf16 would round to infinity is the largest bf16: as a row, as an immediate
/// and as the bias of a sum.
TEST(Map, ConstantsThatFp32HoldsStayFinite) {
  Model model(body(R"(
    %c = sluice.constant dense<[[-3.40282347E+38,0.,1.,2.,3.,4.,5.,6.,7.,8.,9.],
                                [0.,3.40282347E+38,1.,2.,3.,4.,5.,6.,7.,8.,9.]]> : tensor<2x11xf32>
    %y = sluice.map (%l = %x, %r = %c, %q = %z) : (T, tensor<2x11xf32>, T) -> T {
      %lowest = arith.constant -3.40282347E+38 : f32
      %zero = arith.constant 0.0 : f32
      %0 = arith.addf %l, %r : f32
      %1 = arith.cmpf ogt, %q, %zero : f32
      %2 = arith.select %1, %lowest, %0 : f32
      sluice.yield %2
    })"));
  ASSERT_TRUE(model.graph);
  EXPECT_LT(model.error(), 0.005);
  Model padded(
      R"(func.func @main(%x: tensor<2x3xbf16, #sluice.dim<1>>) -> tensor<2x5xbf16, #sluice.dim<1>> {
    %y = sluice.pad %x low [0, 1] high [0, 1] value -3.40282347E+38
      : (tensor<2x3xbf16, #sluice.dim<1>>) -> tensor<2x5xbf16, #sluice.dim<1>>
    return %y : tensor<2x5xbf16, #sluice.dim<1>>
  })");
  ASSERT_TRUE(padded.graph);
  EXPECT_LT(padded.error(), 0.005);
}

TEST(Map, SelectBetweenOperands) {
  Model model(body(R"(
    %y = sluice.map (%l = %x, %r = %z) : (T, T) -> T {
      %c = arith.constant 0.25 : f32
      %0 = arith.cmpf ogt, %l, %c : f32
      %1 = arith.select %0, %r, %l : f32
      sluice.yield %1
    })"));
  ASSERT_TRUE(model.graph);
  EXPECT_EQ(model.computed(), 4U);
  EXPECT_EQ(model.error(), 0);
}

/// A residual connection behind a product: product, addition, relu in one row.
TEST(Map, ResidualBehindAProduct) {
  Model model(R"(func.func @main(%x: tensor<1x8xbf16, #sluice.dim<1>>)
      -> tensor<1x8xbf16, #sluice.dim<1>> {
    %w = sluice.constant dense<0.125> : tensor<8x8xf32>
    %m = sluice.matmul %x, %w : (tensor<1x8xbf16, #sluice.dim<1>>, tensor<8x8xf32>)
           -> tensor<1x8xbf16, #sluice.dim<1>>
    %y = sluice.map (%l = %x, %r = %m)
           : (tensor<1x8xbf16, #sluice.dim<1>>, tensor<1x8xbf16, #sluice.dim<1>>)
           -> tensor<1x8xbf16, #sluice.dim<1>> {
      %z = arith.constant 0.0 : f32
      %0 = arith.addf %l, %r : f32
      %1 = arith.maximumf %0, %z : f32
      sluice.yield %1
    }
    return %y : tensor<1x8xbf16, #sluice.dim<1>>
  })");
  ASSERT_TRUE(model.graph);
  EXPECT_EQ(model.computed(), 1U);
  EXPECT_EQ(model.graph->rows.back().step.post, isa::Post::Relu);
  EXPECT_LT(model.error(), 0.004);
}

/// Every operation at fault is named, in one run.
TEST(Map, RefusesWhatTheMachineCannotCompute) {
  Model model(body(R"(
    %a = sluice.map (%l = %x, %r = %z) : (T, T) -> T {
      %0 = math.atan2 %l, %r : f32
      sluice.yield %0
    }
    %b = sluice.slice %a starts [1, 0] sizes [2, 11] steps [-1, 1] : (T) -> T
    %c = sluice.slice %z starts [1, 0] sizes [2, 11] steps [-1, 1] : (T) -> T
    %y = sluice.map (%l = %b, %r = %c) : (T, T) -> T {
      %0 = math.cbrt %l : f32
      %1 = arith.addf %0, %r : f32
      sluice.yield %1
    })"));
  EXPECT_FALSE(model.graph);
  ASSERT_EQ(model.problems.size(), 2U);
  EXPECT_EQ(model.problems[0].code, "E0411");
  EXPECT_THAT(model.problems[0].message, testing::HasSubstr("math.atan2"));
  EXPECT_THAT(model.problems[1].message, testing::HasSubstr("math.cbrt"));
}

} // namespace
} // namespace sluice::rows::test
