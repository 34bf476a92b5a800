// The sentences of the rules, and the splits of the seeds: linear layers, windows,
// strides and dilations, sums.
#include <gtest/gtest.h>

#include "compiler/index_space/split.h"
#include "compiler/index_space/through.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/MLIRContext.h"

namespace sluice::space {
namespace {

class Spaces : public ::testing::Test {
protected:
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};

  mlir::AffineMap map(const char *text) {
    const auto attribute =
        mlir::parseAttribute(("affine_map<" + std::string(text) + ">").c_str(), &context);
    return llvm::cast<mlir::AffineMapAttr>(attribute).getValue();
  }

  /// y = 9 positions of a window of 3 over x, in steps of `stride`.
  IndexSpace window(int64_t stride, int64_t pad) {
    IndexSpace space;
    space.loops = {{9}, {3, LoopKind::Reduced}};
    const std::string text =
        "(y, k) -> (y * " + std::to_string(stride) + " + k - " + std::to_string(pad) + ")";
    space.operands.push_back(Projection::elements(map(text.c_str()), {8 * stride + 3 - 2 * pad}));
    if (pad != 0)
      space.operands.back().outside = 0;
    space.results.push_back(Projection::elements(map("(y, k) -> (y)"), {9}));
    return space;
  }

  /// [4 6] @ [6 8].
  IndexSpace linear() {
    IndexSpace space;
    space.loops = {{4}, {8}, {6, LoopKind::Reduced}};
    space.operands = {Projection::elements(map("(i, n, k) -> (i, k)"), {4, 6}),
                      Projection::elements(map("(i, n, k) -> (k, n)"), {6, 8})};
    space.results = {Projection::elements(map("(i, n, k) -> (i, n)"), {4, 8})};
    return space;
  }

