// Values that depend on no input of the function.
#pragma once

#include <optional>

#include "compiler/reference/tensor.h"
#include "mlir/IR/Value.h"

namespace sluice::streaming {

/// What a value is, if constants alone make it.
std::optional<reference::Tensor> known(mlir::Value value);

/// A tensor of one value.
reference::Tensor filled(llvm::ArrayRef<int64_t> shape, double value);

} // namespace sluice::streaming
