#include "compiler/frontend/onnx/ops/quantised.h"

#include <cmath>
#include <numeric>

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
            if (!node.has(input) || !node.in(input).known)
              return "";
            for (const float scale : node.in(input).known->floats)
              if (!(scale > 0) || !std::isfinite(scale))
                return fmt::format("{}", scale);
            return "";
          },
          kShapes};
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
          kShapes};
}

Requirement oneElement(std::vector<size_t> inputs, const std::string &names) {
  return {inputs.size() == 1 ? fmt::format("input {} must have one element", names)
                             : fmt::format("inputs {} must have one element each", names),
          [inputs = std::move(inputs)](const NodeView &node) -> std::string {
            for (const size_t i : inputs)
              if (node.has(i) && elementCount(node.in(i).shape, kMaxElements) != 1)
                return shapeText(node.in(i).shape);
            return "";
          }};
}

InputSpec scaleInput(const std::string &name) {
  return {name, Types::Float, Presence::Required, true};
}

InputSpec zeroInput(const std::string &name, Presence presence) {
  return {name, Types::Numeric, presence, true};
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

Tensor centred(NodeBuilder &node, size_t input, size_t zero, int64_t axis) {
  const Tensor &x = node.in(input);
  const Tensor offset = zeroPoint(node, zero, axis, x.rank());
  if (x.known && offset.known) {
    HostTensor out{Proto::FLOAT, x.shape, {}, {}};
    for (int64_t i = 0; i < x.known->size(); ++i)
      out.floats.push_back(static_cast<float>(x.known->ints[i]) -
                           offset.known->floats[broadcastIndex(offset.shape, x.shape, i)]);
    return Tensor::ofKnown(std::move(out), x.name);
  }
  return node.emit.pointwise(
      {x, offset}, [](const Scalars &s, mlir::ValueRange v) { return s.sub(v[0], v[1]); });
}

mlir::Value restored(const Scalars &s, mlir::Value x, mlir::Value scale, mlir::Value zero) {
  return s.mul(s.sub(x, zero), scale);
}

mlir::Value quantised(const Scalars &s, mlir::Value x, mlir::Value zero, DataType type) {
  return s.clamp(s.add(s.make<mlir::math::RoundEvenOp>(x), zero), lowest(type), highest(type));
}

Tensor restored(Emitter &emit, const Tensor &integers, float scale, float zero, DataType type) {
  Tensor result =
      ofType(emit.pointwise({asFloats(integers)},
                            [&](const Scalars &s, mlir::ValueRange v) {
                              return restored(s, v[0], s.constant(scale), s.constant(zero));
                            }),
             type);
  const IntegerRange range = rangeOf(integers.type);
  if (result.value)
    emit.setRestored(result,
                     {emit.value(integers),
                      {scale,
                       static_cast<int32_t>(zero),
                       {static_cast<int64_t>(range.least), static_cast<int64_t>(range.most)}}});
  return result;
}

Tensor quantised(Emitter &emit, const Tensor &x, float scale, float zero, DataType type) {
  return ofType(emit.pointwise({x},
                               [&](const Scalars &s, mlir::ValueRange v) {
                                 return quantised(s, s.div(v[0], s.constant(scale)),
                                                  s.constant(zero), type);
                               }),
                type);
}

DynamicallyQuantised dynamicallyQuantised(Emitter &emit, const Tensor &x) {
  Shape axes(x.rank());
  std::iota(axes.begin(), axes.end(), 0);
  const auto extreme = [&](ir::Monoid monoid, bool low) {
    const Tensor found = axes.empty() ? x : emit.reduce(monoid, x, axes, false);
    return emit.pointwise({found}, [low](const Scalars &s, mlir::ValueRange v) {
      return low ? s.make<mlir::arith::MinimumFOp>(v[0], s.constant(0)) : s.relu(v[0]);
    });
  };
  const Tensor low = extreme(ir::Monoid::Min, true), high = extreme(ir::Monoid::Max, false);
  Tensor scale = emit.pointwise({low, high}, [](const Scalars &s, mlir::ValueRange v) {
    return s.scale(s.sub(v[1], v[0]), 1.0F / 255);
  });
  const auto divided = [](const Scalars &s, mlir::Value x, mlir::Value by) {
    return s.div(x, s.infinityForZero(by)); // everything is 0 where the range is empty
  };
  const Tensor zero = emit.pointwise({low, scale}, [&](const Scalars &s, mlir::ValueRange v) {
    return s.clamp(s.make<mlir::math::RoundEvenOp>(s.scale(divided(s, v[0], v[1]), -1)), 0, 255);
  });
  const Tensor y = emit.pointwise({x, scale, zero}, [&](const Scalars &s, mlir::ValueRange v) {
    return quantised(s, divided(s, v[0], v[1]), v[2], Proto::UINT8);
  });
  return {ofType(y, Proto::UINT8), std::move(scale), ofType(zero, Proto::UINT8)};
}

} // namespace sluice::frontend::ops
