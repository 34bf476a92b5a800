// Windows that are taken apart by phases, with a product behind them.
#include <random>

#include <gtest/gtest.h>

#include "compiler/dialect/sluice/dialect.h"
#include "compiler/dialect/sluice/interpret.h"
#include "compiler/dialect/sluice/operations.h"
#include "compiler/transforms/passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "tests/support/environment.h"

namespace sluice::ir {
namespace {

/// Convolutions of any steps and distances, with what lies outside, of which the result is what it
/// was; some windows have no gaps any more.
TEST(Phases, KeepValues) {
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  context.loadDialect<SluiceDialect, mlir::func::FuncDialect>();
  registerSluicePasses();
  mlir::PassManager passes(&context);
  ASSERT_TRUE(
      mlir::succeeded(mlir::parsePassPipeline("func.func(sluice-simplify-views{phases})", passes)));
  const uint64_t graphs = sluice::fixtures::fromEnvironment("SLUICE_PHASE_GRAPHS", 500);
  std::mt19937_64 random(1);
  const auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  size_t changed = 0;
  for (uint64_t seed = 0; seed < graphs; ++seed) {
    mlir::OpBuilder builder(&context);
    const mlir::Location loc = builder.getUnknownLoc();
    mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(loc);
    builder.setInsertionPointToStart(module->getBody());
    const reference::Shape shape = {pick(1, 2), pick(1, 9), pick(1, 9)};
    const reference::Window window = {{1, 2},
                                      {pick(1, 4), pick(1, 4)},
                                      {pick(1, 6), pick(1, 6)},
                                      {pick(-4, 4), pick(-4, 4)},
                                      {pick(1, 3), pick(1, 3)},
                                      {pick(1, 3), pick(1, 3)}};
    const reference::Shape weights = {window.sizes[0], window.sizes[1], 2};
    const auto type = [&](const reference::Shape &extents) {
      return mlir::RankedTensorType::get(extents, builder.getF32Type());
    };
    auto function = builder.create<mlir::func::FuncOp>(
        loc, "f", builder.getFunctionType({type(shape), type(weights)}, {}));
    builder.setInsertionPointToStart(function.addEntryBlock());
    const mlir::Value seen = builder.create<WindowOp>(loc, function.getArgument(0), window, 7.0F);
    // Batch, two axes of positions, two of the window, features.
    const auto map = [&](llvm::ArrayRef<unsigned> loops) {
      return mlir::AffineMap::getMultiDimMapWithTargets(6, loops, &context);
    };
    const llvm::SmallVector<mlir::AffineMap> all = {map({0, 1, 2, 3, 4}), map({3, 4, 5}),
                                                    map({0, 1, 2, 5})};
    const mlir::Value result = builder.create<ContractOp>(loc, all, seen, function.getArgument(1));
    builder.create<mlir::func::ReturnOp>(loc, result);
    function.setType(builder.getFunctionType({type(shape), type(weights)}, result.getType()));
    std::vector<reference::Tensor> arguments = {reference::Tensor(shape),
                                                reference::Tensor(weights)};
    for (reference::Tensor &argument : arguments)
      for (double &value : argument.values)
        value = static_cast<double>(pick(-9, 9));
    const auto before = interpret(function, arguments);
    ASSERT_TRUE(mlir::succeeded(passes.run(*module)));
    ASSERT_EQ(interpret(function, arguments), before) << "seed " << seed;
    changed += !function.getFunctionBody().front().getOps<InterleaveOp>().empty();
  }
  EXPECT_GT(changed, graphs / 10);
}

} // namespace
} // namespace sluice::ir
