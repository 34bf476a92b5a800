// Selections: right everywhere, and free off the data dimension.
#include <gtest/gtest.h>

#include "harness.h"

namespace sluice::rows::test {
namespace {

std::string tensor(const std::string &shape, int dim) {
  return "tensor<" + shape + "xbf16, #sluice.dim<" + std::to_string(dim) + ">>";
}

/// x -> view -> tanh: the tanh makes rows, so anything above its rows is the
/// view's.
std::string viewed(const std::string &view, const std::string &in, const std::string &out) {
  return "func.func @main(%x: " + in + ") -> " + out + " {\n  %v = sluice." + view + " : (" + in +
         ") -> " + out + "\n  %y = sluice.map (%l = %v) : (" + out + ") -> " + out + R"( {
      %0 = math.tanh %l : f32
      sluice.yield %0
    }
    return %y : )" +
         out + "\n}";
}

struct Case {
  const char *name;
  const char *view;
  const char *inShape;
  int inDim;
  const char *outShape;
  int outDim;
  size_t rows;  ///< rows of the result
  size_t extra; ///< rows the view costs
};

class View : public testing::TestWithParam<Case> {};

TEST_P(View, IsRightAndCostsWhatItMust) {
  const Case &c = GetParam();
  Model model(viewed(c.view, tensor(c.inShape, c.inDim), tensor(c.outShape, c.outDim)));
  ASSERT_TRUE(model.graph);
  EXPECT_LT(model.error(), 0.003);
  EXPECT_EQ(model.computed(), c.rows + c.extra);
}

INSTANTIATE_TEST_SUITE_P(
    Free, View,
    testing::Values(Case{"transpose", "transpose %x [2, 0, 1]", "2x3x5", 1, "5x2x3", 2, 10, 0},
                    Case{"reverse", "slice %x starts [3, 0] sizes [4, 5] steps [-1, 1]", "4x5", 1,
                         "4x5", 1, 4, 0},
                    Case{"slice", "slice %x starts [3, 0] sizes [2, 5] steps [-2, 1]", "4x5", 1,
                         "2x5", 1, 2, 0},
                    Case{"reshape", "reshape %x", "2x3x5", 2, "6x5", 1, 6, 0},
                    Case{"unsqueeze", "unsqueeze %x axes [1]", "3x5", 1, "3x1x5", 2, 3, 0},
                    Case{"squeeze", "squeeze %x axes [0]", "1x3x5", 2, "3x5", 1, 3, 0},
                    Case{"broadcast", "broadcast %x", "1x5", 1, "3x5", 1, 3, 0},
                    Case{"pad_rows", "pad %x low [1, 0] high [0, 0] value 2.0", "2x5", 1, "3x5", 1,
                         3, 0},
                    // Along the data dimension, but from lane 0 on or whole rows.
                    Case{"prefix", "slice %x starts [0, 0] sizes [3, 10] steps [1, 1]", "3x20", 1,
                         "3x10", 1, 6, 0},
                    Case{"whole_rows", "slice %x starts [0, 8] sizes [3, 12] steps [1, 1]", "3x20",
                         1, "3x12", 1, 6, 0}),
    [](const auto &info) { return std::string(info.param.name); });

// Lanes that move are selected in the matrix unit, with the tanh behind it.
INSTANTIATE_TEST_SUITE_P(
    Lanes, View,
    testing::Values(Case{"slice", "slice %x starts [0, 3] sizes [3, 10] steps [1, 1]", "3x20", 1,
                         "3x10", 1, 6, 0},
                    Case{"reverse", "slice %x starts [0, 19] sizes [3, 20] steps [1, -1]", "3x20",
                         1, "3x20", 1, 9, 0},
                    Case{"pad", "pad %x low [0, 2] high [0, 1] value -1.0", "3x7", 1, "3x10", 1, 6,
                         0},
                    Case{"reshape", "reshape %x", "4x6", 1, "24", 0, 3, 0},
                    Case{"broadcast", "broadcast %x", "3x1", 1, "3x9", 1, 6, 0}),
    [](const auto &info) { return std::string(info.param.name); });

