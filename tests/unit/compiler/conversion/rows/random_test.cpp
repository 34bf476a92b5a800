// Random chains of operations: the row graph computes what the golden
// evaluator does, up to the rounding of a few bf16 steps.
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "compiler/conversion/plan/order/least_memory.h"
#include "compiler/conversion/plan/order/work.h"
#include "compiler/conversion/rows/longest_way.h"
#include "compiler/conversion/rows/row_bound.h"
#include "compiler/conversion/rows/stage_bound.h"
#include "compiler/conversion/rows/weight_bound.h"
#include "harness.h"

namespace sluice::rows::test {
namespace {

/// Writes a function whose current value is a [rows columns!] tensor.
class Writer {
public:
  explicit Writer(unsigned seed) : random(seed), rows(pick(1, 3)), columns(pick(1, 21)) {
    header = "func.func @main(%v0: " + type() + ")";
    const int length = pick(2, 7);
    for (int i = 0; i < length; ++i)
      addOperation();
    text = header + " -> " + type() + " {\n" + text + "  return " + value + " : " + type() + "\n}";
  }
  std::string text;

private:
  int pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); }

  static std::string shape(int r, int c) { return std::to_string(r) + "x" + std::to_string(c); }
  static std::string runtime(int r, int c) {
    return "tensor<" + shape(r, c) + "xbf16, #sluice.dim<1>>";
  }
  std::string type() const { return runtime(rows, columns); }
  std::string fresh() { return "%v" + std::to_string(++names); }

  /// A constant of random multiples of 1/16 between -1 and 1.
  std::string constant(int r, int c, double scale) {
    const std::string name = fresh();
    text += "  " + name + " = sluice.constant dense<[";
    for (int i = 0; i < r; ++i) {
      text += i ? ", [" : "[";
      for (int j = 0; j < c; ++j)
        text += (j ? ", " : "") + std::to_string(pick(-16, 16) / 16.0 * scale);
      text += "]";
    }
    text += "]> : tensor<" + shape(r, c) + "xf32>\n";
    return name;
  }

  void map(const std::string &bindings, const std::string &types, const std::string &body) {
    const std::string next = fresh();
    text += "  " + next + " = sluice.map (" + bindings + ") : (" + types + ") -> " + type() +
            " {\n" + body + "\n  }\n";
    value = next;
  }

  void addOperation() {
    switch (pick(0, 9)) {
    case 0:
    case 1: {
      const int next = pick(1, 21);
      const std::string w = constant(columns, next, 0.5);
      const std::string name = fresh();
      text += "  " + name + " = sluice.matmul " + value + ", " + w + " : (" + type() + ", tensor<" +
              shape(columns, next) + "xf32>) -> " + runtime(rows, next) + "\n";
      value = name;
      columns = next;
      break;
    }
    case 2: {
      const std::string b = constant(rows, columns, 1);
      map("%a = " + value + ", %b = " + b, type() + ", tensor<" + shape(rows, columns) + "xf32>",
          "    %0 = arith.addf %a, %b : f32\n    sluice.yield %0");
      break;
    }
    case 3:
      map("%a = " + value, type(), "    %0 = math.tanh %a : f32\n    sluice.yield %0");
      break;
    case 4:
      map("%a = " + value, type(),
          "    %z = arith.constant 0.0 : f32\n    %0 = arith.maximumf %a, %z : f32\n"
          "    sluice.yield %0");
      break;
    case 5: {
      const std::string b = constant(rows, columns, 1);
      map("%a = " + value + ", %b = " + b, type() + ", tensor<" + shape(rows, columns) + "xf32>",
          "    %h = arith.constant 0.5 : f32\n    %0 = arith.subf %b, %a : f32\n"
          "    %1 = arith.mulf %0, %h : f32\n    sluice.yield %1");
      break;
    }
    case 6: {
      // A slice along the lanes.
      const int start = pick(0, columns - 1), size = pick(1, columns - start);
      const std::string name = fresh();
      text += "  " + name + " = sluice.slice " + value + " starts [0, " + std::to_string(start) +
              "] sizes [" + std::to_string(rows) + ", " + std::to_string(size) +
              "] steps [1, 1] : (" + type() + ") -> " + runtime(rows, size) + "\n";
      value = name;
      columns = size;
      break;
    }
    case 7: {
      // Beside itself, reversed.
      const std::string reversed = fresh(), name = fresh();
      text += "  " + reversed + " = sluice.slice " + value + " starts [0, " +
              std::to_string(columns - 1) + "] sizes [" + std::to_string(rows) + ", " +
              std::to_string(columns) + "] steps [1, -1] : (" + type() + ") -> " + type() + "\n  " +
              name + " = sluice.concat " + value + ", " + reversed + " axis 1 : (" + type() + ", " +
              type() + ") -> " + runtime(rows, 2 * columns) + "\n";
      value = name;
      columns *= 2;
      break;
    }
    case 8: {
      // Distance from the largest element of each row.
      const std::string most = fresh(), spread = fresh();
      text += "  " + most + " = sluice.reduce max " + value + " axes [1] keepdims : (" + type() +
              ") -> " + runtime(rows, 1) + "\n  " + spread + " = sluice.broadcast " + most +
              " : (" + runtime(rows, 1) + ") -> " + type() + "\n";
      map("%a = " + value + ", %b = " + spread, type() + ", " + type(),
          "    %0 = arith.subf %a, %b : f32\n    %1 = math.exp %0 : f32\n    sluice.yield %1");
      break;
    }
    default: {
      // Mean over the other axis, back on every row.
      const std::string mean = fresh(), spread = fresh();
      text += "  " + mean + " = sluice.reduce mean " + value + " axes [0] keepdims : (" + type() +
              ") -> " + runtime(1, columns) + "\n  " + spread + " = sluice.broadcast " + mean +
              " : (" + runtime(1, columns) + ") -> " + type() + "\n";
      map("%a = " + value + ", %b = " + spread, type() + ", " + type(),
          "    %0 = arith.addf %a, %b : f32\n    sluice.yield %0");
      break;
    }
    }
  }

