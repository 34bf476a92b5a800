// Passes and folders do not change what a function computes: random functions,
// interpreted before and after.
#include <random>

#include <gtest/gtest.h>

#include "compiler/dialect/sluice/dialect.h"
#include "compiler/dialect/sluice/interpret.h"
#include "compiler/dialect/sluice/operations.h"
#include "compiler/dialect/sluice/selection.h"
#include "compiler/transforms/passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

namespace sluice::ir {
namespace {

using mlir::Value;

/// Random function of chains of selections, maps and constants. Values are
/// small integers and the maps add, subtract, multiply by 2 and take maxima,
/// so every result is exact and order of evaluation does not matter.
class Generator {
public:
  Generator(mlir::MLIRContext &context, unsigned seed)
      : random(seed), builder(&context), loc(builder.getUnknownLoc()) {}

  mlir::OwningOpRef<mlir::ModuleOp> build(int operations) {
    mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(loc);
    builder.setInsertionPointToStart(module->getBody());
    auto type = mlir::RankedTensorType::get({2, 3, 4}, builder.getF32Type());
    auto function =
        builder.create<mlir::func::FuncOp>(loc, "f", builder.getFunctionType({type, type}, {}));
    builder.setInsertionPointToStart(function.addEntryBlock());
    values.assign({function.getArgument(0), function.getArgument(1)});
    for (int i = 0; i < operations; ++i)
      values.push_back(i % 4 == 0
                           ? constant({2, 3, 4})
                           : operation(values[pick(0, static_cast<int64_t>(values.size()) - 1)]));
    // The last values are results, so that something is left.
    llvm::SmallVector<Value> results(values.end() - 3, values.end());
    builder.create<mlir::func::ReturnOp>(loc, results);
    function.setType(builder.getFunctionType({type, type}, mlir::ValueRange(results).getTypes()));
    return module;
  }

private:
  int64_t pick(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  }

  Value constant(llvm::ArrayRef<int64_t> shape) {
    reference::Tensor tensor(reference::Shape(shape.begin(), shape.end()));
    const bool splat = pick(0, 1);
    const auto first = static_cast<double>(pick(-3, 3));
    for (double &value : tensor.values)
      value = splat ? first : static_cast<double>(pick(-3, 3));
    return builder.create<ConstantOp>(loc, toElements(tensor, builder.getContext()));
  }

  Value operation(Value x) {
    auto shape = shapeOf(x);
    const auto rank = static_cast<int64_t>(shape.size());
    const int64_t axis = pick(0, rank - 1);
    llvm::SmallVector<int64_t> starts, sizes, steps,
        order = llvm::to_vector(llvm::seq(int64_t{0}, rank));
    switch (pick(0, 7)) {
    case 0:
      std::shuffle(order.begin(), order.end(), random);
      return builder.create<TransposeOp>(loc, x, order);
    case 1:
      return slicedAlong(builder, loc, x, axis, shape[axis] - 1, shape[axis], -1);
    case 2:
      for (int64_t extent : shape) {
        const int64_t first = pick(0, extent - 1), last = pick(0, extent - 1);
        const int64_t step = pick(1, 2) * (last < first ? -1 : 1);
        starts.push_back(first);
        steps.push_back(step);
        sizes.push_back((last - first) / step + 1);
      }
      return builder.create<SliceOp>(loc, x, starts, sizes, steps);
    case 3: {
      int64_t elements = 1;
      for (int64_t extent : shape)
        elements *= extent;
      return builder.create<ReshapeOp>(loc, x,
                                       elements % 2 == 0 ? llvm::ArrayRef<int64_t>{2, elements / 2}
                                                         : llvm::ArrayRef<int64_t>{elements, 1});
    }
    case 4:
      return builder.create<ReduceOp>(loc, Monoid::Max, x, llvm::ArrayRef<int64_t>{axis}, true);
    default: {
      const int64_t kind = pick(0, 2);
      Value y = pick(0, 1) ? constant(shape) : x;
      for (Value other : values)
        if (shapeOf(other) == shape && pick(0, 1))
          y = other;
      return builder.create<MapOp>(
          loc, mlir::ValueRange{x, y},
          [&](mlir::OpBuilder &b, mlir::Location l, mlir::ValueRange in) -> Value {
            if (kind == 0)
              return b.create<mlir::arith::SubFOp>(l, in[0], in[1]);
            if (kind == 1)
              return b.create<mlir::arith::MaximumFOp>(l, in[0], in[1]);
            Value half = b.create<mlir::arith::ConstantOp>(l, b.getF32FloatAttr(0.5F));
            Value sum = b.create<mlir::arith::AddFOp>(l, in[0], in[1]);
            return b.create<mlir::arith::MulFOp>(l, sum, half);
          });
    }
    }
  }

  std::mt19937 random;
  mlir::OpBuilder builder;
  mlir::Location loc;
  std::vector<Value> values;
};

mlir::FunctionOpInterface functionOf(mlir::ModuleOp module) {
  return *module.getOps<mlir::FunctionOpInterface>().begin();
}

size_t operationsOf(mlir::ModuleOp module) {
  return functionOf(module).getFunctionBody().front().getOperations().size();
}

class Preserve : public testing::TestWithParam<const char *> {
protected:
  Preserve() {
    context.loadDialect<SluiceDialect, mlir::func::FuncDialect, mlir::arith::ArithDialect>();
    registerSluicePasses();
    mlir::registerCanonicalizerPass();
  }
  mlir::MLIRContext context;
};

TEST_P(Preserve, Values) {
  size_t before = 0, after = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    auto module = Generator(context, seed).build(12);
    std::vector<reference::Tensor> arguments;
    std::mt19937 random(seed);
    for (int i = 0; i < 2; ++i) {
      reference::Tensor tensor({2, 3, 4});
      for (double &value : tensor.values)
        value = std::uniform_int_distribution<int>(-8, 8)(random);
      arguments.push_back(tensor);
    }
    const auto expected = interpret(functionOf(*module), arguments);
    before += operationsOf(*module);
    mlir::PassManager passes(&context);
    ASSERT_TRUE(mlir::succeeded(mlir::parsePassPipeline(GetParam(), passes)));
    ASSERT_TRUE(mlir::succeeded(passes.run(*module))) << "seed " << seed;
    EXPECT_EQ(interpret(functionOf(*module), arguments), expected) << "seed " << seed;
    after += operationsOf(*module);
  }
  EXPECT_LT(after, before) << "the pass did nothing";
}

INSTANTIATE_TEST_SUITE_P(Passes, Preserve,
                         testing::Values("func.func(sluice-fuse-maps)",
                                         "func.func(sluice-fold-constants)",
                                         "func.func(sluice-remove-dead-code)", "canonicalize",
                                         "func.func(sluice-fold-constants,sluice-fuse-maps),"
                                         "canonicalize,func.func(sluice-remove-dead-code)"));

} // namespace
} // namespace sluice::ir
