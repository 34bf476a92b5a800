// Attention with random extents and orders of axes: the heads of a row left side by side change no
// value.
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
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "tests/support/environment.h"

namespace sluice::ir {
namespace {

using mlir::Value;
using Extents = llvm::SmallVector<int64_t, 4>;

/// `heads` heads of `each` features for `positions` positions, all along the lanes at first.
struct Shape {
  int64_t positions, heads, each;
};

/// sum((tanh(q k)) v) by head, the heads along one axis again.
class Attention {
public:
  Attention(mlir::MLIRContext &context, const Shape &shape, bool onePositionAxis, bool weightsFirst)
      : shape(shape), builder(&context), loc(builder.getUnknownLoc()),
        module(mlir::ModuleOp::create(loc)) {
    builder.setInsertionPointToStart(module->getBody());
    Extents whole{shape.positions, shape.heads * shape.each};
    if (!onePositionAxis)
      whole.insert(whole.begin() + 1, 1);
    const auto type = laid(whole, static_cast<int64_t>(whole.size()) - 1);
    auto function = builder.create<mlir::func::FuncOp>(
        loc, "f", builder.getFunctionType({type, type, type}, {}));
    builder.setInsertionPointToStart(function.addEntryBlock());
    const Value q = apart(function.getArgument(0), {1, 0, 2}),
                v = apart(function.getArgument(2), {1, 0, 2});
    Value scores;
    if (weightsFirst) // the positions of the weights are those of the lanes
      scores = product(apart(function.getArgument(1), {1, 0, 2}),
                       apart(function.getArgument(0), {1, 2, 0}), 1);
    else
      scores = product(q, apart(function.getArgument(1), {1, 2, 0}), 2);
    auto map = builder.create<MapOp>(
        loc, scores, [](mlir::OpBuilder &b, mlir::Location at, mlir::ValueRange in) -> Value {
          return b.create<mlir::math::TanhOp>(at, in[0]);
        });
    map.getResult().setType(llvm::cast<mlir::RankedTensorType>(scores.getType()));
    Value weights = map;
    if (weightsFirst)
      weights = transposed(weights, {0, 2, 1});
    const Value sums = product(weights, v, 2);
    const Value merged = reshaped(transposed(sums, {1, 0, 2}), whole, whole.size() - 1);
    builder.create<mlir::func::ReturnOp>(loc, merged);
    function.setType(builder.getFunctionType({type, type, type}, merged.getType()));
  }

