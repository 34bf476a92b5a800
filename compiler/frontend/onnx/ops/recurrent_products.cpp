#include "compiler/frontend/onnx/ops/quantised.h"
#include "compiler/frontend/onnx/ops/recurrence.h"

namespace sluice::frontend::ops::recurrent {
namespace {

class FloatProducts final : public Products {
public:
  FloatProducts(NodeBuilder &node, int64_t direction)
      : node(node), direction(direction), hidden(Extents(node).hidden) {}

  std::vector<Tensor> of(const Tensor &x, Input weights, int64_t first,
                         int64_t last) const override {
    std::vector<Tensor> out;
    for (int64_t gate = first; gate < last; ++gate)
      out.push_back(node.emit.matmul(x, block(weights, gate)));
    return out;
  }

private:
  /// [columns, hidden]: the transposed weights of a gate.
  [[nodiscard]] Tensor block(Input weights, int64_t gate) const {
    const int64_t columns = node.in(weights).shape[2];
    const Tensor found = node.emit.slice(node.in(weights), {direction, gate * hidden, 0},
                                         {1, hidden, columns}, {1, 1, 1});
    return node.emit.transpose(node.emit.squeeze(found, {0}), {1, 0});
  }

  NodeBuilder &node;
  int64_t direction, hidden;
};

class QuantisedProducts final : public Products {
public:
  QuantisedProducts(NodeBuilder &node, int64_t direction)
      : node(node), direction(direction), hidden(Extents(node).hidden) {}

  std::vector<Tensor> of(const Tensor &x, Input weights, int64_t first,
                         int64_t last) const override {
    Emitter &emit = node.emit;
    const auto [integers, scale, zero] = dynamicallyQuantised(emit, x);
    const Tensor centredX = emit.pointwise(
        {integers, zero}, [](const Scalars &s, mlir::ValueRange v) { return s.sub(v[0], v[1]); });
    std::vector<Tensor> out;
    for (int64_t gate = first; gate < last; ++gate) {
      const size_t ownScale = weights == kW ? kWScale : kRScale;
      out.push_back(ofType(
          emit.pointwise(
              {emit.matmul(centredX, block(weights, gate)), perColumn(ownScale, gate), scale},
              [](const Scalars &s, mlir::ValueRange v) { return s.mul(s.mul(v[0], v[1]), v[2]); }),
          x.type));
    }
    return out;
  }

private:
  /// [columns, hidden]: the integers of the weights of a gate less their zero points.
  [[nodiscard]] Tensor block(Input weights, int64_t gate) const {
    const HostTensor &all = *node.in(weights).known;
    const Tensor zero = perColumn(weights == kW ? kWZero : kRZero, gate);
    const int64_t columns = all.shape[1], across = all.shape[2];
    HostTensor out{onnx::TensorProto::FLOAT, {columns, hidden}, {}, {}};
    for (int64_t i = 0; i < columns; ++i)
      for (int64_t k = 0; k < hidden; ++k) {
        const int64_t integer = all.ints[(direction * columns + i) * across + gate * hidden + k];
        out.floats.push_back(static_cast<float>(integer) -
                             zero.known->floats[broadcastIndex(zero.shape, {hidden}, k)]);
      }
    return Tensor::ofKnown(std::move(out), node.in(weights).name);
  }

  /// The part of a scale or a zero point that belongs to a gate: one number, or [hidden].
  [[nodiscard]] Tensor perColumn(size_t input, int64_t gate) const {
    const Tensor all = asFloats(node.in(input));
    if (all.rank() == 1)
      return node.emit.reshape(node.emit.slice(all, {direction}, {1}, {1}), {});
    return node.emit.reshape(node.emit.slice(all, {direction, gate * hidden}, {1, hidden}, {1, 1}),
                             {hidden});
  }

  NodeBuilder &node;
  int64_t direction, hidden;
};

} // namespace

std::unique_ptr<Products> floatProducts(NodeBuilder &node, int64_t direction) {
  return std::make_unique<FloatProducts>(node, direction);
}

std::unique_ptr<Products> quantisedProducts(NodeBuilder &node, int64_t direction) {
  return std::make_unique<QuantisedProducts>(node, direction);
}

} // namespace sluice::frontend::ops::recurrent
