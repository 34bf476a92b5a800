// Lanes beyond the extent, and lanes that a view does not read, never reach a result, whatever they
// hold: what is known of lanes, operation by operation, and rows whose other lanes hold infinities
// and NaN.
#include <array>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "compiler/conversion/rows/lane_values.h"
#include "harness.h"
#include "hw/numerics/numerics.h"

namespace sluice::rows::test {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

/// Two elements of a row, and the lane that something is known of.
struct Lanes3 {
  std::array<float, 2> elements;
  float lane;
};

struct Named {
  const char *name;
  LaneValues values;
  bool uniform = false; ///< the elements and the lane are one value
};

bool all(const Lanes3 &row, bool (*predicate)(float)) {
  return predicate(row.elements[0]) && predicate(row.elements[1]);
}

/// Whether what is said of the lane is true.
bool holds(const LaneValues &values, const Lanes3 &row) {
  const auto isNaN = [](float x) { return std::isnan(x); };
  const auto isNotFinite = [](float x) { return !std::isfinite(x); };
  if (const auto bits = values.value())
    return numerics::toBits(row.lane) == *bits ||
           (std::isnan(row.lane) && std::isnan(numerics::toFloat(*bits)));
  return (!values.isFinite() || std::isfinite(row.lane) || all(row, isNaN)) &&
         (!values.keepProducts() || std::isfinite(row.lane) || all(row, isNotFinite)) &&
         (!values.keepMaxima() || !std::isnan(row.lane) || all(row, isNaN));
}

const std::vector<Named> &kinds() {
  static const std::vector<Named> kinds = {
      {"0", LaneValues::known(0)},
      {"2", LaneValues::known(2)},
      {"-inf", LaneValues::known(-kInf)},
      {"inf", LaneValues::known(kInf)},
      {"nan", LaneValues::known(kNaN)},
      {"finite", LaneValues::finite()},
      {"numbers", LaneValues::numbers()},
      {"anything", LaneValues::anything()},
      {"of one finite lane", LaneValues::finite().spread(), true},
      {"of one number", LaneValues::numbers().spread(), true},
      {"of one lane", LaneValues::anything().spread(), true},
  };
  return kinds;
}

/// Rows of which that is true. Poisoned ones, whose elements are NaN, only if asked for.
std::vector<Lanes3> rowsOf(const Named &kind, bool poisoned) {
  constexpr std::array<float, 6> samples = {-kInf, -3, 0, 0.5, kInf, kNaN};
  std::vector<Lanes3> rows;
  for (const float lane : samples)
    for (const float first : samples)
      for (const float second : samples) {
        const Lanes3 row{{first, second}, lane};
        const bool one = numerics::toBits(first) == numerics::toBits(lane) &&
                         numerics::toBits(second) == numerics::toBits(lane);
        const bool isPoisoned = std::isnan(first) && std::isnan(second);
        if ((!kind.uniform || one) && (poisoned || !isPoisoned)) {
          Lanes3 known = row;
          if (const auto bits = kind.values.value())
            known.lane = numerics::toFloat(*bits);
          if (holds(kind.values, known))
            rows.push_back(known);
        }
      }
  return rows;
}

float compute(isa::Alu op, float left, float right, float b, float c) {
  using numerics::toBits;
  return numerics::toFloat(numerics::alu(op, toBits(left), toBits(right), toBits(b), toBits(c)));
}

/// What is said of the result of an operation is true of all rows of which the operands' is.
TEST(LaneValues, AreTrueBehindEveryOperation) {
  for (int op = 0; op < static_cast<int>(isa::Alu::Select); ++op)
    for (const Named &l : kinds())
      for (const Named &r : kinds()) {
        const LaneValues result =
            alu(static_cast<isa::Alu>(op), l.values, r.values, r.values, r.values);
        for (const Lanes3 &left : rowsOf(l, true))
          for (const Lanes3 &right : rowsOf(r, true)) {
            const auto at = [&](float x, float y) {
              return compute(static_cast<isa::Alu>(op), x, y, y, y);
            };
            const Lanes3 row{
                {at(left.elements[0], right.elements[0]), at(left.elements[1], right.elements[1])},
                at(left.lane, right.lane)};
            const bool compares = op >= static_cast<int>(isa::Alu::Lt);
            if (!holds(result, row) && !(compares && std::isfinite(row.lane)))
              FAIL() << "operation " << op << " of " << l.name << " and " << r.name << ": "
                     << left.lane << ", " << right.lane << " beside " << left.elements[0] << ", "
                     << right.elements[0] << " and " << left.elements[1] << ", "
                     << right.elements[1];
          }
      }
}

TEST(LaneValues, AreTrueBehindASelection) {
  const std::array<Named, 4> conditions = {
      {kinds()[0], kinds()[1], kinds()[5], {"anything", LaneValues::anything()}}};
  for (const Named &c : conditions)
    for (const Named &l : kinds())
      for (const Named &r : kinds()) {
        const LaneValues result = alu(isa::Alu::Select, c.values, l.values, l.values, r.values);
        for (const float chosen : {0.0F, 1.0F})
          for (const Lanes3 &left : rowsOf(l, false))
            for (const Lanes3 &right : rowsOf(r, false)) {
              const float lane = c.values.value() ? numerics::toFloat(*c.values.value()) : chosen;
              for (const float other : {0.0F, 1.0F}) {
                const Lanes3 row{{other != 0 ? left.elements[0] : right.elements[0],
                                  chosen != 0 ? left.elements[1] : right.elements[1]},
                                 lane != 0 ? left.lane : right.lane};
                ASSERT_TRUE(holds(result, row) || c.values.value())
                    << c.name << " selects " << l.name << " or " << r.name;
              }
            }
      }
}

TEST(LaneValues, AreTrueOfEither) {
  for (const Named &l : kinds())
    for (const Named &r : kinds())
      for (const Named &one : {l, r})
        for (const Lanes3 &row : rowsOf(one, true))
          ASSERT_TRUE(holds(either(l.values, r.values), row)) << l.name << " or " << r.name;
}

TEST(LaneValues, AreTrueBehindAMaximumWithZero) {
  for (const Named &kind : kinds())
    for (const Lanes3 &row : rowsOf(kind, true)) {
      const auto at = [](float x) {
        return numerics::toFloat(
            static_cast<uint32_t>(numerics::finish(isa::Post::Relu, numerics::toBits(x))) << 16);
      };
      const Lanes3 result{{at(row.elements[0]), at(row.elements[1])}, at(row.lane)};
      const bool cutOff = row.elements[0] == -kInf || row.elements[1] == -kInf;
      ASSERT_TRUE(holds(post(isa::Post::Relu, kind.values), result) || cutOff) << kind.name;
    }
}

const TensorLanes kFromTheHost;

std::string type(int rows, int columns) {
  return "tensor<" + std::to_string(rows) + "x" + std::to_string(columns) +
         "xbf16, #sluice.dim<1>>";
}

/// y of type 2 x `columns`, computed of x and z, both 2 x 5.
std::string function(const std::string &body, int rows, int columns) {
  std::string text = "func.func @main(%x: " + type(2, 5) + ", %z: " + type(2, 5) + ") -> " +
                     type(rows, columns) + " {\n" + body +
                     "\n  return %y : " + type(rows, columns) + "\n}";
  for (const auto &[name, with] :
       {std::pair("$X", type(2, 5)), std::pair("$S", type(2, 1)), std::pair("$U", type(2, 2))})
    for (size_t at = text.find(name); at != std::string::npos; at = text.find(name, at))
      text.replace(at, 2, with);
  return text;
}

/// Rows that are NaN or infinite beyond their elements: 0 / 0, 0 * (1 / 0), log 0, and a factor
/// that all lanes share and that may be infinite.
const std::vector<std::string> kOpenRows = {R"(
  %t = sluice.map (%l = %x, %r = %z) : ($X, $X) -> $X {
    %0 = arith.divf %l, %r : f32
    sluice.yield %0
  })",
                                            R"(
  %t = sluice.map (%l = %x, %r = %z) : ($X, $X) -> $X {
    %0 = math.absf %l : f32
    %1 = math.log %0 : f32
    %2 = arith.mulf %1, %r : f32
    sluice.yield %2
  })",
                                            R"(
  %t = sluice.map (%l = %x) : ($X) -> $X {
    %0 = math.absf %l : f32
    %1 = math.log %0 : f32
    sluice.yield %1
  })",
                                            R"(
  %q = sluice.reduce sum %z axes [1] keepdims : ($X) -> $S
  %b = sluice.broadcast %q : ($S) -> $X
  %t = sluice.map (%l = %x, %r = %b) : ($X, $X) -> $X {
    %0 = arith.divf %l, %r : f32
    sluice.yield %0
  })"};