  [[nodiscard]] mlir::FunctionOpInterface function() {
    return *module->getOps<mlir::FunctionOpInterface>().begin();
  }

private:
  const Shape shape;
  mlir::OpBuilder builder;
  mlir::Location loc;

public:
  mlir::OwningOpRef<mlir::ModuleOp> module;

private:
  mlir::RankedTensorType laid(llvm::ArrayRef<int64_t> extents, int64_t dim) {
    return withShape(mlir::RankedTensorType::get(extents, builder.getBF16Type()), extents, dim);
  }
  Value reshaped(Value value, llvm::ArrayRef<int64_t> extents, int64_t dim) {
    auto op = builder.create<ReshapeOp>(loc, value, extents);
    op.getResult().setType(laid(extents, dim));
    return op;
  }
  Value transposed(Value value, llvm::ArrayRef<int64_t> order) {
    auto op = builder.create<TransposeOp>(loc, value, order);
    Extents extents;
    for (const int64_t axis : order)
      extents.push_back(shapeOf(value)[axis]);
    op.getResult().setType(laid(extents, llvm::find(order, *dataDim(value)) - order.begin()));
    return op;
  }
  Value apart(Value value, llvm::ArrayRef<int64_t> order) {
    return transposed(reshaped(value, {shape.positions, shape.heads, shape.each}, 2), order);
  }
  Value product(Value left, Value right, int64_t dim) {
    auto op = builder.create<MatmulOp>(loc, left, right);
    const Extents extents(shapeOf(op.getResult()));
    op.getResult().setType(laid(extents, dim));
    return op;
  }
};

class HeadsInRows : public ::testing::Test {
protected:
  HeadsInRows() {
    context.loadDialect<SluiceDialect, mlir::func::FuncDialect, mlir::arith::ArithDialect,
                        mlir::math::MathDialect>();
  }
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
};

TEST_F(HeadsInRows, KeepValues) {
  std::mt19937_64 random(1);
  const auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  const uint64_t graphs = sluice::fixtures::fromEnvironment("SLUICE_HEADS_GRAPHS", 200);
  unsigned changed = 0, kept = 0;
  for (uint64_t i = 0; i < graphs; ++i) {
    const Shape shape{pick(1, 9), pick(1, 6), pick(1, 6)};
    const bool one = pick(0, 1) == 0, first = pick(0, 1) == 0;
    Attention attention(context, shape, one, first);
    ASSERT_TRUE(mlir::succeeded(mlir::verify(*attention.module)));
    reference::Tensors arguments;
    for (const mlir::Type type : attention.function().getArgumentTypes()) {
      const auto extents = llvm::cast<mlir::RankedTensorType>(type).getShape();
      reference::Tensor tensor({extents.begin(), extents.end()});
      for (double &value : tensor.values)
        value = static_cast<double>(pick(-99, 99)) / 64;
      arguments.push_back(std::move(tensor));
    }
    const reference::Tensor expected = interpret(attention.function(), arguments).front();
    const bool reads = readsHeads(attention.function(), 8);
    const unsigned products = headsInRows(attention.function(), 8);
    // Heads that have a row to themselves, or do not begin where rows do, stay apart.
    const int64_t together = std::min(8 / shape.each, shape.heads);
    const bool fits = together > 1 && shape.heads % together == 0 &&
                      (together == shape.heads || together * shape.each == 8);
    EXPECT_EQ(products, fits ? 2U : 0U) << shape.heads << " heads of " << shape.each;
    EXPECT_TRUE(reads || !fits) << shape.heads << " heads of " << shape.each;
    (fits ? changed : kept) += 1;
    ASSERT_TRUE(mlir::succeeded(mlir::verify(*attention.module)));
    // A product with zero is zero, and sums of zeros are exact.
    ASSERT_EQ(interpret(attention.function(), arguments).front(), expected)
        << shape.positions << " positions, " << shape.heads << " heads of " << shape.each;
  }
  EXPECT_GT(changed, 0U);
  EXPECT_GT(kept, 0U);
}

/// A tensor of rank 0 has a data dimension, but no extent for it.
TEST_F(HeadsInRows, LeaveProductsOfScalarsAlone) {
  auto module = mlir::parseSourceString<mlir::ModuleOp>(
      "func.func @f(%x: tensor<bf16, #sluice<[1!]>>) -> tensor<1x1x1xbf16, #sluice<[1 1 1!]>> {\n"
      "  %r = sluice.reshape %x : (tensor<bf16, #sluice<[1!]>>) -> "
      "tensor<1x1x1xbf16, #sluice<[1 1 1!]>>\n"
      "  %p = sluice.matmul %r, %r : (tensor<1x1x1xbf16, #sluice<[1 1 1!]>>, "
      "tensor<1x1x1xbf16, #sluice<[1 1 1!]>>) -> tensor<1x1x1xbf16, #sluice<[1 1 1!]>>\n"
      "  return %p : tensor<1x1x1xbf16, #sluice<[1 1 1!]>>\n}",
      &context);
  ASSERT_TRUE(module);
  const auto function = *module->getOps<mlir::FunctionOpInterface>().begin();
  EXPECT_FALSE(readsHeads(function, 8));
  EXPECT_EQ(headsInRows(function, 8), 0U);
}

} // namespace
} // namespace sluice::ir
