// The bound on rows that are stored in one stage: how many rows it is sure of, and what it does not
// count.
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "compiler/conversion/plan/order/least_memory.h"
#include "compiler/conversion/plan/order/work.h"
#include "compiler/conversion/rows/longest_way.h"
#include "compiler/conversion/rows/stage_bound.h"
#include "harness.h"

namespace sluice::rows::test {
namespace {

std::string type(int lines) {
  return "tensor<" + std::to_string(lines) + "x20xbf16, #sluice.dim<1>>";
}

/// A network on lines of 20 elements, each in three rows of 8 lanes, one operation after the other.
class Network {
public:
  explicit Network(int lines) : lines(lines) {}

  std::string product(const std::string &x, double weight = 0.5) {
    const std::string name = next();
    body += "  " + name + "_w = sluice.constant dense<" + std::to_string(weight) +
            "> : tensor<20x20xf32>\n  " + name + " = sluice.matmul " + x + ", " + name + "_w : (" +
            type(lines) + ", tensor<20x20xf32>) -> " + type(lines) + "\n";
    return name;
  }
  std::string tanh(const std::string &x) {
    const std::string name = next();
    body += "  " + name + " = sluice.map (%a = " + x + ") : (" + type(lines) + ") -> " +
            type(lines) + " {\n    %m = math.tanh %a : f32\n    sluice.yield %m\n  }\n";
    return name;
  }
  std::string maximum(const std::string &x, const std::string &y) {
    const std::string name = next();
    body += "  " + name + " = sluice.map (%a = " + x + ", %b = " + y + ") : (" + type(lines) +
            ", " + type(lines) + ") -> " + type(lines) +
            " {\n    %m = arith.maximumf %a, %b : f32\n    sluice.yield %m\n  }\n";
    return name;
  }
  /// The lines in the middle of a concatenation, half of them of each operand.
  std::string halves(const std::string &x, const std::string &y) {
    const std::string both = next(), name = next();
    const int start = lines / 2;
    body += "  " + both + " = sluice.concat " + x + ", " + y + " axis 0 : (" + type(lines) + ", " +
            type(lines) + ") -> " + type(2 * lines) + "\n  " + name + " = sluice.slice " + both +
            " starts [" + std::to_string(start) + ", 0] sizes [" + std::to_string(lines) +
            ", 20] steps [1, 1] : (" + type(2 * lines) + ") -> " + type(lines) + "\n";
    return name;
  }

  [[nodiscard]] std::string text(const std::string &result) const {
    return "func.func @main(%x: " + type(lines) + ") -> " + type(lines) + " {\n" + body +
           "  return " + result + " : " + type(lines) + "\n}";
  }

private:
  const int lines;
  int count = 0;
  std::string body;

  std::string next() { return "%v" + std::to_string(count++); }
};

/// Expects a bound, and that the model stores so many rows at once.
void expect(const std::string &text, uint64_t bound, uint64_t stored) {
  const Model model(text);
  ASSERT_TRUE(model.graph) << text;
  EXPECT_EQ(stageBound(model.main(), 8), bound);
  EXPECT_EQ(plan::rowsAtOnce(*model.graph, plan::analyse(*model.graph)).size(), stored);
}

TEST(StageBound, CountsTheRowsThatAFunctionOfAProductReads) {
  Network net(5);
  const std::string first = net.tanh("%x"), second = net.tanh(net.product(first));
  expect(net.text(net.product(second)), 30, 30);
}

TEST(StageBound, CountsTheRowsOfAProductThatAnotherOneReads) {
  Network net(5);
  expect(net.text(net.product(net.product(net.tanh("%x")))), 30, 30);
}

TEST(StageBound, CountsTheInput) {
  Network net(5);
  expect(net.text(net.product(net.tanh(net.product("%x")))), 30, 30);
}

TEST(StageBound, CountsAnOperandBesideTheProduct) {
  Network net(5);
  const std::string first = net.tanh("%x"), second = net.tanh(net.product(first)),
                    third = net.maximum(net.product(second), first);
  expect(net.text(net.product(third)), 45, 45);
}

TEST(StageBound, CountsNoOperandTwice) {
  Network net(5);
  const std::string first = net.tanh("%x"), second = net.maximum(net.product(first), first);
  expect(net.text(net.product(second)), 30, 30);
}

TEST(StageBound, CountsEachTensorOfAConcatenation) {
  Network net(5);
  const std::string first = net.tanh("%x"), second = net.tanh(net.product(first)),
                    third = net.tanh(net.product(net.halves(first, second)));
  // The slice reads three lines of the first tensor and two of the second.
  expect(net.text(net.product(third)), 30, 30);
}

TEST(StageBound, CountsNoRowsBeforeAProductThatIsReadTwice) {
  Network net(5);
  const std::string first = net.product(net.tanh("%x")), second = net.tanh(first);
  // The function is computed after the product, when no one reads the first rows any more.
  expect(net.text(net.maximum(net.product(second), first)), 15, 30);
}

TEST(StageBound, CountsNoRowsOfWhichWeightsAreZero) {
  Network net(5);
  expect(net.text(net.tanh(net.product(net.tanh("%x"), 0))), 0, 15);
}

TEST(StageBound, IsAtMostTheRowsThatRandomNetworksStore) {
  std::mt19937 random(1);
  unsigned known = 0;
  for (int i = 0; i < 300; ++i) {
    Network net(1 + static_cast<int>(random() % 6));
    std::vector<std::string> values{"%x"};
    const auto any = [&] {
      return values[values.size() - 1 - random() % std::min<size_t>(values.size(), 3)];
    };
    for (int op = 0; op < 12; ++op)
      switch (random() % 5) {
      case 0:
      case 1:
        values.push_back(net.product(any()));
        break;
      case 2:
        values.push_back(net.tanh(any()));
        break;
      case 3:
        values.push_back(net.maximum(any(), any()));
        break;
      default:
        values.push_back(net.halves(any(), any()));
      }
    const std::string text = net.text(net.product(values.back()));
    Model model(text);
    ASSERT_TRUE(model.graph) << text;
    model.graph->geometry.peTerms = 8; // of latencies
    const uint64_t found = stageBound(model.main(), 8);
    for (const auto &graph : {model.graph, longestWayFirst(*model.graph)})
      if (graph) {
        const size_t stored = plan::rowsAtOnce(*graph, plan::analyse(*graph)).size();
        known += 2 * found > stored ? 1 : 0;
        ASSERT_LE(found, stored) << text;
      }
  }
  EXPECT_GT(known, 200U);
}

} // namespace
} // namespace sluice::rows::test