  std::mt19937 random;
  int rows, columns, names = 0;
  std::string header, value = "%v0";
};

class Random : public testing::TestWithParam<unsigned> {};

TEST_P(Random, AgreesWithTheGoldenEvaluator) {
  for (unsigned i = 0; i < 50; ++i) {
    const Writer writer(GetParam() * 50 + i);
    Model model(writer.text);
    ASSERT_TRUE(model.graph) << writer.text;
    // Differences of nearly equal values lose bits: absolute where the result
    // is small.
    const auto inputs = model.randomInputs(-2, 2, i);
    const auto found = model.run(inputs), wanted = model.golden(inputs);
    for (size_t k = 0; k < wanted[0].values.size(); ++k)
      ASSERT_NEAR(found[0].values[k], wanted[0].values[k],
                  0.06 + 0.03 * std::abs(wanted[0].values[k]))
          << writer.text;
  }
}

TEST_P(Random, StoresAtLeastAsManyBlocksAsTheBound) {
  for (unsigned i = 0; i < 50; ++i) {
    const Writer writer(GetParam() * 50 + i);
    constexpr uint32_t kLanes = 4; // several rows of each tensor
    const Model model(writer.text, kLanes);
    ASSERT_TRUE(model.graph) << writer.text;
    std::set<uint32_t> blocks;
    for (const Row &row : model.graph->rows)
      for (const Term &term : row.terms)
        blocks.insert(term.block);
    ASSERT_LE(weightBound(model.main(), kLanes).blocks, blocks.size()) << writer.text;
  }
}

TEST_P(Random, StoresAtLeastAsManyRowsAsTheBound) {
  unsigned known = 0;
  for (unsigned i = 0; i < 50; ++i) {
    const Writer writer(GetParam() * 50 + i);
    constexpr uint32_t kLanes = 4;
    Model model(writer.text, kLanes);
    ASSERT_TRUE(model.graph) << writer.text;
    model.graph->geometry.peTerms = kLanes; // of latencies
    BoundFacts facts(model.main());
    const RowBound bound = rowBound(facts, kLanes);
    const uint64_t inStage = stageBound(facts, kLanes);
    known += bound.rows != 0 ? 1 : 0;
    for (const auto &graph : {model.graph, longestWayFirst(*model.graph)})
      if (graph) {
        const plan::Work work = plan::analyse(*graph);
        ASSERT_LE(std::max(bound.rows, inStage), plan::rowsAtOnce(*graph, work).size())
            << writer.text;
        ASSERT_LE(bound.beats, work.beats) << writer.text;
      }
  }
  EXPECT_GT(known, 5U);
}

INSTANTIATE_TEST_SUITE_P(Seeds, Random, testing::Range(0U, 8U));

} // namespace
} // namespace sluice::rows::test
