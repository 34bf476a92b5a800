// What the verifiers of the operations share.
#pragma once

#include "compiler/dialect/rows/dialect.h"
#include "mlir/IR/BuiltinTypes.h"

namespace sluice::rows {

/// The program that an operation is in.
ProgramOp programOf(mlir::Operation *op);

/// Lanes of a row on the program's machine.
int64_t lanesOf(mlir::Operation *op);

/// What a name of the program stands for; null, with an error at `op`, if it is no such object.
/// `symbols` keeps the program's names from one call to the next: a search for each would be
/// quadratic in the number of objects.
template <typename Object>
Object objectNamed(mlir::SymbolTableCollection &symbols, mlir::Operation *op,
                   mlir::FlatSymbolRefAttr name) {
  auto found = symbols.lookupSymbolIn<Object>(programOf(op), name.getAttr());
  if (!found)
    op->emitOpError() << "refers to " << name << ", which is not a " << Object::getOperationName()
                      << " of the program";
  return found;
}

/// Whether extents are those of a tensor of so many elements.
bool isShapeOf(llvm::ArrayRef<int64_t> shape, int64_t elements);

/// Checks that elements are those of a tensor of this shape, of elements of type `Element`.
template <typename Element>
mlir::LogicalResult verifyElements(mlir::Operation *op, mlir::ElementsAttr elements,
                                   llvm::ArrayRef<int64_t> shape) {
  const auto wanted = mlir::RankedTensorType::get(shape, Element::get(op->getContext()));
  if (llvm::isa<mlir::DenseElementsAttr>(elements) && elements.getType() == wanted)
    return mlir::success();
  return op->emitOpError() << "has elements of " << elements.getType() << ", expected dense "
                           << wanted;
}

} // namespace sluice::rows