  static std::string sentence(const IndexSpace &space) {
    std::string why;
    EXPECT_FALSE(verify(space, why));
    return why;
  }
};

TEST_F(Spaces, EveryRuleHasItsSentence) {
  std::string why;
  IndexSpace space = window(1, 1);
  ASSERT_TRUE(verify(space, why)) << why;
  space.loops[1].extent = 0;
  EXPECT_EQ(sentence(space), "loop 1 has extent 0; it must be at least 1 (IS-EMPTY)");

  space = window(1, 0);
  space.operands[0].region[0] = 0;
  EXPECT_EQ(sentence(space),
            "the region of operand 0 has extent 0 along axis 0; it must be at least 1 (IS-EMPTY)");

  space = window(1, 0);
  space.operands[0].map = map("(y) -> (y)");
  EXPECT_EQ(sentence(space), "the map of operand 0 has 1 loops; the index space has 2 (IS-AFFINE)");

  space = window(1, 0);
  space.operands[0].map = map("(y, k) -> (y floordiv 2 + k)");
  EXPECT_EQ(sentence(space), "the map of operand 0 is (d0, d1) -> (d0 floordiv 2 + d1); divisions "
                             "and symbols are not allowed (IS-AFFINE)");

  space = window(1, 0);
  space.operands[0].region.push_back(1);
  EXPECT_EQ(sentence(space), "the map of operand 0 has 1 axes, its region 2 and its tensor 1; they "
                             "must be equal (IS-SHAPE)");

  space = window(1, 1);
  space.operands[0].outside = std::nullopt;
  EXPECT_EQ(sentence(space), "operand 0 is indexed from -1 to 9 along axis 0 of extent 9 and has "
                             "no value outside (IS-INSIDE)");

  space = window(1, 1);
  space.operands[0].map = map("(y, k) -> (y * 4611686018427387904 + k)");
  EXPECT_EQ(sentence(space), "operand 0 is indexed beyond 2^62 along axis 0 (IS-INSIDE)");

  space = linear();
  space.operands[0].map = map("(i, n, k) -> (k, k)");
  space.operands[0].tensor = {6, 6};
  EXPECT_EQ(sentence(space),
            "a step of loop 2 moves the region of operand 0 along 2 axes, allowed: at most 1 "
            "(IS-COHERENT)");

  space = linear();
  space.results[0].outside = 0;
  EXPECT_EQ(sentence(space), "result 0 is written and must not have a value outside (IS-COVER)");

  space = linear();
  space.loops[1].kind = LoopKind::Reduced;
  EXPECT_EQ(sentence(space), "loop 1 is reduced and must not move result 0 (IS-REDUCED)");

  space = linear();
  space.loops[2].kind = LoopKind::Parallel;
  EXPECT_EQ(sentence(space),
            "every step of loop 2 writes the same elements of result 0 (IS-COVER)");

  space = linear();
  space.results[0].region[1] = 2;
  space.results[0].tensor[1] = 9;
  EXPECT_EQ(sentence(space), "elements of result 0 are written more than once along axis 1: a step "
                             "of 1 over 2 elements (IS-COVER)");

  space = linear();
  space.results[0].map = map("(i, n, k) -> (i, n * 2)");
  space.results[0].tensor[1] = 15;
  EXPECT_EQ(sentence(space), "elements of result 0 are never written along axis 1: a step of 2 "
                             "over 1 elements (IS-COVER)");

  space = linear();
  space.results[0].tensor[0] = 5;
  EXPECT_EQ(sentence(space),
            "only elements 0 to 3 of result 0 are written along axis 0 of extent 5 (IS-COVER)");
}

// A product reads what its operand is a view of, by composition of both maps: the same elements
// as point by point.
TEST_F(Spaces, ViewsArePartOfTheMapsBehindThem) {
  const Projection product =
                       Projection::elements(map("(n, y, c, k) -> (n, y, c, k)"), {1, 9, 4, 3}),
                   mirrored =
                       Projection::elements(map("(n, y, c, k) -> (n, 8 - y, c, k)"), {1, 9, 4, 3});
  Projection view = Projection::elements(map("(n, y, c, k) -> (n, y * 2 + k - 1, c)"), {1, 18, 4});
  view.outside = 0;
  const auto both = through(product, view);
  ASSERT_TRUE(both);
  EXPECT_EQ(both->map, map("(n, y, c, k) -> (n, y * 2 + k - 1, c)"));
  EXPECT_EQ(both->outside, 0);
  EXPECT_EQ(both->tensor, (Extents{1, 18, 4}));
  EXPECT_EQ(sharedElements(*both, {{0, 3, 0, 0}, {1, 1, 4, 3}}, 1), 4); // one position of three
  const auto back = through(mirrored, view);
  ASSERT_TRUE(back);
  for (int64_t y = 0; y < 9; ++y)
    for (int64_t k = 0; k < 3; ++k) {
      const Region at = regionOf(mirrored, {{0, y, 2, k}, {1, 1, 1, 1}});
      EXPECT_EQ(regionOf(*back, {{0, y, 2, k}, {1, 1, 1, 1}}),
                regionOf(view, {at.start, {1, 1, 1, 1}}));
    }
  // A sum over an axis asks for all of it at once; a border of a border is no single map.
  Projection line = product, border = product;
  line.region = {1, 1, 1, 3};
  border.outside = 0;
  EXPECT_FALSE(through(line, view));
  EXPECT_FALSE(through(border, view));
}

TEST_F(Spaces, ALinearLayerSplitsBySamplesByFeaturesAndByWhatItSums) {
  std::string why;
  const auto samples = split(linear(), 0, 2, Shares::Contiguous, why);
  ASSERT_TRUE(samples) << why;
  EXPECT_EQ(samples->parts[1].operands[0], (Slice{{2, 0}, {2, 6}, {1, 1}}));
  EXPECT_EQ(samples->parts[1].operands[1], (Slice{{0, 0}, {6, 8}, {1, 1}})); // shared
  EXPECT_EQ(samples->parts[1].results[0], (Slice{{2, 0}, {2, 8}, {1, 1}}));

  const auto features = split(linear(), 1, 3, Shares::Contiguous, why);
  ASSERT_TRUE(features) << why;
  EXPECT_EQ(features->parts[2].share.first, 6);
  EXPECT_EQ(features->parts[2].operands[0], (Slice{{0, 0}, {4, 6}, {1, 1}})); // shared
  EXPECT_EQ(features->parts[2].operands[1], (Slice{{0, 6}, {6, 2}, {1, 1}}));

  // linear = matmul => sum: a new axis of partials, and their sum.
  const auto sums = split(linear(), 2, 2, Shares::Contiguous, why);
  ASSERT_TRUE(sums) << why;
  EXPECT_EQ(sums->parts[1].operands[0], (Slice{{0, 3}, {4, 3}, {1, 1}}));
  EXPECT_EQ(sums->parts[1].operands[1], (Slice{{3, 0}, {3, 8}, {1, 1}}));
  EXPECT_EQ(sums->parts[1].results[0], (Slice{{0, 0}, {4, 8}, {1, 1}}));
  ASSERT_EQ(sums->merges.size(), 1U);
  EXPECT_EQ(sums->merges[0].operands[0].tensor, (Extents{2, 4, 8}));
  EXPECT_EQ(sums->merges[0].operands[0].map, map("(i, n, p) -> (p, i, n)"));
}

TEST_F(Spaces, WindowsSplitWithAHalo) {
  std::string why;
  const auto found = split(window(1, 1), 0, 3, Shares::Contiguous, why);
  ASSERT_TRUE(found) << why;
  // Three positions read five elements; at the border a pad is one of them.
  EXPECT_EQ(found->parts[0].operands[0], (Slice{{0}, {4}, {1}}));
  EXPECT_EQ(found->parts[1].operands[0], (Slice{{2}, {5}, {1}}));
  EXPECT_EQ(found->parts[2].operands[0], (Slice{{5}, {4}, {1}}));
  EXPECT_EQ(sharedElements(window(1, 1).operands[0], {{3, 0}, {3, 3}}, 0), 2);
  EXPECT_EQ(overlap(window(1, 1).operands[0], {{3, 0}, {3, 3}}, 0), (Region{{5}, {2}}));
}

TEST_F(Spaces, PhasesOfAStrideAreDense) {
  // y * 2 + k with k = 2 * q + r: elements r, r + 2, ... and a window of step 1.
  std::string why;
  const auto found = split(window(2, 0), 1, 2, Shares::Phases, why);
  ASSERT_TRUE(found) << why;
  EXPECT_EQ(found->parts[0].operands[0], (Slice{{0}, {10}, {2}}));
  EXPECT_EQ(found->parts[0].space.operands[0].map, map("(y, k) -> (y + k)"));
  EXPECT_EQ(found->parts[1].operands[0], (Slice{{1}, {9}, {2}}));
  EXPECT_EQ(found->merges.size(), 1U);
}

TEST_F(Spaces, PhasesOfADilationInterleaveTheirResults) {
  // y + 2 * k with y = 2 * q + r.
  IndexSpace space = window(1, 0);
  space.operands[0].map = map("(y, k) -> (y + k * 2)");
  space.operands[0].tensor = {13};
  std::string why;
  ASSERT_TRUE(verify(space, why)) << why;
  const auto found = split(space, 0, 2, Shares::Phases, why);
  ASSERT_TRUE(found) << why;
  EXPECT_EQ(found->parts[1].operands[0], (Slice{{1}, {6}, {2}}));
  EXPECT_EQ(found->parts[1].space.operands[0].map, map("(y, k) -> (y + k)"));
  EXPECT_EQ(found->parts[1].results[0], (Slice{{1}, {4}, {2}}));
}

TEST_F(Spaces, SplitsThatAreNoneSaySo) {
  std::string why;
  EXPECT_FALSE(split(linear(), 0, 5, Shares::Contiguous, why));
  EXPECT_EQ(why, "loop 0 of extent 4 cannot be split into 5 parts");

  IndexSpace ordered = window(1, 0);
  ordered.loops[0].kind = LoopKind::Ordered;
  EXPECT_FALSE(split(ordered, 0, 3, Shares::Contiguous, why));
  EXPECT_EQ(why, "loop 0 is ordered and cannot be partitioned");

  EXPECT_FALSE(partOf(linear(), 0, {2, 3, 1}, why));
  EXPECT_EQ(why, "a part of 3 steps from 2, 1 apart, does not fit loop 0 of 4 steps");

  // i * 4 + j: half of every four elements is no slice.
  IndexSpace digits;
  digits.loops = {{3}, {4}};
  digits.results = {Projection::elements(map("(i, j) -> (i * 4 + j)"), {12})};
  EXPECT_FALSE(split(digits, 1, 2, Shares::Contiguous, why));
  EXPECT_EQ(why, "elements of result 0 are never written along axis 0: a step of 4 over 2 elements "
                 "(IS-COVER)");
  EXPECT_TRUE(split(digits, 0, 3, Shares::Contiguous, why)) << why;
}

} // namespace
} // namespace sluice::space
