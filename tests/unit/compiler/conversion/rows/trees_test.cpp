// Trees of merges of any shape: the same bits where merging is exact, and products within their
// bound.
#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "compiler/conversion/rows/trees.h"
#include "harness.h"

namespace sluice::rows::test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::vector<TreeShape> allShapes() {
  std::vector<TreeShape> shapes;
  for (const uint32_t arity : {2, 3})
    for (const bool apart : {false, true})
      for (const auto lanes :
           {TreeShape::Lanes::AtOnce, TreeShape::Lanes::InParts, TreeShape::Lanes::Last})
        for (const uint32_t lanesPerRound : {2, 4})
          shapes.push_back({arity, apart, lanes, lanesPerRound});
  return shapes;
}

struct Extents {
  const char *in, *axes, *out;
  int64_t count; ///< that become one
};

/// Few rows and many, along the lanes, across rows and both, with lanes that no element is in.
constexpr Extents kExtents[] = {{"16x8", "0", "1x8", 16},     {"23x5", "0", "1x5", 23},
                                {"2x40", "1", "2x1", 40},     {"3x61", "1", "3x1", 61},
                                {"9x19", "0, 1", "1x1", 171}, {"2x5", "1", "2x1", 5}};

std::string reduction(const std::string &monoid, const Extents &extents) {
  const std::string in = std::string("tensor<") + extents.in + "xbf16, #sluice.dim<1>>",
                    out = std::string("tensor<") + extents.out + "xbf16, #sluice.dim<1>>";
  return "func.func @main(%x: " + in + ") -> " + out + " {\n  %y = sluice.reduce " + monoid +
         " %x axes [" + extents.axes + "] keepdims : (" + in + ") -> " + out +
         "\n  return %y : " + out + "\n}";
}

/// Every few elements are infinite, zero of either sign or NaN.
void makeSpecial(reference::Tensor &x, std::mt19937 &random) {
  for (double &value : x.values)
    if (const unsigned which = random() % 40; which < 4)
      value = std::array{kInfinity, -kInfinity, 0.0, -0.0}[which];
  if (random() % 4 == 0)
    x.values[random() % x.values.size()] = std::numeric_limits<double>::quiet_NaN();
}

bool sameBits(const reference::Tensor &left, const reference::Tensor &right) {
  return std::ranges::equal(left.values, right.values, [](double l, double r) {
    return (std::isnan(l) && std::isnan(r)) || (l == r && std::signbit(l) == std::signbit(r));
  });
}

TEST(Trees, ExactMergesGiveTheSameBitsInAnyTree) {
  for (const std::string monoid : {"max", "min", "argmax"})
    for (const Extents &extents : kExtents) {
      SCOPED_TRACE(monoid + " of " + extents.in);
      std::mt19937 random(7);
      Model plain(reduction(monoid, extents));
      ASSERT_TRUE(plain.graph);
      std::vector<std::vector<reference::Tensor>> inputs, expected;
      for (unsigned i = 0; i < 6; ++i) {
        inputs.push_back(plain.randomInputs(-3, 3, i));
        if (i >= 2 && monoid != "argmax") // an index of NaN is no number
          makeSpecial(inputs.back()[0], random);
        expected.push_back(plain.run(inputs.back()));
        if (i < 2)
          EXPECT_TRUE(sameBits(expected.back()[0], plain.golden(inputs.back())[0]));
      }
      for (const TreeShape &shape : allShapes()) {
        Model model(reduction(monoid, extents), 8, {.trees = shape});
        ASSERT_TRUE(model.graph) << textOf(shape);
        for (size_t i = 0; i < inputs.size(); ++i)
          EXPECT_TRUE(sameBits(model.run(inputs[i])[0], expected[i][0])) << textOf(shape);
      }
    }
}

/// However a product is merged, a factor costs at most one rounding.
TEST(Trees, ProductsAreRoundedOnceForEachFactorAtMost) {
  for (const Extents &extents : kExtents)
    for (const TreeShape &shape : allShapes()) {
      SCOPED_TRACE(std::string(extents.in) + ", " + textOf(shape));
      Model model(reduction("product", extents), 8, {.trees = shape});
      ASSERT_TRUE(model.graph);
      double worst = 0;
      for (unsigned seed = 0; seed < 4; ++seed) {
        const auto inputs = model.randomInputs(0.9, 1.1, seed);
        const reference::Tensor found = model.run(inputs)[0], exact = model.golden(inputs)[0];
        for (size_t i = 0; i < exact.values.size(); ++i)
          worst = std::max(worst, std::abs(found.values[i] / exact.values[i] - 1));
      }
      const double u = std::ldexp(1, -9);
      EXPECT_LE(worst, std::pow(1 + u, static_cast<double>(extents.count - 1)) - 1);
      EXPECT_GT(worst, 0);
    }
}

