// Values that depend on no input of the function.
#pragma once

#include <optional>

#include "compiler/reference/tensor.h"
#include "mlir/IR/Value.h"

namespace sluice::streaming {

/// Returns the elements of a value that depends only on constants; nothing for any other value.
std::optional<reference::Tensor> known(mlir::Value value);

/// Returns a tensor whose elements all have the same value.
reference::Tensor filled(llvm::ArrayRef<int64_t> shape, double value);

} // namespace sluice::streaming
