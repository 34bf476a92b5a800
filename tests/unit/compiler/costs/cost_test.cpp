// Costs of blocks, worked out by hand.
#include <gtest/gtest.h>

#include "compiler/costs/cost.h"
#include "compiler/costs/zero_blocks.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/MLIRContext.h"

namespace sluice::space {
namespace {

class Costs : public ::testing::Test {
protected:
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};

  Projection elements(const char *text, ExtentsRef tensor) {
    const auto attribute =
        mlir::parseAttribute(("affine_map<" + std::string(text) + ">").c_str(), &context);
    return Projection::elements(llvm::cast<mlir::AffineMapAttr>(attribute).getValue(), tensor);
  }
};

TEST_F(Costs, ALinearLayer) {
  // [16 40!] @ [40 20] on 8 lanes: 16 rows of 5 and of 3, 15 blocks.
  IndexSpace space;
  space.loops = {{16}, {20}, {40, LoopKind::Reduced}};
  space.operands = {elements("(i, n, k) -> (i, k)", {16, 40}),
                    elements("(i, n, k) -> (k, n)", {40, 20})};
  space.results = {elements("(i, n, k) -> (i, n)", {16, 20})};
  space.work = Work::Product;
  const RowLayouts layouts{8, {1, std::nullopt}, {1}};
  EXPECT_EQ(stepOf(space, 0, layouts), 1);
  EXPECT_EQ(stepOf(space, 1, layouts), 8);
  EXPECT_EQ(stepOf(space, 2, layouts), 8);
  EXPECT_EQ(costOf(space, space.whole(), layouts), (Cost{80, 48, 240, 15, 128}));
  EXPECT_EQ(costOf(space, rowBlock(space, layouts), layouts), (Cost{5, 1, 5, 5, 6}));
  // A sample more, eight features more, eight more to sum.
  EXPECT_EQ(marginalCost(space, 0, layouts), (Cost{5, 1, 5, 0, 6}));
  EXPECT_EQ(marginalCost(space, 1, layouts), (Cost{0, 1, 5, 5, 1}));
  EXPECT_EQ(marginalCost(space, 2, layouts), (Cost{1, 0, 1, 1, 1}));
}

TEST_F(Costs, ABlockDiagonalFactor) {
  // [4 32!] @ [32 32] on 8 lanes, zero outside of four blocks [8 8].
  IndexSpace space;
  space.loops = {{4}, {32}, {32, LoopKind::Reduced}};
  space.operands = {elements("(i, n, k) -> (i, k)", {4, 32}),
                    elements("(i, n, k) -> (k, n)", {32, 32})};
  space.results = {elements("(i, n, k) -> (i, n)", {4, 32})};
  space.work = Work::Product;
  const RowLayouts layouts{8, {1, std::nullopt}, {1}};
  std::vector<double> weights(size_t{32} * 32);
  for (size_t k = 0; k < 32; ++k)
    for (size_t n = k / 8 * 8; n < k / 8 * 8 + 8; ++n)
      weights[k * 32 + n] = 1;
  const auto product = ConstantProduct::of(space, layouts, weights);
  ASSERT_TRUE(product);
  EXPECT_EQ(product->operand(), 0U);
  EXPECT_EQ(product->costOf(space.whole()), (Cost{16, 16, 16, 4, 32}));
  EXPECT_EQ(costOf(space, space.whole(), layouts), (Cost{16, 16, 64, 16, 32}));
  EXPECT_EQ(product->costOf(rowBlock(space, layouts)), (Cost{1, 1, 1, 1, 2}));
  // A sample more: one row. Eight features more: another row of the sample, another block.
  EXPECT_EQ(product->marginalCost(0), (Cost{1, 1, 1, 0, 2}));
  EXPECT_EQ(product->marginalCost(1), (Cost{1, 1, 1, 1, 2}));
  const auto features = product->shared(*stepBlock(space, 1, layouts), 1);
  EXPECT_EQ(features.elements, 0);
  EXPECT_EQ(features.of, 8);
  // Without a zero there is nothing to leave out.
  const std::vector<double> ones(size_t{32} * 32, 1);
  EXPECT_EQ(ConstantProduct::of(space, layouts, ones)->costOf(space.whole()),
            costOf(space, space.whole(), layouts));
}

TEST_F(Costs, ALargeDepthwiseWindow) {
  // 64 channels, 56 x 56 positions, 3 x 3 taps: 115 million points, of which 64 of 4096 pairs of
  // channels count. Border positions see two of three taps along an axis.
  IndexSpace space;
  space.loops = {
      {56}, {56}, {64}, {64, LoopKind::Reduced}, {3, LoopKind::Reduced}, {3, LoopKind::Reduced}};
  space.operands = {elements("(y, x, o, c, i, j) -> (c, y + i - 1, x + j - 1)", {64, 56, 56}),
                    elements("(y, x, o, c, i, j) -> (o, c, i, j)", {64, 64, 3, 3})};
  space.operands[0].outside = 0;
  space.results = {elements("(y, x, o, c, i, j) -> (o, y, x)", {64, 56, 56})};
  space.work = Work::Product;
  const RowLayouts layouts{8, {0, std::nullopt}, {0}};
  std::vector<double> weights(size_t{64} * 64 * 9);
  for (size_t o = 0; o < 64; ++o)
    std::fill_n(&weights[(o * 64 + o) * 9], 9, 1);
  const auto product = ConstantProduct::of(space, layouts, weights);
  const int64_t rows = 8 * 56 * 56, taps = 54 * 3 + 2 * 2;
  EXPECT_EQ(product->costOf(space.whole()), (Cost{rows, rows, 8 * taps * taps, 8 * 9, 2 * rows}));
}

TEST_F(Costs, ABandHasTheSameBlocksWhereverItIsWhole) {
  // [20!], a window of 3: three rows of results. The blocks before, at and after a row are those of
  // every row; the last row has four elements, and so blocks of its own.
  IndexSpace space;
  space.loops = {{20}, {3, LoopKind::Reduced}};
  space.operands = {elements("(y, k) -> (y + k - 1)", {20}), elements("(y, k) -> (k)", {3})};
  space.operands[0].outside = 0;
  space.results = {elements("(y, k) -> (y)", {20})};
  space.work = Work::Product;
  const RowLayouts layouts{8, {0, std::nullopt}, {0}};
  const std::vector<double> weights{1, 2, 3};
  const auto product = ConstantProduct::of(space, layouts, weights);
  // Rows 0, 1 and 2 read two, three and two rows.
  EXPECT_EQ(product->costOf(space.whole()), (Cost{3, 3, 7, 4, 6}));
}

TEST_F(Costs, ADepthwiseWindowWithABorder) {
  // 16 channels in the lanes, 6 positions of a window of 3: a tap outside is no product.
  IndexSpace space;
  space.loops = {{6}, {16}, {16, LoopKind::Reduced}, {3, LoopKind::Reduced}};
  space.operands = {elements("(y, o, c, k) -> (y + k - 1, c)", {6, 16}),
                    elements("(y, o, c, k) -> (o, c, k)", {16, 16, 3})};
  space.operands[0].outside = 0;
  space.results = {elements("(y, o, c, k) -> (y, o)", {6, 16})};
  space.work = Work::Product;
  const RowLayouts layouts{8, {1, std::nullopt}, {1}};
  std::vector<double> weights(size_t{16} * 16 * 3);
  for (size_t o = 0; o < 16; ++o)
    std::fill_n(&weights[(o * 16 + o) * 3], 3, 1);
  const auto product = ConstantProduct::of(space, layouts, weights);
  ASSERT_TRUE(product);
  // Two rows of 16 taps: 4 positions of three, 2 of two.
  EXPECT_EQ(product->costOf(space.whole()), (Cost{12, 12, 32, 6, 24}));
  EXPECT_EQ(product->shared(*stepBlock(space, 0, layouts), 0).elements, 2 * 8);
}

TEST_F(Costs, AWindowAlongRows) {
  // Channels in the lanes: 10 positions of a window of 3 over 12 rows of [12 16!].
  IndexSpace space;
  space.loops = {{10}, {24}, {3, LoopKind::Reduced}, {16, LoopKind::Reduced}};
  space.operands = {elements("(y, o, k, c) -> (y + k, c)", {12, 16}),
                    elements("(y, o, k, c) -> (k, c, o)", {3, 16, 24})};
  space.results = {elements("(y, o, k, c) -> (y, o)", {10, 24})};
  space.work = Work::Product;
  const RowLayouts layouts{8, {1, std::nullopt}, {1}};
  EXPECT_EQ(costOf(space, space.whole(), layouts), (Cost{24, 30, 180, 18, 54}));
  // One position more reads one line of two rows, the others are there.
  EXPECT_EQ(marginalCost(space, 0, layouts), (Cost{2, 1, 6, 0, 3}));
  EXPECT_EQ(marginalCost(space, 1, layouts), (Cost{0, 1, 6, 6, 1}));
}

TEST_F(Costs, BordersSeeFewerTaps) {
  // 6 positions of a window of 3 with a border of one element: 4 of three rows, 2 of two.
  IndexSpace space;
  space.loops = {{6}, {16}, {3, LoopKind::Reduced}};
  space.operands = {elements("(y, c, k) -> (y + k - 1, c)", {6, 16})};
  space.operands[0].outside = 0;
  space.results = {elements("(y, c, k) -> (y, c)", {6, 16})};
  const RowLayouts layouts{8, {1}, {1}};
  EXPECT_EQ(costOf(space, space.whole(), layouts), (Cost{12, 12, 2 * 16, 0, 24}));
}

TEST_F(Costs, AWindowAlongLanesTouchesNeighbouringRows) {
  // [32!], a window of 3: a row of 8 results reads two rows or, inside, three.
  IndexSpace space;
  space.loops = {{32}, {3, LoopKind::Reduced}};
  space.operands = {elements("(y, k) -> (y + k - 1)", {32})};
  space.operands[0].outside = 0;
  space.results = {elements("(y, k) -> (y)", {32})};
  space.work = Work::Product;
  const RowLayouts layouts{8, {0}, {0}};
  EXPECT_EQ(costOf(space, {{0, 0}, {8, 3}}, layouts), (Cost{2, 1, 2, 0, 3}));
  EXPECT_EQ(costOf(space, rowBlock(space, layouts), layouts), (Cost{3, 1, 3, 0, 4}));
}

TEST_F(Costs, MapsPassAndViewsOnlyAddress) {
  IndexSpace space;
  space.loops = {{3}, {20}};
  space.operands = {elements("(i, j) -> (i, j)", {3, 20}), elements("(i, j) -> (i, j)", {3, 20})};
  space.results = {elements("(i, j) -> (i, j)", {3, 20})};
  RowLayouts layouts{8, {1, 1}, {1}};
  EXPECT_EQ(costOf(space, space.whole(), layouts), (Cost{18, 9, 9, 0, 27}));
  EXPECT_EQ(marginalCost(space, 1, layouts), (Cost{2, 1, 1, 0, 3}));
  layouts.operands[1] = std::nullopt; // constants are not read as rows
  EXPECT_EQ(costOf(space, space.whole(), layouts), (Cost{9, 9, 9, 0, 18}));
  space.work = Work::Address;
  EXPECT_EQ(costOf(space, space.whole(), layouts), (Cost{9, 9, 0, 0, 18}));
}

TEST_F(Costs, AConstantStreamsWhereActivationsAreTheWeights) {
  // DD-MM-DYN-1: [6 16] @ [16 24!] on 8 lanes.
  IndexSpace space;
  space.loops = {{6}, {24}, {16, LoopKind::Reduced}};
  space.operands = {elements("(i, n, k) -> (i, k)", {6, 16}),
                    elements("(i, n, k) -> (k, n)", {16, 24})};
  space.results = {elements("(i, n, k) -> (i, n)", {6, 24})};
  space.work = Work::Product;
  const RowLayouts layouts{8, {std::nullopt, 1}, {1}};
  EXPECT_EQ(costOf(space, space.whole(), layouts).beats, 6 * 3 * 2);
  EXPECT_EQ(costOf(space, space.whole(), layouts).rowsRead, 48);
}

TEST_F(Costs, ALoopOfOneStepHasNoNextOne) {
  IndexSpace space;
  space.loops = {{1}, {8}};
  space.operands = {elements("(i, j) -> (i, j)", {1, 8})};
  space.results = {elements("(i, j) -> (i, j)", {1, 8})};
  const RowLayouts layouts{8, {1}, {1}};
  EXPECT_EQ(marginalCost(space, 0, layouts), std::nullopt);
  EXPECT_EQ(marginalCost(space, 1, layouts), std::nullopt);
}

} // namespace
} // namespace sluice::space
