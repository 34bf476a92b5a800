// Builders that infer their result, and checks before building.
#include <gtest/gtest.h>

#include "compiler/dialect/sluice/dialect.h"
#include "compiler/dialect/sluice/operations.h"
#include "compiler/dialect/sluice/shapes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"

namespace sluice::ir {
namespace {

using Shape = std::vector<int64_t>;

class Builders : public testing::Test {
protected:
  Builders() : builder(&context), loc(builder.getUnknownLoc()) {
    context.loadDialect<SluiceDialect, mlir::func::FuncDialect>();
    module = mlir::ModuleOp::create(loc);
    builder.setInsertionPointToStart(module->getBody());
    auto type = mlir::RankedTensorType::get({2, 3, 4}, builder.getF32Type());
    auto function =
        builder.create<mlir::func::FuncOp>(loc, "f", builder.getFunctionType({type}, {}));
    builder.setInsertionPointToStart(function.addEntryBlock());
    x = function.getArgument(0);
  }

  void finish() {
    builder.create<mlir::func::ReturnOp>(loc);
    EXPECT_TRUE(mlir::succeeded(mlir::verify(*module)));
  }

  static Shape shape(mlir::Value value) {
    auto extents = shapeOf(value);
    return {extents.begin(), extents.end()};
  }

  mlir::MLIRContext context;
  mlir::OpBuilder builder;
  mlir::Location loc;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::Value x;
};

TEST_F(Builders, InferTheirResults) {
  EXPECT_EQ(
      shape(builder.create<ReduceOp>(loc, Monoid::Sum, x, llvm::ArrayRef<int64_t>{0, 2}, false)),
      (Shape{3}));
  EXPECT_EQ(shape(builder.create<ReduceOp>(loc, Monoid::Max, x, llvm::ArrayRef<int64_t>{1}, true)),
            (Shape{2, 1, 4}));
  auto w = builder.create<ConstantOp>(loc, toElements(reference::Tensor({4, 5}), &context));
  EXPECT_EQ(shape(builder.create<MatmulOp>(loc, x, w)), (Shape{2, 3, 5}));
  EXPECT_EQ(shape(builder.create<TransposeOp>(loc, x, llvm::ArrayRef<int64_t>{2, 0, 1})),
            (Shape{4, 2, 3}));
  EXPECT_EQ(shape(builder.create<SliceOp>(loc, x, llvm::ArrayRef<int64_t>{1, 2, 0},
                                          llvm::ArrayRef<int64_t>{1, 3, 2},
                                          llvm::ArrayRef<int64_t>{1, -1, 2})),
            (Shape{1, 3, 2}));
  EXPECT_EQ(shape(builder.create<ReshapeOp>(loc, x, llvm::ArrayRef<int64_t>{6, 4})), (Shape{6, 4}));
  auto unsqueezed = builder.create<UnsqueezeOp>(loc, x, llvm::ArrayRef<int64_t>{0, 4});
  EXPECT_EQ(shape(unsqueezed), (Shape{1, 2, 3, 4, 1}));
  EXPECT_EQ(shape(builder.create<SqueezeOp>(loc, unsqueezed, llvm::ArrayRef<int64_t>{4})),
            (Shape{1, 2, 3, 4}));
  EXPECT_EQ(
      shape(builder.create<BroadcastOp>(loc, unsqueezed, llvm::ArrayRef<int64_t>{7, 2, 3, 4, 2})),
      (Shape{7, 2, 3, 4, 2}));
  EXPECT_EQ(shape(builder.create<ConcatOp>(loc, mlir::ValueRange{x, x}, 2)), (Shape{2, 3, 8}));
  EXPECT_EQ(shape(builder.create<PadOp>(loc, x, llvm::ArrayRef<int64_t>{0, 1, 0},
                                        llvm::ArrayRef<int64_t>{2, 0, 0}, 0.0F)),
            (Shape{4, 4, 4}));
  auto map = builder.create<MapOp>(
      loc, mlir::ValueRange{x, x},
      [](mlir::OpBuilder &b, mlir::Location l, mlir::ValueRange inputs) -> mlir::Value {
        return b.create<mlir::arith::AddFOp>(l, inputs[0], inputs[1]);
      });
  EXPECT_EQ(shape(map), (Shape{2, 3, 4}));
  finish();
}

TEST_F(Builders, ShapesAreCheckedBeforeBuilding) {
  std::string why;
  EXPECT_TRUE(mlir::failed(inferMatmul(shapeOf(x), {5}, why)));
  EXPECT_EQ(why, "the contracted extents of [2 3 4] and [5] are 4 and 5, they must be equal");
}

TEST_F(Builders, ConstantsOfEveryKindBecomeTensors) {
  auto type = mlir::RankedTensorType::get({2, 2}, builder.getF32Type());
  auto dense = mlir::DenseElementsAttr::get(type, llvm::ArrayRef<float>{1, 2, 3, 4});
  EXPECT_EQ(toTensor(dense).values, (std::vector<double>{1, 2, 3, 4}));
  EXPECT_EQ(toTensor(mlir::DenseElementsAttr::get(type, 2.5F)).values,
            (std::vector<double>{2.5, 2.5, 2.5, 2.5}));
  auto half = mlir::RankedTensorType::get({1}, builder.getBF16Type());
  EXPECT_EQ(toTensor(mlir::DenseElementsAttr::get(
                         half, llvm::ArrayRef<mlir::Attribute>{builder.getFloatAttr(
                                   builder.getBF16Type(), 0.5)}))
                .values,
            (std::vector<double>{0.5}));
  EXPECT_EQ(toTensor(toElements(reference::Tensor({2}, {0.1, -7}), &context)).values,
            (std::vector<double>{0.1F, -7}));
}

} // namespace
} // namespace sluice::ir
