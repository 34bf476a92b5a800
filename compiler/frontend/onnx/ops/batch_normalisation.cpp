// BatchNormalization with known statistics; as in training, with those of the batch.
#include <cmath>

#include "compiler/dialect/sluice/attributes.h"
#include "compiler/frontend/onnx/ops/common.h"
#include "compiler/frontend/onnx/ops/families.h"

namespace sluice::frontend::ops {
namespace {

/// x * factor + offset per channel: both are known at import.
void buildBatch(NodeBuilder &node) {
  const auto values = [&](size_t input) -> const std::vector<float> & {
    return node.in(input).known->floats;
  };
  const std::vector<float> &scale = values(1), &bias = values(2), &mean = values(3),
                           &variance = values(4);
  std::vector<float> factor, offset;
  for (size_t c = 0; c < scale.size(); ++c) {
    double by = scale[c] / std::sqrt(double{variance[c]} + node.real("epsilon"));
    factor.push_back(static_cast<float>(by));
    offset.push_back(static_cast<float>(bias[c] - mean[c] * by));
  }
  Shape shape(std::max<int64_t>(node.in(0).rank() - 1, 1), 1);
  shape[0] = static_cast<int64_t>(scale.size());
  node.result(node.emit.line(
      {node.in(0), Tensor::ofKnown(HostTensor::ofFloats(shape, factor)),
       Tensor::ofKnown(HostTensor::ofFloats(shape, offset))},
      [](const Scalars &s, mlir::ValueRange x) { return s.add(s.mul(x[0], x[1]), x[2]); }));
}

bool isTraining(const NodeView &node) {
  return node.given("training_mode") && node.integer("training_mode") != 0;
}

/// By the mean and variance of the batch; the running ones move towards them.
void buildTraining(NodeBuilder &node) {
  const Tensor &x = node.in(0);
  Shape axes = {0};
  for (int64_t axis = 2; axis < x.rank(); ++axis)
    axes.push_back(axis);
  const auto ofChannels = [&](const Tensor &values) {
    Shape shape(x.rank() - 1, 1);
    shape[0] = x.shape[1];
    return node.emit.reshape(values, shape);
  };
  const Tensor mean = node.emit.reduce(ir::Monoid::Mean, x, axes, true);
  const Tensor distance = node.emit.pointwise(
      {x, mean}, [](const Scalars &s, mlir::ValueRange v) { return s.sub(v[0], v[1]); });
  const Tensor square = node.emit.pointwise(
      {distance}, [](const Scalars &s, mlir::ValueRange v) { return s.mul(v[0], v[0]); });
  const Tensor variance = node.emit.reduce(ir::Monoid::Mean, square, axes, true);
  const float epsilon = node.real("epsilon"), momentum = node.real("momentum");
  node.result(
      0, node.emit.pointwise({distance, variance, ofChannels(node.in(1)), ofChannels(node.in(2))},
                             [epsilon](const Scalars &s, mlir::ValueRange v) {
                               const mlir::Value inverse =
                                   s.make<mlir::math::RsqrtOp>(s.add(v[1], s.constant(epsilon)));
                               return s.add(s.mul(s.mul(v[0], inverse), v[2]), v[3]);
                             }));
  const auto moved = [&](const Tensor &running, const Tensor &ofBatch) {
    return node.emit.pointwise({running, node.emit.reshape(ofBatch, {x.shape[1]})},
                               [momentum](const Scalars &s, mlir::ValueRange v) {
                                 return s.add(s.scale(v[0], momentum), s.scale(v[1], 1 - momentum));
                               });
  };
  if (node.wants(1))
    node.result(1, moved(node.in(3), mean));
  if (node.wants(2))
    node.result(2, moved(node.in(4), variance));
}

/// From opset 14 on the statistics of the batch can be asked for.
Operator batchNormalizationInTraining(Operator entry) {
  entry.form += "; in training mode reduce mean and variance, map";
  entry.inputs[3].name = "input_mean";
  entry.inputs[4].name = "input_var";
  entry.outputs = {
      {"Y"}, {"running_mean", Presence::Optional}, {"running_var", Presence::Optional}};
  entry.attributes.push_back({"training_mode", AttributeKind::Int, int64_t{0}, false, {0, 1}});
  entry.requirements.push_back(
      {"outputs 'running_mean' and 'running_var' must be used in training mode only",
       [](const NodeView &node) -> std::string {
         return isTraining(node) || !(node.wants(1) || node.wants(2)) ? "" : "'training_mode' 0";
       },
       kShapes});
  entry.build = [](NodeBuilder &node) {
    if (isTraining(node))
      buildTraining(node);
    else
      buildBatch(node);
  };
  return entry;
}

Operator batchNormalization() {
  Operator entry;
  entry.name = "BatchNormalization";
  entry.form = "map: x * factor + offset per channel, both computed at compile time";
  entry.inputs = {{"X"},
                  {"scale", Types::Float, Presence::Required, true},
                  {"B", Types::Float, Presence::Required, true},
                  {"mean", Types::Float, Presence::Required, true},
                  {"var", Types::Float, Presence::Required, true}};
  entry.outputs = {{"Y"},
                   {"mean", Presence::Refused},
                   {"var", Presence::Refused},
                   {"saved_mean", Presence::Refused},
                   {"saved_var", Presence::Refused}};
  entry.attributes = {{"epsilon", AttributeKind::Float, 1e-5F},
                      {"momentum", AttributeKind::Float, 0.9F}};
  entry.requirements = {
      {"input 'X' must have rank 2 or more, the others one element per channel (axis 1)",
       [](const NodeView &node) -> std::string {
         bool fits = node.in(0).rank() >= 2;
         for (size_t i = 1; i < 5; ++i)
           fits = fits && node.in(i).shape == Shape{node.in(0).shape[1]};
         return fits ? "" : inputShapes(node);
       },
       kShapes}};
  entry.build = buildBatch;
  return entry;
}

} // namespace

void addBatchNormalisation(OperatorTable &table) {
  const Operator old = batchNormalization();
  Operator first = old;
  first.attributes.push_back({"spatial", AttributeKind::Int, int64_t{1}, false, {1}});
  table.add({7}, first);
  table.add({9}, old);
  table.add({14, 15}, batchNormalizationInTraining(old));
}

} // namespace sluice::frontend::ops
