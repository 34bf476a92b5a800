// The problems that are reported, determinism, and the time for a large graph.
#include "compiler/layout/data_dimension.h"

#include <chrono>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/dialect/sluice/dialect.h"
#include "compiler/dialect/sluice/operations.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "random_graph.h"

namespace sluice::layout {
namespace {

using mlir::Value;

class DataDimension : public testing::Test {
protected:
  DataDimension() {
    context.loadDialect<ir::SluiceDialect, mlir::func::FuncDialect, mlir::arith::ArithDialect>();
  }
  mlir::MLIRContext context;
};

TEST_F(DataDimension, SameResultEveryTime) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::vector<std::string> texts;
    for (int run = 0; run < 2; ++run) {
      RandomGraph graph(context, seed);
      const auto found = inferDataDimensions(graph.build(2, 30), {});
      std::string text;
      for (const auto &[value, entry] : found.dims)
        text += std::to_string(entry.dim) + entry.why + ";";
      for (const Problem &problem : found.problems) {
        text += problem.code + problem.message;
        for (const ChainStep &step : problem.chain)
          text += step.why;
        for (const Fix &fix : problem.fixes)
          text += fix.text;
      }
      texts.push_back(text);
    }
    EXPECT_EQ(texts[0], texts[1]);
  }
}

/// Pairs of a transpose and a pointwise operation on [16 16], then as many
/// conflicts as asked for.
mlir::FunctionOpInterface chain(mlir::OpBuilder &builder, mlir::ModuleOp module, int operations,
                                int conflicts) {
  const mlir::Location loc = builder.getUnknownLoc();
  auto type = mlir::RankedTensorType::get({16, 16}, builder.getF32Type());
  builder.setInsertionPointToStart(module.getBody());
  auto function = builder.create<mlir::func::FuncOp>(loc, "f", builder.getFunctionType({type}, {}));
  builder.setInsertionPointToStart(function.addEntryBlock());
  auto add = [&](Value a, Value b) -> Value {
    return builder.create<ir::MapOp>(loc, mlir::ValueRange{a, b},
                                     [](mlir::OpBuilder &b, mlir::Location l, mlir::ValueRange in) {
                                       return Value(b.create<mlir::arith::AddFOp>(l, in[0], in[1]));
                                     });
  };
  auto transpose = [&](Value x) -> Value {
    return builder.create<ir::TransposeOp>(loc, x, llvm::ArrayRef<int64_t>{1, 0});
  };
  Value x = function.getArgument(0);
  for (int i = 0; i < operations / 2; ++i) {
    x = transpose(x);
    x = add(x, x);
  }
  for (int i = 0; i < conflicts; ++i)
    add(x, transpose(x));
  builder.create<mlir::func::ReturnOp>(loc);
  return function;
}

/// Residual blocks of ten operations of all kinds on [16 16], the same data
/// dimension everywhere.
mlir::FunctionOpInterface blocks(mlir::OpBuilder &builder, mlir::ModuleOp module, int operations) {
  const mlir::Location loc = builder.getUnknownLoc();
  auto type = mlir::RankedTensorType::get({16, 16}, builder.getF32Type());
  builder.setInsertionPointToStart(module.getBody());
  auto function = builder.create<mlir::func::FuncOp>(loc, "f", builder.getFunctionType({type}, {}));
  builder.setInsertionPointToStart(function.addEntryBlock());
  const Value weights =
      builder.create<ir::ConstantOp>(loc, mlir::DenseElementsAttr::get(type, 1.0F));
  auto add = [&](Value a, Value b) -> Value {
    return builder.create<ir::MapOp>(loc, mlir::ValueRange{a, b},
                                     [](mlir::OpBuilder &b, mlir::Location l, mlir::ValueRange in) {
                                       return Value(b.create<mlir::arith::AddFOp>(l, in[0], in[1]));
                                     });
  };
  using Axes = llvm::ArrayRef<int64_t>;
  Value x = function.getArgument(0);
  for (int i = 0; i < operations / 10; ++i) {
    Value y = builder.create<ir::MatmulOp>(loc, x, weights);
    y = builder.create<ir::ReshapeOp>(loc, y, Axes{4, 4, 16});
    y = builder.create<ir::TransposeOp>(loc, y, Axes{1, 0, 2});
    y = builder.create<ir::ReshapeOp>(loc, y, Axes{16, 16});
    Value mean = builder.create<ir::ReduceOp>(loc, ir::Monoid::Mean, y, Axes{1}, true);
    y = add(y, builder.create<ir::BroadcastOp>(loc, mean, Axes{16, 16}));
    Value half = builder.create<ir::SliceOp>(loc, y, Axes{0, 0}, Axes{8, 16}, Axes{1, 1});
    x = add(x, builder.create<ir::ConcatOp>(loc, mlir::ValueRange{half, half}, 0));
  }
  builder.create<mlir::func::ReturnOp>(loc);
  return function;
}

