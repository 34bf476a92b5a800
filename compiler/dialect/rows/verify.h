// What the verifiers of the operations share.
#pragma once

#include "compiler/dialect/rows/dialect.h"

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

/// Whether the elements are those of a tensor of this shape and type; else an error at `op`.
bool checkElements(mlir::Operation *op, mlir::ElementsAttr elements, llvm::ArrayRef<int64_t> shape,
                   mlir::Type type);

} // namespace sluice::rows
