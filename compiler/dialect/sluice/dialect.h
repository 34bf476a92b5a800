// The sluice dialect: attributes, operations, interfaces. What an operation
// means and accepts is in ops.td.
#pragma once

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/TensorEncoding.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Support/ErrorHandling.h"

#include "compiler/dialect/sluice/layout.h"
#include "compiler/index_space/index_space.h"
#include "compiler/reference/tensor.h"

#include "compiler/dialect/sluice/dialect.h.inc"
#include "compiler/dialect/sluice/enums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "compiler/dialect/sluice/attributes.h.inc"

#include "compiler/dialect/sluice/interfaces.h.inc"

namespace sluice::ir {

/// Argument and result attribute of functions: the name of the ONNX tensor.
inline constexpr llvm::StringLiteral kNameAttr = "sluice.name";

/// Whether the dialect's operations take this type.
bool isSluiceTensor(mlir::Type type);

/// The data dimension written on a tensor's type.
std::optional<int64_t> dataDim(mlir::Type type);
inline std::optional<int64_t> dataDim(mlir::Value value) { return dataDim(value.getType()); }

/// Extents of a tensor.
inline llvm::ArrayRef<int64_t> shapeOf(mlir::Value value) {
  return llvm::cast<mlir::RankedTensorType>(value.getType()).getShape();
}

/// Extents of a runtime tensor as it is carried: rank 0 is [1].
llvm::SmallVector<int64_t, 4> carriedShape(mlir::Value value);

/// The layout query of an operation with the shapes it has. `constant` says
/// which values are known at compile time.
LayoutQuery layoutQuery(mlir::Operation *op, llvm::function_ref<bool(mlir::Value)> constant,
                        int64_t lanes);

/// Succeeds if the operation's index space, if it has one, keeps the rules of
/// space::verify; else an error says which it breaks. The shapes must have been verified.
mlir::LogicalResult verifyIndexSpace(mlir::Operation *op);

/// Constants as plain tensors and back (rounded to f32).
reference::Tensor toTensor(mlir::ElementsAttr elements);
mlir::DenseElementsAttr toElements(const reference::Tensor &tensor, mlir::MLIRContext *context);

} // namespace sluice::ir

#define GET_OP_CLASSES
#include "compiler/dialect/sluice/ops.h.inc"
