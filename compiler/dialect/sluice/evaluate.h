// What operations share that name their golden function.
#pragma once

#include "compiler/reference/tensor.h"
#include "llvm/ADT/ArrayRef.h"

namespace sluice::ir {

using reference::Tensor;
using reference::Tensors;
using Operands = llvm::ArrayRef<const Tensor *>;

inline reference::Shape plain(llvm::ArrayRef<int64_t> values) {
  return {values.begin(), values.end()};
}

/// Returns the results of an operation that has one.
inline Tensors one(Tensor result) {
  Tensors results;
  results.push_back(std::move(result));
  return results;
}

} // namespace sluice::ir
