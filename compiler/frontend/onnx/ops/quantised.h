// What operators on quantised tensors share. An 8-bit integer is a bf16 number, so that a
// quantised tensor is one of these numbers.
#pragma once

#include <functional>
#include <string>

#include "compiler/frontend/onnx/ops/common.h"

namespace sluice::frontend::ops {

/// int8 or uint8.
bool isByte(DataType type);

/// The tensor as one of `type`.
Tensor ofType(Tensor tensor, DataType type);

/// "input 'x' is int8 or uint8" (E0205), of an input that is given.
Requirement isByteInput(size_t input, const char *name);

/// Requires what is known of an input to be finite and above 0.
Requirement positive(size_t input, const std::string &name);

/// Requires one number, or one per place along an axis of input `of`.
Requirement perTensorOr(size_t input, const std::string &name, size_t of, const char *what,
                        std::function<int64_t(const NodeView &)> count);

/// One number as it is; others along `axis` of a tensor of `rank`.
Tensor along(Emitter &emit, const Tensor &values, int64_t axis, int64_t rank);

/// The zero point in input `input`, 0 where there is none.
Tensor zeroPoint(NodeBuilder &node, size_t input, int64_t axis, int64_t rank);

/// round(x) + zero, in the range of `type`.
mlir::Value quantised(const Scalars &s, mlir::Value x, mlir::Value zero, DataType type);

} // namespace sluice::frontend::ops
