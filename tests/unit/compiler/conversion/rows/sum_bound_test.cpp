// The bound on preload rows of models with states: how many rows it is sure of, and that no plan
// needs fewer.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <string>

#include "compiler/conversion/plan/order/planned.h"
#include "compiler/conversion/plan/order/work_ahead.h"
#include "compiler/conversion/rows/late_factors.h"
#include "compiler/conversion/rows/short_chains.h"
#include "compiler/conversion/rows/sum_bound.h"
#include "harness.h"

namespace sluice::rows::test {
namespace {

constexpr uint32_t kLanes = 8;

/// A state that holds the last inputs, and the product of these and of the input with weights.
struct DelayLine {
  int inputs = 8; ///< elements of an input
  int taps = 4;   ///< inputs that the state holds, the oldest first
  int outputs = 24;
  std::function<double(int row, int column)> weight;
  std::string function = {}; ///< of %s, which the product reads as %f

  [[nodiscard]] std::string text() const {
    const int all = (taps + 1) * inputs;
    std::string text =
        "func.func @main(%x: " + type(inputs) + ") -> " + type(outputs) + " {\n" +
        "  %s = sluice.state : " + type(taps * inputs) + "\n" + concat("%c", "%s") +
        "  %n = sluice.slice %c starts [0, " + std::to_string(inputs) + "] sizes [1, " +
        std::to_string(taps * inputs) + "] steps [1, 1] : (" + type(all) + ") -> " +
        type(taps * inputs) + "\n" + "  %k = sluice.keep %n in %s : (" + type(taps * inputs) +
        ", " + type(taps * inputs) + ") -> " + type(taps * inputs) + "\n" + function +
        concat("%h", function.empty() ? "%s" : "%f") + "  %w = sluice.constant dense<[";
    for (int row = 0; row < all; ++row) {
      text += row == 0 ? "[" : ", [";
      for (int column = 0; column < outputs; ++column)
        text += (column == 0 ? "" : ", ") + std::to_string(weight(row, column));
      text += "]";
    }
    const std::string weights =
        "tensor<" + std::to_string(all) + "x" + std::to_string(outputs) + "xf32>";
    return text + "]> : " + weights + "\n  %y = sluice.matmul %h, %w : (" + type(all) + ", " +
           weights + ") -> " + type(outputs) + "\n  return %y : " + type(outputs) + "\n}";
  }

  static std::string type(int columns) {
    return "tensor<1x" + std::to_string(columns) + "xbf16, #sluice.dim<1>>";
  }

private:
  [[nodiscard]] std::string concat(const std::string &name, const std::string &state) const {
    return "  " + name + " = sluice.concat " + state + ", %x axis 1 : (" + type(taps * inputs) +
           ", " + type(inputs) + ") -> " + type((taps + 1) * inputs) + "\n";
  }
};

/// Between -1 and 1, never zero.
double noiseOf(int row, int column) {
  std::mt19937 random(static_cast<unsigned>(row * 1000 + column));
  return std::uniform_real_distribution<double>(0.25, 1)(random) * (random() % 2 == 0 ? 1 : -1);
}

/// The fewest preload rows of all forms of the rows of a model.
uint64_t fewestPreloads(Model &model) {
  model.graph->geometry.peTerms = kLanes; // of latencies
  std::vector<Graph> forms{*model.graph};
  for (const auto rewrite : {shortenChains, factorsBehindNewest})
    for (size_t i = 0, count = forms.size(); i < count; ++i)
      if (Graph other = forms[i]; rewrite(other))
        forms.push_back(std::move(other));
  uint64_t fewest = ~uint64_t{0};
  for (const Graph &form : forms)
    fewest = std::min(fewest, plan::Planned(form).leastMemory().preloadRows);
  return fewest;
}

void expectSums(const DelayLine &line, uint64_t bound, uint64_t preloads) {
  Model model(line.text(), kLanes);
  ASSERT_TRUE(model.graph) << line.text();
  EXPECT_EQ(sumBound(model.main(), kLanes).rows, bound);
  EXPECT_EQ(fewestPreloads(model), preloads);
}

TEST(SumBound, CountsEachRowForEachInferenceThatItsSumPassesThrough) {
  expectSums({.weight = noiseOf}, 3 * 4, 3 * 4);
  expectSums({.inputs = 16, .taps = 2, .outputs = 20, .weight = noiseOf}, 3 * 2, 3 * 2);
}

TEST(SumBound, CountsNoWeightsOfZero) {
  const auto newest = [](int row, int column) { return row < 16 ? 0 : noiseOf(row, column); };
  expectSums({.weight = newest}, 3 * 2, 3 * 2);
  const auto first = [](int row, int column) { return column < 8 ? noiseOf(row, column) : 0; };
  expectSums({.weight = first}, 4, 4);
  const auto none = [](int row, int column) { return row < 32 ? 0 : noiseOf(row, column); };
  expectSums({.weight = none}, 0, 0);
}

TEST(SumBound, CountsEqualRowsOnce) {
  const auto repeats = [](int row, int column) { return noiseOf(row, column % 8); };
  Model model(DelayLine{.weight = repeats}.text(), kLanes);
  ASSERT_TRUE(model.graph);
  EXPECT_EQ(sumBound(model.main(), kLanes).rows, 4U);
}

TEST(SumBound, CountsNoFunctionsOfStates) {
  const std::string type = DelayLine::type(32);
  const std::string relu = "  %f = sluice.map (%a = %s) : (" + type + ") -> " + type +
                           " {\n    %z = arith.constant 0.0 : f32\n    %m = arith.maximumf %a, %z "
                           ": f32\n    sluice.yield %m\n  }\n";
  Model model(DelayLine{.weight = noiseOf, .function = relu}.text(), kLanes);
  ASSERT_TRUE(model.graph);
  EXPECT_EQ(sumBound(model.main(), kLanes).rows, 0U);
}

TEST(SumBound, CountsOnlyStatesInWholeRows) {
  // An input is half a row, so the rows of the state do not become one another.
  Model model(DelayLine{.inputs = 4, .weight = noiseOf}.text(), kLanes);
  ASSERT_TRUE(model.graph);
  EXPECT_LE(sumBound(model.main(), kLanes).rows, fewestPreloads(model));
}

TEST(SumBound, NoPlanNeedsFewer) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    std::mt19937 random(seed);
    const auto any = [&](int from, int to) {
      return from + static_cast<int>(random() % static_cast<unsigned>(to - from + 1));
    };
    const int zeros = any(0, 3), equal = any(1, 30);
    const unsigned salt = random();
    DelayLine line{.inputs = any(1, 20),
                   .taps = any(1, 6),
                   .outputs = any(1, 30),
                   .weight = [=](int row, int column) {
                     const double weight =
                         noiseOf(row + static_cast<int>(salt % 1000), column % equal);
                     return std::fabs(weight) < 0.25 + 0.25 * zeros ? 0 : weight;
                   }};
    if (any(0, 1) == 0)
      line.inputs = (line.inputs + 7) / 8 * 8;
    Model model(line.text(), kLanes);
    ASSERT_TRUE(model.graph) << line.text();
    if (!plan::circularState(*model.graph))
      EXPECT_LE(sumBound(model.main(), kLanes).rows, fewestPreloads(model)) << line.text();
  }
}

} // namespace
} // namespace sluice::rows::test