TEST(Trees, ShapesAreOfTheRowsTheySay) {
  const Extents rows = kExtents[0]; // 16 rows become one
  EXPECT_EQ(Model(reduction("max", rows)).computed(), 8U);
  EXPECT_EQ(Model(reduction("max", rows), 8, {.trees = {.arity = 2}}).computed(), 15U);
  const Extents lanes{"1x128", "1", "1x1", 128};
  EXPECT_EQ(Model(reduction("max", lanes)).computed(), 1U);
  // As many passes as the machine of the tests has cores, and a merge of what they give.
  EXPECT_EQ(
      Model(reduction("max", lanes), 8, {.trees = {.lanes = TreeShape::Lanes::InParts}}).computed(),
      3U);
  EXPECT_EQ(
      Model(reduction("max", lanes), 8, {.trees = {.lanes = TreeShape::Lanes::Last}}).computed(),
      9U);
  const Extents one{"1x8", "1", "1x1", 8};
  EXPECT_EQ(Model(reduction("product", one)).computed(), 3U);
  EXPECT_EQ(Model(reduction("product", one), 8, {.trees = {.lanesPerRound = 4}}).computed(), 4U);
}

/// By their distance rows are merged, or with those beside them.
TEST(Trees, NeighboursOrRowsAtEvenDistances) {
  using Merged = std::vector<std::vector<RowId>>;
  const auto mergesOf = [](const TreeShape &shape) {
    Merged merges;
    RowId next = 10;
    const RowId last =
        mergeRows({0, 1, 2, 3, 4}, shape, [&](const std::vector<RowId> &rows, uint32_t) {
          merges.push_back(rows);
          return next++;
        });
    EXPECT_EQ(last, next - 1);
    return merges;
  };
  EXPECT_EQ(mergesOf({}), (Merged{{0, 1, 2}, {3, 4}, {10, 11}}));
  EXPECT_EQ(mergesOf({.apart = true}), (Merged{{0, 2, 4}, {1, 3}, {10, 11}}));
  EXPECT_EQ(mergesOf({.arity = 2}), (Merged{{0, 1}, {2, 3}, {10, 11}, {12, 4}}));
  EXPECT_EQ(mergesOf({.arity = 2, .apart = true}), (Merged{{0, 3}, {1, 4}, {10, 2}, {12, 11}}));
}

TEST(Trees, OnlyWhatMattersIsTried) {
  const auto seenBy = [](const std::string &monoid, const Extents &extents) {
    TreesSeen seen;
    const Model model(reduction(monoid, extents), 8, {.treesSeen = &seen});
    std::vector<std::string> texts;
    for (const TreeShape &shape : otherShapes(seen))
      texts.push_back(textOf(shape));
    return texts;
  };
  using Texts = std::vector<std::string>;
  EXPECT_EQ(seenBy("max", {"3x8", "0", "1x8", 3}), Texts());
  EXPECT_EQ(seenBy("sum", {"16x8", "0", "1x8", 16}), Texts());
  EXPECT_EQ(seenBy("max", {"1x8", "1", "1x1", 8}), Texts());
  EXPECT_EQ(seenBy("min", {"4x8", "0", "1x8", 4}),
            (Texts{"trees of 2 rows per pass", "trees of evenly spaced rows",
                   "trees of 2 rows per pass, of evenly spaced rows"}));
  EXPECT_EQ(seenBy("max", {"1x16", "1", "1x1", 16}),
            (Texts{"trees with lanes of each core's rows first", "trees with lanes last",
                   "trees of 2 rows per pass, with lanes last"}));
  EXPECT_EQ(seenBy("product", {"1x8", "1", "1x1", 8}), Texts{"trees of 4 lanes per round"});
  EXPECT_EQ(textOf(TreeShape{}), "");
}

/// The maxima of a maximum and of its index are the same rows, which serve both.
TEST(Trees, WhatTwoReductionsMergeIsMergedOnce) {
  const std::string x = "tensor<16x8xbf16, #sluice.dim<1>>", y = "tensor<1x8xbf16, #sluice.dim<1>>";
  const std::string max = "  %m = sluice.reduce max %x axes [0] keepdims : (" + x + ") -> " + y +
                          "\n",
                    index = "  %i = sluice.reduce argmax %x axes [0] keepdims : (" + x + ") -> " +
                            y + "\n";
  const auto computed = [&](const std::string &body, const std::string &returned) {
    Model model("func.func @main(%x: " + x + ") -> (" + returned.substr(returned.find(':') + 1) +
                ") {\n" + body + "  return " + returned + "\n}");
    EXPECT_EQ(model.error(), 0);
    return model.computed();
  };
  const size_t first = computed(max, "%m : " + y), second = computed(index, "%i : " + y);
  EXPECT_EQ(computed(max + index, "%m, %i : " + y + ", " + y), second);
  EXPECT_GT(second, first);
}

} // namespace
} // namespace sluice::rows::test