TEST(Views, ConcatOffTheDataDimensionIsFree) {
  Model model(R"(func.func @main(%x: tensor<2x5xbf16, #sluice.dim<1>>,
                                %z: tensor<1x5xbf16, #sluice.dim<1>>)
      -> tensor<3x5xbf16, #sluice.dim<1>> {
    %c = sluice.concat %x, %z axis 0 : (tensor<2x5xbf16, #sluice.dim<1>>,
           tensor<1x5xbf16, #sluice.dim<1>>) -> tensor<3x5xbf16, #sluice.dim<1>>
    %y = sluice.map (%l = %c) : (tensor<3x5xbf16, #sluice.dim<1>>)
           -> tensor<3x5xbf16, #sluice.dim<1>> {
      %0 = math.tanh %l : f32
      sluice.yield %0
    }
    return %y : tensor<3x5xbf16, #sluice.dim<1>>
  })");
  ASSERT_TRUE(model.graph);
  EXPECT_EQ(model.computed(), 3U);
  EXPECT_LT(model.error(), 0.003);
}

TEST(Views, ConcatAlongTheDataDimensionSelects) {
  Model model(R"(func.func @main(%x: tensor<8xbf16, #sluice.dim<0>>,
                                %z: tensor<5xbf16, #sluice.dim<0>>)
      -> (tensor<13xbf16, #sluice.dim<0>>, tensor<13xbf16, #sluice.dim<0>>) {
    %c = sluice.concat %x, %z axis 0 : (tensor<8xbf16, #sluice.dim<0>>,
           tensor<5xbf16, #sluice.dim<0>>) -> tensor<13xbf16, #sluice.dim<0>>
    %d = sluice.concat %z, %x axis 0 : (tensor<5xbf16, #sluice.dim<0>>,
           tensor<8xbf16, #sluice.dim<0>>) -> tensor<13xbf16, #sluice.dim<0>>
    return %c, %d : tensor<13xbf16, #sluice.dim<0>>, tensor<13xbf16, #sluice.dim<0>>
  })");
  ASSERT_TRUE(model.graph);
  // Whole rows in order are copied, the others selected.
  EXPECT_EQ(model.count(RowKind::Vector), 2U);
  EXPECT_EQ(model.count(RowKind::Linear), 2U);
  EXPECT_EQ(model.error(), 0);
}

/// A constant of a selection is what a stored row would hold of it, in a step that reads the
/// selection at once, too: a value is equal to itself.
TEST(Views, ConstantsOfASelectionAreRounded) {
  Model model(R"(func.func @main(%x: tensor<1x2xbf16, #sluice.dim<1>>,
                                %z: tensor<1x1xbf16, #sluice.dim<1>>)
      -> tensor<1x5xbf16, #sluice.dim<1>> {
    %c = sluice.constant dense<[[-0.171334, 0.171334]]> : tensor<1x2xf32>
    %t = sluice.concat %x, %c, %z axis 1 : (tensor<1x2xbf16, #sluice.dim<1>>, tensor<1x2xf32>,
           tensor<1x1xbf16, #sluice.dim<1>>) -> tensor<1x5xbf16, #sluice.dim<1>>
    %a = sluice.unsqueeze %t axes [1] : (tensor<1x5xbf16, #sluice.dim<1>>)
           -> tensor<1x1x5xbf16, #sluice.dim<2>>
    %b = sluice.unsqueeze %t axes [0] : (tensor<1x5xbf16, #sluice.dim<1>>)
           -> tensor<1x1x5xbf16, #sluice.dim<2>>
    %m = sluice.map (%l = %a, %r = %b) : (tensor<1x1x5xbf16, #sluice.dim<2>>,
           tensor<1x1x5xbf16, #sluice.dim<2>>) -> tensor<1x1x5xbf16, #sluice.dim<2>> {
      %0 = arith.cmpf ogt, %r, %l : f32
      %1 = arith.uitofp %0 : i1 to f32
      sluice.yield %1
    }
    %y = sluice.reduce sum %m axes [1] : (tensor<1x1x5xbf16, #sluice.dim<2>>)
           -> tensor<1x5xbf16, #sluice.dim<1>>
    return %y : tensor<1x5xbf16, #sluice.dim<1>>
  })");
  ASSERT_TRUE(model.graph);
  const std::vector<reference::Tensor> inputs = {reference::Tensor({1, 2}, {1, 2}),
                                                 reference::Tensor({1, 1}, {3})};
  EXPECT_EQ(model.run(inputs), model.golden(inputs));
}

/// A broadcast along the data dimension is a flag of the operand.
TEST(Views, LaneBroadcastIsFreeForAMap) {
  Model model(R"(func.func @main(%x: tensor<3x9xbf16, #sluice.dim<1>>,
                                %z: tensor<3x1xbf16, #sluice.dim<1>>)
      -> tensor<3x9xbf16, #sluice.dim<1>> {
    %b = sluice.broadcast %z : (tensor<3x1xbf16, #sluice.dim<1>>)
           -> tensor<3x9xbf16, #sluice.dim<1>>
    %y = sluice.map (%l = %b, %r = %x)
           : (tensor<3x9xbf16, #sluice.dim<1>>, tensor<3x9xbf16, #sluice.dim<1>>)
           -> tensor<3x9xbf16, #sluice.dim<1>> {
      %0 = arith.subf %l, %r : f32
      sluice.yield %0
    }
    return %y : tensor<3x9xbf16, #sluice.dim<1>>
  })");
  ASSERT_TRUE(model.graph);
  EXPECT_EQ(model.computed(), 6U);
  EXPECT_LT(model.error(), 0.003);
}

/// Outputs that are inputs, views or each other are rows of their own.
TEST(Views, OutputsAreComputedAndDistinct) {
  Model model(R"(func.func @main(%x: tensor<2x3xbf16, #sluice.dim<1>>)
      -> (tensor<2x3xbf16, #sluice.dim<1>>, tensor<6xbf16, #sluice.dim<0>>,
          tensor<3x2xbf16, #sluice.dim<0>>, tensor<2xf32>) {
    %c = sluice.constant dense<[1.0, 2.0]> : tensor<2xf32>
    %r = sluice.reshape %x : (tensor<2x3xbf16, #sluice.dim<1>>) -> tensor<6xbf16, #sluice.dim<0>>
    %t = sluice.transpose %x [1, 0] : (tensor<2x3xbf16, #sluice.dim<1>>)
           -> tensor<3x2xbf16, #sluice.dim<0>>
    return %x, %r, %t, %c : tensor<2x3xbf16, #sluice.dim<1>>, tensor<6xbf16, #sluice.dim<0>>,
        tensor<3x2xbf16, #sluice.dim<0>>, tensor<2xf32>
  })");
  ASSERT_TRUE(model.graph);
  EXPECT_EQ(model.computed(), 2U + 1 + 2 + 1);
  EXPECT_EQ(model.error(), 0);
}

TEST(Views, RankZeroIsOneLane) {
  Model model(R"(func.func @main(%x: tensor<bf16, #sluice.dim<0>>) -> tensor<bf16, #sluice.dim<0>> {
    %y = sluice.map (%l = %x) : (tensor<bf16, #sluice.dim<0>>) -> tensor<bf16, #sluice.dim<0>> {
      %0 = arith.negf %l : f32
      sluice.yield %0
    }
    return %y : tensor<bf16, #sluice.dim<0>>
  })");
  ASSERT_TRUE(model.graph);
  EXPECT_EQ(model.computed(), 1U);
  EXPECT_EQ(model.error(), 0);
}

} // namespace
} // namespace sluice::rows::test
