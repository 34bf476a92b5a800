// Reductions with trees of every shape, planned and run on both engines: where merging is exact
// they give the same bits, and products stay within a rounding for each factor.
#include <array>
#include <cmath>
#include <random>

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>

#include "compiler/conversion/plan/plan.h"
#include "compiler/conversion/rows/lower.h"
#include "compiler/dialect/sluice/dialect.h"
#include "compiler/reference/monoid.h"
#include "compiler/support/problem.h"
#include "engines.h"
#include "hw/numerics/numerics.h"
#include "runtime/format/targets.h"
#include "tests/support/rows/runs.h"

namespace sluice::ops_test {
namespace {

using reference::Monoid;
using rows::TreeShape;

/// Columns of `rows` x `columns` elements or, along the lanes, rows of them.
struct Shape {
  int64_t rows, columns;
  bool alongLanes;
};

std::string functionOf(const std::string &monoid, const Shape &shape) {
  const std::string in = "tensor<" + std::to_string(shape.rows) + "x" +
                         std::to_string(shape.columns) + "xbf16, #sluice.dim<1>>";
  const std::string out = (shape.alongLanes ? "tensor<" + std::to_string(shape.rows) + "x1"
                                            : "tensor<1x" + std::to_string(shape.columns)) +
                          "xbf16, #sluice.dim<1>>";
  return "func.func @main(%x: " + in + ") -> " + out + " {\n  %y = sluice.reduce " + monoid +
         " %x axes [" + (shape.alongLanes ? "1" : "0") + "] keepdims : (" + in + ") -> " + out +
         "\n  return %y : " + out + "\n}";
}

/// The program of a reduction with trees of a shape.
format::Program programOf(const std::string &monoid, const Shape &shape, const TreeShape &trees) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<ir::SluiceDialect, mlir::func::FuncDialect, mlir::arith::ArithDialect>();
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::parseSourceString<mlir::ModuleOp>(functionOf(monoid, shape), &context);
  auto function = module->lookupSymbol<mlir::func::FuncOp>("main");
  rows::ModelInfo info;
  info.name = monoid;
  const auto tensor = [](const std::string &name, mlir::Type type) {
    format::HostTensor result;
    result.name = name;
    const auto extents = llvm::cast<mlir::RankedTensorType>(type).getShape();
    result.shape.assign(extents.begin(), extents.end());
    return result;
  };
  info.inputs = {tensor("x", function.getArgumentTypes()[0])};
  info.outputs = {tensor("y", function.getResultTypes()[0])};
  const auto graph = rows::lowerToRows(
      function, std::get<format::Geometry>(format::loadTarget("c2b8")), info, {.trees = trees});
  plan::Plan plan;
  const Problems problems =
      graph ? plan::makePlan(*graph, {.work = 1 << 14}, plan) : graph.problems;
  EXPECT_TRUE(graph && problems.empty()) << (problems.empty() ? "" : problems[0].message);
  return plan::test::assemble(plan);
}

std::vector<double> valuesOf(const Shape &shape, double low, double high, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> all(low, high);
  std::vector<double> values(shape.rows * shape.columns);
  for (double &value : values)
    value = numerics::bf16ToDouble(numerics::roundToBf16(all(random)));
  return values;
}

/// By the monoid's definition, one element after the other.
std::vector<double> expectedOf(Monoid monoid, const Shape &shape, const std::vector<double> &x) {
  const reference::MonoidDefinition &is = reference::definition(monoid);
  const int64_t results = shape.alongLanes ? shape.rows : shape.columns,
                count = shape.alongLanes ? shape.columns : shape.rows;
  std::vector<double> values;
  for (int64_t result = 0; result < results; ++result) {
    reference::Partial all = is.zero;
    for (int64_t i = 0; i < count; ++i)
      all = is.merge(all, is.wrap(x[shape.alongLanes ? result * count + i : i * results + result],
                                  static_cast<double>(i)));
    values.push_back(is.unwrap(all));
  }
  return values;
}

constexpr std::array kShapes = {Shape{16, 8, false}, Shape{23, 5, false}, Shape{2, 43, true}};

std::vector<TreeShape> treesFor(const Shape &shape) {
  std::vector<TreeShape> all{{}};
  for (const TreeShape &one :
       rows::otherShapes({.passes = true, .lanes = shape.alongLanes, .rounds = shape.alongLanes}))
    all.push_back(one);
  return all;
}

class Trees : public testing::TestWithParam<std::pair<const char *, Monoid>> {};

TEST_P(Trees, OfAnyShapeRunOnBothEngines) {
  const auto &[word, monoid] = GetParam();
  for (const Shape &shape : kShapes)
    for (const TreeShape &trees : treesFor(shape)) {
      SCOPED_TRACE(std::to_string(shape.rows) + " x " + std::to_string(shape.columns) + " " +
                   textOf(trees));
      const format::Program program = programOf(word, shape, trees);
      const bool product = monoid == Monoid::Product;
      const std::vector<double> x = valuesOf(shape, product ? 0.9 : -3, product ? 1.1 : 3, 5);
      const RunResult run = runOnBoth(program, {x});
      ASSERT_EQ(run.problem, "");
      const std::vector<double> expected = expectedOf(monoid, shape, x);
      ASSERT_EQ(run.outputs.size(), 1U);
      ASSERT_EQ(run.outputs[0].size(), expected.size());
      const auto factors = static_cast<double>(shape.alongLanes ? shape.columns : shape.rows);
      const double bound = product ? std::pow(1 + std::ldexp(1, -9), factors - 1) - 1 : 0;
      for (size_t i = 0; i < expected.size(); ++i)
        EXPECT_LE(std::abs(run.outputs[0][i] - expected[i]), bound * std::abs(expected[i]));
    }
}

INSTANTIATE_TEST_SUITE_P(Monoids, Trees,
                         testing::Values(std::pair("max", Monoid::Max),
                                         std::pair("min", Monoid::Min),
                                         std::pair("product", Monoid::Product),
                                         std::pair("argmax", Monoid::ArgMax)),
                         [](const auto &info) { return std::string(info.param.first); });

} // namespace
} // namespace sluice::ops_test
