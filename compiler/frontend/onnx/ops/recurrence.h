// What a node of LSTM, GRU or RNN has, and what it requires.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/frontend/onnx/ops/common.h"
#include "compiler/frontend/onnx/ops/recurrent_activation.h"

namespace sluice::frontend::ops::recurrent {

/// The inputs, as ONNX numbers them.
enum Input : size_t { kX, kW, kR, kB, kLengths, kInitialH, kInitialC, kP };

/// The inputs that DynamicQuantizeLSTM has behind those of LSTM.
enum QuantisedInput : size_t { kWScale = 8, kWZero, kRScale, kRZero };

/// What the three operators differ in as far as shapes go.
struct Kind {
  const char *name;
  int64_t gates;
  std::vector<std::string> activations; ///< of one direction, by default
  bool isQuantised = false;             ///< its weights are bytes and transposed
};

/// The extents of a node that meets the requirements.
struct Extents {
  explicit Extents(const NodeView &node)
      : batchFirst(node.given("layout") && node.integer("layout") == 1),
        steps(node.in(kX).shape[batchFirst ? 1 : 0]), batch(node.in(kX).shape[batchFirst ? 0 : 1]),
        input(node.in(kX).shape[2]),
        directions(node.attribute<std::string>("direction") == "bidirectional" ? 2 : 1),
        hidden(node.in(kR).shape[node.has(kWScale) ? 1 : 2]) {}

  Shape state() const {
    return batchFirst ? Shape{batch, directions, hidden} : Shape{directions, batch, hidden};
  }

  bool batchFirst;
  int64_t steps, batch, input, directions, hidden;
};

/// The activations of all directions, or `found` instead.
std::optional<std::vector<RecurrentActivation>> activations(const NodeView &node, const Kind &kind,
                                                            std::string &found);

/// The products of tensors with the weights of one direction.
class Products {
public:
  virtual ~Products() = default;
  /// Those with the weights W or R of gates [first, last), each [..., hidden].
  virtual std::vector<Tensor> of(const Tensor &x, Input weights, int64_t first,
                                 int64_t last) const = 0;
};

/// Products of floats.
std::unique_ptr<Products> floatProducts(NodeBuilder &node, int64_t direction);
/// Products of integers: x is quantised by its own range.
std::unique_ptr<Products> quantisedProducts(NodeBuilder &node, int64_t direction);

/// "input 'W' is [directions, 4 * hidden, input]" (E0206), of an input that may be left out.
Requirement shaped(const char *name, size_t input, const std::string &form,
                   std::function<Shape(const Extents &)> shape);

/// What all three require. `kind` stays where it is.
std::vector<Requirement> requirements(const Kind &kind);

} // namespace sluice::frontend::ops::recurrent