struct Reader {
  std::string name, body;
  int rows, columns;
};

/// What reads the elements of %t.
std::vector<Reader> readers() {
  std::vector<Reader> readers;
  for (const char *monoid : {"max", "min", "sum", "mean", "product", "variance"})
    readers.push_back(
        {monoid,
         std::string("  %y = sluice.reduce ") + monoid + " %t axes [1] keepdims : ($X) -> $S", 2,
         1});
  readers.push_back(
      {"argmax", "  %y = sluice.reduce argmax %t axes [1] keepdims : ($X) -> $S", 2, 1});
  readers.push_back({"product of weights",
                     "  %w = sluice.constant dense<0.5> : tensor<5x2xf32>\n"
                     "  %y = sluice.matmul %t, %w : ($X, tensor<5x2xf32>) -> $U",
                     2, 2});
  const std::string slice = R"(
  %u = sluice.slice %t starts [0, 1] sizes [2, 2] steps [1, 2] : ($X) -> $U)";
  readers.push_back({"slice",
                     slice + "\n  %y = sluice.map (%l = %u) : ($U) -> $U {\n"
                             "    sluice.yield %l\n  }",
                     2, 2});
  const std::string first = R"(
  %u = sluice.slice %t starts [0, 0] sizes [2, 2] steps [1, 1] : ($X) -> $U
  %v = sluice.map (%l = %u) : ($U) -> $U {
    %0 = arith.negf %l : f32
    sluice.yield %0
  })";
  for (const char *monoid : {"max", "min", "sum"})
    readers.push_back(
        {std::string(monoid) + " of a slice",
         first + "\n  %y = sluice.reduce " + monoid + " %v axes [1] keepdims : ($U) -> $S", 2, 1});
  return readers;
}

