// Tensors of the dialect: names, shapes, data dimensions, constants.
#pragma once

#include <optional>

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"

#include "compiler/reference/tensor.h"

namespace sluice::ir {

/// Argument and result attribute of functions: the name of the ONNX tensor.
inline constexpr llvm::StringLiteral kNameAttr = "sluice.name";
/// What the host does with an argument or result (pipeline/host_attributes.h).
inline constexpr llvm::StringLiteral kHostAttr = "sluice.host";

/// Whether the dialect's operations take this type.
bool isSluiceTensor(mlir::Type type);

/// The data dimension written on a tensor's type.
std::optional<int64_t> dataDim(mlir::Type type);
inline std::optional<int64_t> dataDim(mlir::Value value) { return dataDim(value.getType()); }

/// Whether a value is known at compile time. After layout, such a value has no data dimension;
/// before layout, no value has one.
inline bool isConstant(mlir::Value value) { return !dataDim(value); }

/// Says that the user wants the data dimension that a tensor has, and no other axes with it.
void pin(mlir::Value value);
bool isPinned(mlir::Value value);

inline mlir::RankedTensorType typeOf(mlir::Value value) {
  return llvm::cast<mlir::RankedTensorType>(value.getType());
}

/// Extents of a tensor.
inline llvm::ArrayRef<int64_t> shapeOf(mlir::Value value) { return typeOf(value).getShape(); }

/// Extents of a runtime tensor as it is carried: rank 0 is [1].
llvm::SmallVector<int64_t, 4> carriedShape(mlir::Value value);

/// Constants as plain tensors and back (rounded to f32).
reference::Tensor toTensor(mlir::ElementsAttr elements);
mlir::DenseElementsAttr toElements(const reference::Tensor &tensor, mlir::MLIRContext *context);

} // namespace sluice::ir
