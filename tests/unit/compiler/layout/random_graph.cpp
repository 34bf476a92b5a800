#include "random_graph.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "compiler/dialect/sluice/operations.h"
#include "compiler/dialect/sluice/selection.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"

namespace sluice::layout {

using mlir::Value;

/// Tensors of more elements are not made larger.
constexpr int64_t kMaxElements = 48;

RandomGraph::RandomGraph(mlir::MLIRContext &context, unsigned seed)
    : random(seed), builder(&context), loc(builder.getUnknownLoc()),
      module(mlir::ModuleOp::create(loc)) {}

mlir::FunctionOpInterface RandomGraph::build(int arguments, int operations) {
  llvm::SmallVector<mlir::Type> types;
  for (int i = 0; i < arguments; ++i)
    types.push_back(tensor(randomShape(pick(1, 3))));
  builder.setInsertionPointToStart(module->getBody());
  auto function = builder.create<mlir::func::FuncOp>(loc, "f", builder.getFunctionType(types, {}));
  builder.setInsertionPointToStart(function.addEntryBlock());
  for (Value argument : function.getArguments())
    values.push_back(argument);
  for (int i = 0; i < operations; ++i)
    values.push_back(operation());
  builder.create<mlir::func::ReturnOp>(loc);
  EXPECT_TRUE(mlir::succeeded(mlir::verify(*module)));
  return function;
}

int64_t RandomGraph::pick(int64_t low, int64_t high) {
  return std::uniform_int_distribution<int64_t>(low, high)(random);
}

RandomGraph::Extents RandomGraph::randomShape(int64_t rank) {
  Extents shape;
  for (int64_t i = 0; i < rank; ++i)
    shape.push_back(pick(1, 3));
  return shape;
}

mlir::RankedTensorType RandomGraph::tensor(llvm::ArrayRef<int64_t> shape) {
  return mlir::RankedTensorType::get(shape, builder.getF32Type());
}

Value RandomGraph::constant(llvm::ArrayRef<int64_t> shape) {
  return builder.create<ir::ConstantOp>(loc, mlir::DenseElementsAttr::get(tensor(shape), 1.0F));
}

Value RandomGraph::sibling(Value value) {
  llvm::SmallVector<Value> same;
  for (Value other : values)
    if (ir::shapeOf(other) == ir::shapeOf(value))
      same.push_back(other);
  return same[pick(0, static_cast<int64_t>(same.size()) - 1)];
}

bool RandomGraph::large(Value value) const {
  return llvm::cast<mlir::RankedTensorType>(value.getType()).getNumElements() > kMaxElements;
}

Value RandomGraph::operation() {
  while (true)
    if (Value made = tryOperation(values[pick(0, static_cast<int64_t>(values.size()) - 1)]))
      return made;
}

Value RandomGraph::map(Value x) {
  Value y = pick(0, 3) == 0 ? constant(ir::shapeOf(x)) : sibling(x);
  return builder.create<ir::MapOp>(loc, mlir::ValueRange{x, y},
                                   [](mlir::OpBuilder &b, mlir::Location l, mlir::ValueRange in) {
                                     return Value(b.create<mlir::arith::AddFOp>(l, in[0], in[1]));
                                   });
}

/// Another factorisation: two neighbours merged, or a factor split off.
Value RandomGraph::reshape(Value x) {
  Extents extents(ir::shapeOf(x));
  const auto rank = static_cast<int64_t>(extents.size());
  const int64_t axis = pick(0, rank - 1);
  if (rank > 4)
    return {};
  if (axis + 1 < rank && pick(0, 1)) {
    extents[axis] *= extents[axis + 1];
    extents.erase(extents.begin() + axis + 1);
  } else {
    const int64_t factor = extents[axis] % 2 == 0 ? 2 : extents[axis];
    extents[axis] /= factor;
    extents.insert(extents.begin() + axis + pick(0, 1), factor);
  }
  return builder.create<ir::ReshapeOp>(loc, x, extents);
}

/// A part of one axis, forwards or backwards.
Value RandomGraph::slice(Value x) {
  Extents sizes(ir::shapeOf(x)), starts(sizes.size(), 0), steps(sizes.size(), 1);
  const int64_t axis = pick(0, static_cast<int64_t>(sizes.size()) - 1);
  const int64_t extent = sizes[axis], size = pick(1, extent);
  sizes[axis] = size;
  starts[axis] = pick(0, extent - size);
  if (pick(0, 1)) {
    starts[axis] += size - 1;
    steps[axis] = -1;
  }
  return builder.create<ir::SliceOp>(loc, x, starts, sizes, steps);
}

Value RandomGraph::reduce(Value x) {
  llvm::SmallVector<int64_t> axes;
  for (int64_t axis = 0; axis < static_cast<int64_t>(ir::shapeOf(x).size()); ++axis)
    if (pick(0, 1))
      axes.push_back(axis);
  if (axes.empty())
    return {};
  return builder.create<ir::ReduceOp>(loc, ir::Monoid::Sum, x, axes, pick(0, 1) == 1);
}

Value RandomGraph::matmulConstant(Value x) {
  auto shape = ir::shapeOf(x);
  if (shape.size() == 1 || pick(0, 1))
    return builder.create<ir::MatmulOp>(loc, x, constant({shape.back(), pick(1, 3)}));
  return builder.create<ir::MatmulOp>(loc, constant({pick(1, 3), shape[shape.size() - 2]}), x);
}

/// x times an activation of its last extent.
Value RandomGraph::matmulActivations(Value x) {
  llvm::SmallVector<Value> fitting;
  for (Value y : values) {
    auto other = ir::shapeOf(y);
    if (other.size() <= 2 && !other.empty() && other.front() == ir::shapeOf(x).back())
      fitting.push_back(y);
  }
  if (fitting.empty() || ir::shapeOf(x).size() > 2)
    return {};
  return builder.create<ir::MatmulOp>(loc, x,
                                      fitting[pick(0, static_cast<int64_t>(fitting.size()) - 1)]);
}

/// x[.. i j] times weights [k j] or [k i]: a product numpy has no name for.
Value RandomGraph::contract(Value x) {
  auto shape = ir::shapeOf(x);
  const auto rank = static_cast<unsigned>(shape.size());
  const auto axis = static_cast<unsigned>(pick(0, rank - 1));
  llvm::SmallVector<mlir::AffineExpr> left, result;
  for (unsigned i = 0; i < rank; ++i) {
    left.push_back(builder.getAffineDimExpr(i));
    result.push_back(builder.getAffineDimExpr(i == axis ? rank : i));
  }
  const auto affine = [&](llvm::ArrayRef<mlir::AffineExpr> axes) {
    return mlir::AffineMap::get(rank + 1, 0, axes, builder.getContext());
  };
  return builder.create<ir::ContractOp>(
      loc,
      llvm::ArrayRef<mlir::AffineMap>{
          affine(left), affine({builder.getAffineDimExpr(rank), builder.getAffineDimExpr(axis)}),
          affine(result)},
      x, constant({pick(1, 3), shape[axis]}));
}

Value RandomGraph::tryOperation(Value x) {
  auto shape = ir::shapeOf(x);
  const auto rank = static_cast<int64_t>(shape.size());
  const int64_t kind = pick(0, 13);
  if (kind == 0)
    return map(x);
  if (kind == 1) {
    llvm::SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, rank));
    std::shuffle(order.begin(), order.end(), random);
    return builder.create<ir::TransposeOp>(loc, x, order);
  }
  if (kind == 2)
    return rank > 4 ? Value() : builder.create<ir::UnsqueezeOp>(loc, x, pick(0, rank)).getResult();
  if (rank == 0)
    return {};
  const int64_t axis = pick(0, rank - 1);
  Extents extents(shape);
  switch (kind) {
  case 3:
    return reshape(x);
  case 4:
    return shape[axis] != 1 ? Value() : builder.create<ir::SqueezeOp>(loc, x, axis).getResult();
  case 5:
    if (shape[axis] != 1 || large(x))
      return {};
    extents[axis] = pick(1, 3);
    return builder.create<ir::BroadcastOp>(loc, x, extents);
  case 6:
    return reduce(x);
  case 7:
    return large(x) ? Value()
                    : builder.create<ir::ConcatOp>(loc, mlir::ValueRange{x, sibling(x)}, axis)
                          .getResult();
  case 8:
    return matmulConstant(x);
  case 9:
    return matmulActivations(x);
  case 10:
    return slice(x);
  case 11:
    return ir::slicedAlong(builder, loc, x, axis, shape[axis] - 1, shape[axis], -1);
  case 12: {
    Extents low(rank, 0), high(rank, 0);
    (pick(0, 1) ? low : high)[axis] = 1;
    return large(x) ? Value() : builder.create<ir::PadOp>(loc, x, low, high, 0.0F).getResult();
  }
  default:
    return contract(x);
  }
}

} // namespace sluice::layout