double largestError(const std::vector<reference::Tensor> &found,
                    const std::vector<reference::Tensor> &wanted) {
  double error = 0;
  for (size_t i = 0; i < wanted[0].values.size(); ++i) {
    const double want = wanted[0].values[i], got = found[0].values[i];
    if (want == got)
      continue;
    if (!std::isfinite(want) || !std::isfinite(got))
      return kInf;
    error = std::max(error, std::fabs(want - got) / std::max(1.0, std::fabs(want)));
  }
  return error;
}

TEST(UnreadLanes, BeyondTheExtentReachNothing) {
  for (size_t open = 0; open < kOpenRows.size(); ++open)
    for (const Reader &reader : readers()) {
      Model model(function(kOpenRows[open] + "\n" + reader.body, reader.rows, reader.columns), 8,
                  {}, kFromTheHost);
      ASSERT_TRUE(model.graph) << reader.name;
      auto inputs = model.randomInputs(0.5, 2, 3);
      inputs[1].values[2] = -inputs[1].values[2];
      inputs[1].values[8] = -inputs[1].values[8];
      EXPECT_LT(largestError(model.run(inputs), model.golden(inputs)), 0.05)
          << reader.name << " of rows " << open;
    }
}

/// Elements 0, 2 and 4 of rows are infinite or NaN; 1 and 3 are read.
TEST(UnreadLanes, OfASliceReachNothing) {
  const std::string slice = R"(
  %u = sluice.slice %x starts [0, 1] sizes [2, 2] steps [1, 2] : ($X) -> $U)";
  const std::string each = "sluice.map (%l = %u) : ($U) -> $U {\n    %0 = math.tanh %l : f32\n"
                           "    sluice.yield %0\n  }";
  const std::vector<Reader> readers = {
      {"map", slice + "\n  %y = " + each, 2, 2},
      {"sum", slice + "\n  %y = sluice.reduce sum %u axes [1] keepdims : ($U) -> $S", 2, 1},
      {"max", slice + "\n  %y = sluice.reduce max %u axes [1] keepdims : ($U) -> $S", 2, 1},
      {"product of weights",
       slice + "\n  %w = sluice.constant dense<0.5> : tensor<2x2xf32>\n"
               "  %y = sluice.matmul %u, %w : ($U, tensor<2x2xf32>) -> $U",
       2, 2}};
  for (const double value : {double{kInf}, -double{kInf}, double{kNaN}})
    for (const Reader &reader : readers) {
      Model model(function(reader.body, reader.rows, reader.columns), 8, {}, kFromTheHost);
      ASSERT_TRUE(model.graph) << reader.name;
      auto inputs = model.randomInputs(-2, 2, 5);
      for (const size_t element : {0, 2, 4, 5, 7, 9})
        inputs[0].values[element] = value;
      EXPECT_LT(largestError(model.run(inputs), model.golden(inputs)), 0.02)
          << reader.name << " beside " << value;
    }
}