void solves(mlir::FunctionOpInterface function, const char *name) {
  const auto start = std::chrono::steady_clock::now();
  const auto found = inferDataDimensions(function, {});
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
  EXPECT_TRUE(found.problems.empty());
  EXPECT_EQ(found.dims.size(), 10'001U);
  std::printf("10,000 operations, %s: %.0f ms\n", name, time.count() * 1e3);
}

TEST_F(DataDimension, TenThousandOperationsInASecond) {
  mlir::OpBuilder builder(&context);
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(builder.getUnknownLoc());
  solves(chain(builder, *module, 10'000, 0), "a chain of transposes and additions");
  module = mlir::ModuleOp::create(builder.getUnknownLoc());
  solves(blocks(builder, *module, 10'000), "residual blocks");
}

TEST_F(DataDimension, GivesUpWhenTheBudgetIsSpent) {
  // x + x.T: propagation alone does not see the conflict.
  mlir::OpBuilder builder(&context);
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(builder.getUnknownLoc());
  DataDimensionOptions options;
  options.budget = 0;
  const auto found = inferDataDimensions(chain(builder, *module, 0, 1), options);
  ASSERT_EQ(found.problems.size(), 1U);
  EXPECT_EQ(found.problems[0].code, "E0310");
}

TEST_F(DataDimension, EveryIndependentConflictIsReported) {
  mlir::OpBuilder builder(&context);
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(builder.getUnknownLoc());
  const auto found = inferDataDimensions(chain(builder, *module, 200, 25), {});
  ASSERT_EQ(found.problems.size(), 25U);
  ASSERT_EQ(found.locations.size(), 25U);
  for (const Problem &problem : found.problems) {
    EXPECT_EQ(problem.code, "E0301");
    EXPECT_EQ(problem.rule, "DD-PW");
    // What is assumed, the transpose and the addition; nothing of the 200 before.
    EXPECT_EQ(problem.chain.size(), 3U);
    ASSERT_FALSE(problem.fixes.empty());
    EXPECT_FALSE(problem.fixes.front().verified); // there are 24 others
  }
  EXPECT_TRUE(found.dims.empty());
}

TEST_F(DataDimension, FixesAreLeftOutIfNobodyReadsThem) {
  mlir::OpBuilder builder(&context);
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(builder.getUnknownLoc());
  const mlir::FunctionOpInterface function = chain(builder, *module, 2, 1);
  std::string message;
  for (const bool findFixes : {true, false}) {
    DataDimensionOptions options;
    options.findFixes = findFixes;
    const auto found = inferDataDimensions(function, options);
    ASSERT_EQ(found.problems.size(), 1U);
    EXPECT_EQ(found.problems[0].fixes.empty(), !findFixes);
    EXPECT_TRUE(message.empty() || message == found.problems[0].message);
    message = found.problems[0].message;
  }
}

} // namespace
} // namespace sluice::layout
