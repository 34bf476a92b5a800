// The bound on rows that are stored at once: how many rows it is sure of, and what it does not
// count.
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "compiler/conversion/plan/order/least_memory.h"
#include "compiler/conversion/plan/order/work.h"
#include "compiler/conversion/rows/row_bound.h"
#include "harness.h"

namespace sluice::rows::test {
namespace {

std::string type(int rows, int columns) {
  return "tensor<" + std::to_string(rows) + "x" + std::to_string(columns) +
         "xbf16, #sluice.dim<1>>";
}

std::string constant(const std::string &name, int rows, int columns, double value = 0.5) {
  const std::string shape = std::to_string(rows) + "x" + std::to_string(columns);
  return "  " + name + " = sluice.constant dense<" + std::to_string(value) + "> : tensor<" + shape +
         "xf32>\n";
}

std::string map(const std::string &name, const std::string &x, const std::string &type,
                const std::string &body) {
  return "  " + name + " = sluice.map (%a = " + x + ") : (" + type + ") -> " + type + " {\n" +
         "    %c = arith.constant 2.0 : f32\n    %m = " + body +
         " : f32\n    sluice.yield %m\n  }\n";
}

std::string tanh(const std::string &name, const std::string &x, const std::string &type) {
  return map(name, x, type, "math.tanh %a");
}

std::string twice(const std::string &name, const std::string &x, const std::string &type) {
  return map(name, x, type, "arith.mulf %a, %c");
}

std::string product(const std::string &name, const std::string &x, int rows, int from, int to,
                    double weight = 0.5) {
  const std::string w = name + "_w";
  return constant(w, from, to, weight) + "  " + name + " = sluice.matmul " + x + ", " + w + " : (" +
         type(rows, from) + ", tensor<" + std::to_string(from) + "x" + std::to_string(to) +
         "xf32>) -> " + type(rows, to) + "\n";
}

/// A function of [5 20] elements, each line in three rows of 8 lanes.
std::string function(const std::string &body, const std::string &result) {
  return "func.func @main(%x: " + type(5, 20) + ") -> " + result + " {\n" + body +
         "  return %y : " + result + "\n}";
}

/// Expects a bound, and that the model stores so many rows at once.
void expect(const std::string &text, uint64_t bound, uint64_t stored) {
  const Model model(text);
  ASSERT_TRUE(model.graph) << text;
  const RowBound found = rowBound(model.main(), 8);
  EXPECT_EQ(found.rows, bound);
  const plan::Work work = plan::analyse(*model.graph);
  EXPECT_EQ(plan::rowsAtOnce(*model.graph, work).size(), stored);
  EXPECT_LE(found.beats, work.beats);
}

TEST(RowBound, CountsTheRowsThatAProductReads) {
  expect(function(tanh("%h", "%x", type(5, 20)) + product("%y", "%h", 5, 20, 4), type(5, 4)), 15,
         30);
}

TEST(RowBound, FollowsAffineMaps) {
  expect(function(tanh("%h", "%x", type(5, 20)) + twice("%g", "%h", type(5, 20)) +
                      product("%y", "%g", 5, 20, 4),
                  type(5, 4)),
         15, 30);
  // Lowering moves them into the weights: the rows that are read are those of the input.
  expect(function(twice("%h", "%x", type(5, 20)) + product("%y", "%h", 5, 20, 4), type(5, 4)), 0,
         15);
}

TEST(RowBound, CountsWhatAViewSelects) {
  const std::string slice = "  %s = sluice.slice %h starts [1, 4] sizes [3, 8] steps [1, 1] : (" +
                            type(5, 20) + ") -> " + type(3, 8) + "\n";
  // The lanes 4 to 11 lie in two rows of each line.
  expect(function(tanh("%h", "%x", type(5, 20)) + slice + product("%y", "%s", 3, 8, 4), type(3, 4)),
         6, 15);
}

TEST(RowBound, CountsWhatAViewSelectsOfOneOfSeveral) {
  const std::string two = type(10, 20);
  const std::string concat =
      "  %two = sluice.concat %g, %h axis 0 : (" + type(5, 20) + ", " + type(5, 20) + ") -> " +
      two + "\n  %s = sluice.slice %two starts [6, 0] sizes [3, 20] steps [1, 1] : (" + two +
      ") -> " + type(3, 20) + "\n";
  expect(function(twice("%g", "%x", type(5, 20)) + tanh("%h", "%x", type(5, 20)) + concat +
                      product("%y", "%s", 3, 20, 4),
                  type(3, 4)),
         9, 18);
}

TEST(RowBound, CountsWhatNeighbouringViewsSelect) {
  const auto slice = [](const std::string &name, int first) {
    return "  " + name + " = sluice.slice %p starts [" + std::to_string(first) +
           ", 0] sizes [2, 20] steps [1, 1] : (" + type(5, 20) + ") -> " + type(2, 20) + "\n";
  };
  const auto model = [&](int first) {
    const std::string two = type(2, 20);
    return function(
        tanh("%h", "%x", type(5, 20)) + product("%p", "%h", 5, 20, 20) + slice("%s", 0) +
            slice("%t", first) + "  %y = sluice.map (%a = %s, %b = %t) : (" + two + ", " + two +
            ") -> " + two + " {\n    %m = arith.maximumf %a, %b : f32\n    sluice.yield %m\n  }\n",
        two);
  };
  expect(model(2), 12, 24); // lines 0 to 3
  expect(model(1), 9, 18);  // lines 0 to 2
  expect(model(3), 6, 24);  // between them lies a line that is not read
}

TEST(RowBound, CountsNoRowsOfWhichWeightsAreZero) {
  expect(function(tanh("%h", "%x", type(5, 20)) + product("%g", "%h", 5, 20, 20, 0) +
                      twice("%y", "%g", type(5, 20)),
                  type(5, 20)),
         0, 15);
}

TEST(RowBound, CountsTheRowsOfASum) {
  expect(function(tanh("%h", "%x", type(5, 20)) +
                      "  %y = sluice.reduce sum %h axes [1] keepdims : (" + type(5, 20) + ") -> " +
                      type(5, 1) + "\n",
                  type(5, 1)),
         15, 30);
}

/// The left operand of this product becomes x, the right one columns of weights.
TEST(RowBound, CountsNoRowsThatBecomeWeights) {
  const auto model = [&](const std::string &left, const std::string &right) {
    return "func.func @main(%l: " + type(20, 12) + ", %r: " + type(12, 8) + ") -> " + type(20, 8) +
           " {\n" + left + right + "  %y = sluice.matmul %p, %q : (" + type(20, 12) + ", " +
           type(12, 8) + ") -> " + type(20, 8) + "\n  return %y : " + type(20, 8) + "\n}";
  };
  expect(model(tanh("%p", "%l", type(20, 12)), twice("%q", "%r", type(12, 8))), 40, 92);
  expect(model(twice("%p", "%l", type(20, 12)), tanh("%q", "%r", type(12, 8))), 0, 92);
}

/// Attention of 20 positions with 8 features, each line of scores in three rows. `scores` computes
/// %s of %p, the product of queries and keys. The maximum is that of %s, and the exponentials are
/// those of `powers`.
std::string attention(const std::string &scores, const std::string &powers) {
  const std::string x = type(20, 8), lines = type(20, 20), maxima = type(20, 1);
  return "func.func @main(%q: " + x + ", %k: tensor<8x20xbf16, #sluice.dim<0>>, %v: " + x +
         ") -> " + x + " {\n  %p = sluice.matmul %q, %k : (" + x +
         ", tensor<8x20xbf16, #sluice.dim<0>>) -> " + lines + "\n" + scores +
         "  %m = sluice.reduce max %s axes [1] keepdims : (" + lines + ") -> " + maxima +
         "\n  %b = sluice.broadcast %m : (" + maxima + ") -> " + lines +
         "\n  %e = sluice.map (%a = " + powers + ", %c = %b) : (" + lines + ", " + lines + ") -> " +
         lines +
         " {\n    %d = arith.subf %a, %c : f32\n    %x = math.exp %d : f32\n    sluice.yield %x\n"
         "  }\n  %y = sluice.matmul %e, %v : (" +
         lines + ", " + x + ") -> " + x + "\n  return %y : " + x + "\n}";
}

TEST(RowBound, CountsScoresBesideTheirExponentials) {
  const std::string lines = type(20, 20);
  // 60 rows of each. Beside them are stored 20 maxima.
  expect(attention(twice("%s", "%p", lines), "%s"), 120, 140);
}

TEST(RowBound, CountsNoOperandThatMayBePartOfAFunction) {
  const std::string lines = type(20, 20);
  // The exponentials read the product, of which the maximum is not taken.
  expect(attention(tanh("%s", "%p", lines), "%p"), 60, 140);
  // Nor is it certain that a function has rows of its own.
  expect(attention(tanh("%s", "%p", lines), "%s"), 60, 140);
}

/// A recurrence of three steps whose states are returned. Each is the operand of the next step.
/// `behind` is a function of each state, if it is not empty.
std::string recurrence(const std::string &behind) {
  const std::string one = type(1, 20), all = type(3, 20), h = behind.empty() ? "%g" : "%h";
  std::string text = "func.func @main(%x: " + all + ") -> " + all + " {\n";
  for (int step = 0; step < 3; ++step) {
    const std::string i = std::to_string(step), before = step == 0 ? "%x0" : "%r" + i;
    text += "  %x" + i + " = sluice.slice %x starts [" + i + ", 0] sizes [1, 20] steps [1, 1] : (" +
            all + ") -> " + one + "\n";
    if (step != 0)
      text += product(before, h + std::to_string(step - 1), 1, 20, 20);
    text += "  %g" + i + " = sluice.map (%a = %x" + i + ", %b = " + before + ") : (" + one + ", " +
            one + ") -> " + one +
            " {\n    %s = arith.addf %a, %b : f32\n    %t = math.tanh %s : f32\n"
            "    sluice.yield %t\n  }\n";
    if (!behind.empty())
      text += map("%h" + i, "%g" + i, one, behind);
  }
  return text + "  %y = sluice.concat " + h + "0, " + h + "1, " + h + "2 axis 0 : (" + one + ", " +
         one + ", " + one + ") -> " + all + "\n  return %y : " + all + "\n}";
}

TEST(RowBound, KnowsThatARowOfAnOutputIsRead) {
  const auto readsAnOutput = [](const std::string &text) {
    const Model model(text);
    EXPECT_TRUE(model.graph) << text;
    const bool known = rowBound(model.main(), 8).readsAnOutput;
    EXPECT_LE(known, plan::leastMemory(*model.graph, plan::analyse(*model.graph)).outputRows != 0);
    return known;
  };
  EXPECT_TRUE(readsAnOutput(recurrence("")));
  // A product reads the rows before an affine function.
  EXPECT_FALSE(readsAnOutput(recurrence("arith.mulf %a, %c")));
  EXPECT_FALSE(readsAnOutput(
      function(tanh("%h", "%x", type(5, 20)) + product("%y", "%h", 5, 20, 4), type(5, 4))));
}

std::string cube(int heads, int rows, int columns, const std::string &element = "bf16") {
  return "tensor<" + std::to_string(heads) + "x" + std::to_string(rows) + "x" +
         std::to_string(columns) + "x" + element + (element == "bf16" ? ", #sluice.dim<2>>" : ">");
}

/// The sum over heads of products whose lanes a mask keeps or not: 5 rows of 20 elements each read
/// 20 rows of `lanes` elements.
std::string masked(const std::vector<std::vector<int>> &mask, const std::string &behind = "") {
  const int heads = static_cast<int>(mask.size()), lanes = static_cast<int>(mask[0].size());
  const std::string scores = cube(heads, 5, 20), values = cube(heads, 20, lanes),
                    sums = cube(heads, 5, lanes), kept = cube(heads, 5, lanes, "f32");
  std::string numbers;
  for (const std::vector<int> &head : mask) {
    std::string line;
    for (const int lane : head)
      line += (line.empty() ? "[" : ", ") + std::to_string(lane) + ".0";
    std::string rows;
    for (int row = 0; row < 5; ++row)
      rows += (row == 0 ? "[" : ", ") + line + "]";
    numbers += (numbers.empty() ? "[" : ", ") + rows + "]";
  }
  return "func.func @main(%l: " + scores + ", %v: " + values + ") -> " +
         type(behind.empty() ? 5 : 3, lanes) + " {\n" + tanh("%s", "%l", scores) +
         "  %mask = sluice.constant dense<" + numbers + "]> : " + kept +
         "\n  %p = sluice.matmul %s, %v : (" + scores + ", " + values + ") -> " + sums +
         "\n  %own = sluice.map (%a = %p, %b = %mask) : (" + sums + ", " + kept + ") -> " + sums +
         " {\n    %m = arith.mulf %a, %b : f32\n    sluice.yield %m\n  }\n" +
         (behind.empty() ? "  %y" : "  %sum") + " = sluice.reduce sum %own axes [0] : (" + sums +
         ") -> " + type(5, lanes) + "\n" + behind +
         "  return %y : " + type(behind.empty() ? 5 : 3, lanes) + "\n}";
}

TEST(RowBound, CountsRowsOfWhichAMaskKeepsSomeLanes) {
  // 2 heads, 5 lines of 20 elements each.
  expect(masked({{1, 1, 0, 0}, {0, 0, 1, 1}}), 30, 60);
  // The mask leaves out all of the second head.
  expect(masked({{1, 1, 1, 1}, {0, 0, 0, 0}}), 0, 60);
  expect(masked({{1, 1, 0, 0}, {0, 0, 1, 1}},
                "  %y = sluice.slice %sum starts [1, 0] sizes [3, 4] steps [1, 1] : (" +
                    type(5, 4) + ") -> " + type(3, 4) + "\n"),
         18, 36);
}

TEST(RowBound, IsAtMostTheRowsThatRandomMasksKeep) {
  std::mt19937 random(1);
  unsigned known = 0;
  for (int i = 0; i < 100; ++i) {
    std::vector<std::vector<int>> mask(1 + random() % 4, std::vector<int>(1 + random() % 12));
    for (std::vector<int> &head : mask)
      for (int &lane : head)
        lane = random() % 3 == 0 ? 1 : 0;
    const std::string text = masked(mask);
    const Model model(text);
    ASSERT_TRUE(model.graph) << text;
    const RowBound found = rowBound(model.main(), 8);
    known += found.rows != 0 ? 1 : 0;
    const plan::Work work = plan::analyse(*model.graph);
    ASSERT_LE(found.rows, plan::rowsAtOnce(*model.graph, work).size()) << text;
    ASSERT_LE(found.beats, work.beats) << text;
  }
  EXPECT_GT(known, 20U);
}

} // namespace
} // namespace sluice::rows::test