/// Where the lanes beyond are known to be numbers, a maximum takes no pass to keep them out.
TEST(UnreadLanes, ThatAreNumbersCostNothing) {
  Model model(function("  %y = sluice.reduce max %x axes [1] keepdims : ($X) -> $S", 2, 1), 8, {},
              kFromTheHost);
  ASSERT_TRUE(model.graph);
  EXPECT_EQ(model.computed(), 2U);
  Model spread(function(R"(
  %m = sluice.reduce max %x axes [1] keepdims : ($X) -> $S
  %b = sluice.broadcast %m : ($S) -> $X
  %d = sluice.map (%l = %x, %r = %b) : ($X, $X) -> $X {
    %0 = arith.subf %l, %r : f32
    %1 = math.exp %0 : f32
    sluice.yield %1
  }
  %y = sluice.reduce sum %d axes [1] keepdims : ($X) -> $S)",
                        2, 1),
               8, {}, kFromTheHost);
  ASSERT_TRUE(spread.graph);
  EXPECT_EQ(spread.computed(), 6U);
}

/// Of what the host sends, lanes that a view does not read are cleared, in a pass for each row of
/// them; of what a product made, which is finite, they are not.
TEST(UnreadLanes, OfTheHostAreCleared) {
  const std::string slice = R"(
  %u = sluice.slice %x starts [0, 1] sizes [2, 2] steps [1, 2] : ($X) -> $U
  %y = sluice.map (%l = %u) : ($U) -> $U {
    %0 = math.tanh %l : f32
    sluice.yield %0
  })";
  Model host(function(slice, 2, 2), 8, {}, kFromTheHost);
  ASSERT_TRUE(host.graph);
  EXPECT_EQ(host.computed(), 4U);
  Model made(function(slice, 2, 2));
  ASSERT_TRUE(made.graph);
  EXPECT_EQ(made.computed(), 2U);
  // A view that reads every lane takes no pass: an element poisons the sums of its row.
  Model reversed(function(R"(
  %u = sluice.slice %x starts [0, 4] sizes [2, 5] steps [1, -1] : ($X) -> $X
  %y = sluice.map (%l = %u) : ($X) -> $X {
    %0 = math.tanh %l : f32
    sluice.yield %0
  })",
                          2, 5),
                 8, {}, kFromTheHost);
  ASSERT_TRUE(reversed.graph);
  EXPECT_EQ(reversed.computed(), 2U);
}

} // namespace
} // namespace sluice::rows::test
