// Dropout, which is nothing in inference, and a product with a random mask in training.
#include <fmt/format.h>

#include "compiler/frontend/onnx/ops/families.h"
#include "compiler/frontend/onnx/ops/random_numbers.h"

namespace sluice::frontend::ops {
namespace {

/// The mask of a Dropout that drops nothing; of the input's type up to opset 9.
Tensor keepsAll(const Shape &shape, int64_t opset) {
  const int64_t count = elementCount(shape, kMostFoldedElements);
  if (count < 0)
    throw NodeError{kNotSupported, fmt::format("the mask {} has more than {} elements",
                                               shapeText(shape), kMostFoldedElements)};
  if (opset < 10)
    return Tensor::ofKnown(HostTensor::ofFloats(shape, std::vector<float>(count, 1)));
  return Tensor::ofKnown({onnx::TensorProto::BOOL, shape, {}, std::vector<int64_t>(count, 1)});
}

void dropNothing(NodeBuilder &node) {
  node.result(node.in(0));
  if (node.wants(1))
    node.result(1, keepsAll(node.in(0).shape, node.opset()));
}

Operator dropout() {
  Operator entry;
  entry.name = "Dropout";
  entry.form = "no operation: in inference the result is the input";
  entry.inputs = {{"data"}};
  entry.outputs = {{"output"}, {"mask", Presence::Optional}};
  entry.attributes = {{"ratio", AttributeKind::Float, 0.5F}};
  entry.build = dropNothing;
  return entry;
}

bool isTraining(const NodeView &node) {
  if (!node.has(2) || node.in(2).known->size() == 0)
    return false;
  const HostTensor &mode = *node.in(2).known;
  return mode.isFloat() ? mode.floats.front() != 0 : mode.ints.front() != 0;
}

/// How much is dropped in training.
double ratioOf(const NodeView &node) {
  if (!node.has(1) || node.in(1).known->size() == 0)
    return 0.5;
  return node.in(1).known->floats.front();
}

void drop(NodeBuilder &node) {
  const Tensor &x = node.in(0);
  const double kept = 1 - ratioOf(node);
  Tensor isKept = withElementsOfItsType([&] {
    Tensor mask = randomNumbers(node, onnx::TensorProto::FLOAT, x.shape,
                                random::Distribution::Bernoulli, kept);
    mask.type = onnx::TensorProto::BOOL;
    return mask;
  }());
  node.result(node.emit.pointwise({x, asFloats(isKept)}, [&](const Scalars &s, mlir::ValueRange v) {
    return s.scale(s.mul(v[0], v[1]), static_cast<float>(1 / kept));
  }));
  node.result(1, isKept);
}

Operator dropoutWithMode() {
  Operator entry = dropout();
  entry.form =
      "no operation in inference; in training map: x * mask / (1 - ratio), mask drawn by the host";
  entry.attributes = {{"seed", AttributeKind::Int}};
  entry.inputs = {{"data"},
                  {"ratio", Types::Float, Presence::Optional},
                  {"training_mode", Types::Any, Presence::Optional, true}};
  entry.requirements = {{"input 'ratio' must be known at compile time in training mode",
                         [](const NodeView &node) -> std::string {
                           const bool known = !node.has(1) || node.in(1).known || !isTraining(node);
                           return known ? "" : "a run-time tensor";
                         }},
                        {"input 'ratio' must be in [0, 1) in training mode",
                         [](const NodeView &node) -> std::string {
                           if (!isTraining(node))
                             return "";
                           const double ratio = ratioOf(node);
                           return ratio >= 0 && ratio < 1 ? "" : fmt::format("{}", ratio);
                         },
                         kShapes},
                        boundedField([](const NodeView &node) {
                          return isTraining(node) ? node.in(0).shape : Shape{};
                        })};
  entry.build = [](NodeBuilder &node) {
    if (isTraining(node) && ratioOf(node) > 0)
      drop(node);
    else
      dropNothing(node);
  };
  return entry;
}

} // namespace

void addDropout(OperatorTable &table) {
  table.add({7, 10}, dropout());
  table.add({12, 13, 22}, dropoutWithMode());
}

} // namespace sluice::frontend::ops
