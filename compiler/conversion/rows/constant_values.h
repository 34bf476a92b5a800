// Values of constants as they lie in the IR.
#pragma once

#include <map>
#include <vector>

#include "mlir/IR/Value.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"

namespace sluice::rows {

/// Reads constants without a copy where they lie as floats in the IR.
class ConstantValues {
public:
  /// Returns the elements of a constant in row-major order; one element if all are equal.
  llvm::ArrayRef<float> of(mlir::Value value);

private:
  llvm::DenseMap<mlir::Value, std::vector<float>> copies;
};

} // namespace sluice::rows
