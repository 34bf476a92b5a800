// Which value is which tensor of the model: a name on the operation that makes it.
//
// A location says where an operation comes from, and an operation of a rewrite's own says so too.
// The name says more: every element of the value is that element of the model's tensor. It is a
// discardable attribute, so an operation that a rewrite makes has none until the rewrite says that
// its result stands for one that had: what is wrong cannot come about by leaving something out.
#pragma once

#include <optional>
#include <string>

#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/Value.h"

namespace sluice::ir {

/// The tensor that a value is; empty: none of the model's, or nobody knows.
std::string modelTensor(mlir::Value value);

/// Its shape in the model, of which neighbouring axes may be one axis of the value.
llvm::ArrayRef<int64_t> modelShape(mlir::Value value);

/// Says so. Arguments of functions have names of their own, and the first of several names stays.
/// `shape` is the model's where that is not the value's.
void setModelTensor(mlir::Value value, llvm::StringRef name,
                    std::optional<llvm::ArrayRef<int64_t>> shape = std::nullopt);

/// Of an operation that was made from another one's copy, and computes something else.
void forgetModelTensor(mlir::Operation *op);

/// `by`, which is the same element by element, is used instead of `value` from now on. Whatever
/// name `by` has is its own.
void keepModelTensor(mlir::Value value, mlir::Value by);

/// Replaces an operation with one result by `by`, which is the same element by element.
void replaceOp(mlir::Operation *op, mlir::Value by);

/// Does so wherever a pattern replaces an operation.
class KeepModelTensors : public mlir::RewriterBase::Listener {
public:
  void notifyOperationReplaced(mlir::Operation *op, mlir::ValueRange by) override;
};

} // namespace sluice::ir
