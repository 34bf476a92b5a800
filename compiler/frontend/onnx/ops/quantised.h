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

/// Requires one element each of the inputs that are given; `names` is "'a' and 'b'".
Requirement oneElement(std::vector<size_t> inputs, const std::string &names);

/// A scale that is known at compile time.
InputSpec scaleInput(const std::string &name);

/// A zero point that is known at compile time.
InputSpec zeroInput(const std::string &name, Presence presence = Presence::Required);

/// One number as it is; others along `axis` of a tensor of `rank`.
Tensor along(Emitter &emit, const Tensor &values, int64_t axis, int64_t rank);

/// The zero point in input `input`, 0 where there is none.
Tensor zeroPoint(NodeBuilder &node, size_t input, int64_t axis, int64_t rank);

/// The integers of input `input` less their zero point, which bf16 has exactly.
Tensor centred(NodeBuilder &node, size_t input, size_t zero, int64_t axis = 0);

/// (x - zero) * scale.
mlir::Value restored(const Scalars &s, mlir::Value x, mlir::Value scale, mlir::Value zero);

/// round(x) + zero, in the range of `type`.
mlir::Value quantised(const Scalars &s, mlir::Value x, mlir::Value zero, DataType type);

/// The real numbers, of `type`, that the integers of a tensor stand for.
Tensor restored(Emitter &emit, const Tensor &integers, float scale, float zero, DataType type);

/// The integers of `type` that stand for real numbers.
Tensor quantised(Emitter &emit, const Tensor &x, float scale, float zero, DataType type);

/// Integers of uint8, and the scale and the zero point of their range, which the program computes.
struct DynamicallyQuantised {
  Tensor y, scale, zero;
};

/// Quantises a tensor of floats as DynamicQuantizeLinear does.
DynamicallyQuantised dynamicallyQuantised(Emitter &emit, const Tensor &x);

} // namespace sluice::frontend::ops
