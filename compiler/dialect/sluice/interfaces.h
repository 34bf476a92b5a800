// What every operation of the dialect answers for itself; see interfaces.td.
#pragma once

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"
#include "llvm/Support/ErrorHandling.h"

#include "compiler/dialect/sluice/layout.h"
#include "compiler/index_space/pieces.h"

namespace sluice::reference {
struct Tensor;
using Tensors = std::vector<Tensor>;
} // namespace sluice::reference

namespace sluice::ir {

/// Where each axis of a tensor is when some neighbours are one axis: ascending from 0, neighbours
/// that are one have one place.
using AxisPlaces = llvm::SmallVector<int64_t, 4>;

/// The shape then.
space::Extents mergedShape(space::ExtentsRef shape, llvm::ArrayRef<int64_t> places);

/// Returns the merged form of a reshape: another shape or data dimension, or `operand` if it is
/// none.
mlir::Value mergedReshape(mlir::Operation *op, mlir::OpBuilder &builder, mlir::Value operand,
                          const AxisPlaces &places);

/// Builds a copy of an operation with other operands. Its result has another type, and is no tensor
/// of the model.
mlir::Operation *cloneWith(mlir::Operation *op, mlir::OpBuilder &builder, mlir::ValueRange operands,
                           mlir::Type type);

/// Builds a copy of an operation with other operands, whose result has another extent along an
/// axis.
mlir::Operation *withExtent(mlir::Operation *op, mlir::OpBuilder &builder,
                            mlir::ValueRange operands, int64_t axis, int64_t extent);

/// Returns the input of an operation that keeps it as it is, type included; nothing of any other.
mlir::OpFoldResult sameAs(mlir::Value input, mlir::Value result);

/// Adds the data dimensions that follow from the pieces of a view: an axis of the operand and the
/// axis of the result along which its elements lie. If elements have another index there than
/// before, the rows are moved, which the cost counts.
void layoutsOfView(mlir::Operation *view, const LayoutQuery &query, LayoutRelation &relation);

/// Adds the axes of operand `side` of a product that it sums over, if the other one is constant.
void addSummedAxes(const space::IndexSpace &product, unsigned side, int64_t lanes,
                   llvm::SmallVectorImpl<SummedAxis> &axes);

/// Returns why a product has no layout.
LayoutRefusal productRefusal(const LayoutQuery &query);

/// Returns the index space that follows from the pieces of a view.
space::IndexSpace spaceOfView(mlir::Operation *view);

} // namespace sluice::ir

#include "compiler/dialect/sluice/interfaces.h.inc"

namespace sluice::ir {

/// The layout query of an operation with the shapes it has. `constant` says
/// which values are known at compile time.
LayoutQuery layoutQuery(mlir::Operation *op, llvm::function_ref<bool(mlir::Value)> constant,
                        int64_t lanes);

/// The operands, then the values from around the operation that its regions read, each once.
llvm::SmallVector<mlir::Value> readValues(mlir::Operation *op);

/// Succeeds if the operation's index space, if it has one, keeps the rules of
/// space::verify; else an error says which it breaks. The shapes must have been verified.
mlir::LogicalResult verifyIndexSpace(mlir::Operation *op);

} // namespace sluice::ir
