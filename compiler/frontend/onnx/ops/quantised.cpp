#include "compiler/frontend/onnx/ops/quantised.h"

#include <cmath>

#include <fmt/format.h>

namespace sluice::frontend::ops {
namespace {

using Proto = onnx::TensorProto;

float lowest(DataType type) { return type == Proto::INT8 ? -128.0F : 0.0F; }
float highest(DataType type) { return type == Proto::INT8 ? 127.0F : 255.0F; }

} // namespace

bool isByte(DataType type) { return type == Proto::UINT8 || type == Proto::INT8; }

Tensor ofType(Tensor tensor, DataType type) {
  tensor.type = type;
  return tensor;
}

Requirement isByteInput(size_t input, const char *name) {
  return {fmt::format("input '{}' must be int8 or uint8", name),
          [input](const NodeView &node) -> std::string {
            return !node.has(input) || isByte(node.in(input).type)
                       ? ""
                       : dataTypeName(node.in(input).type);
          }};
}

Requirement positive(size_t input, const std::string &name) {
  return {fmt::format("every element of input '{}' must be finite and above 0", name),
          [input](const NodeView &node) -> std::string {
            if (!node.in(input).known)
              return "";
            for (const float scale : node.in(input).known->floats)
              if (!(scale > 0) || !std::isfinite(scale))
                return fmt::format("{}", scale);
            return "";
          },
          "E0206"};
}

Requirement perTensorOr(size_t input, const std::string &name, size_t of, const char *what,
                        std::function<int64_t(const NodeView &)> count) {
  return {fmt::format("input '{}' must have one element, or one per {}", name, what),
          [=](const NodeView &node) -> std::string {
            if (!node.has(input))
              return "";
            const Shape &shape = node.in(input).shape;
            return elementCount(shape, kMaxElements) == 1 || shape == Shape{count(node)}
                       ? ""
                       : shapeText(shape) + " for " + shapeText(node.in(of).shape);
          },
          "E0206"};
}

Tensor along(Emitter &emit, const Tensor &values, int64_t axis, int64_t rank) {
  const Tensor floats = asFloats(values);
  if (elementCount(floats.shape, kMaxElements) == 1)
    return emit.reshape(floats, {});
  Shape shape(rank - axis, 1);
  shape[0] = values.shape[0];
  return emit.reshape(floats, shape);
}

Tensor zeroPoint(NodeBuilder &node, size_t input, int64_t axis, int64_t rank) {
  if (!node.has(input))
    return Tensor::ofKnown(HostTensor::ofFloats({}, {0}));
  return along(node.emit, node.in(input), axis, rank);
}

mlir::Value quantised(const Scalars &s, mlir::Value x, mlir::Value zero, DataType type) {
  return s.clamp(s.add(s.make<mlir::math::RoundEvenOp>(x), zero), lowest(type), highest(type));
}

} // namespace sluice::frontend::ops
