// BatchNormalization with known statistics.
#include <cmath>

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
  node.result(node.emit.pointwise(
      {node.in(0), Tensor::ofKnown(HostTensor::ofFloats(shape, factor)),
       Tensor::ofKnown(HostTensor::ofFloats(shape, offset))},
      [](const Scalars &s, mlir::ValueRange x) { return s.add(s.mul(x[0], x[1]), x[2]); }));
}

Operator batchNormalization(bool hasTrainingMode) {
  Operator entry;
  entry.name = "BatchNormalization";
  entry.form = "map: x * factor + offset per channel, both folded at import";
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
  if (hasTrainingMode)
    entry.attributes.push_back({"training_mode", AttributeKind::Int, int64_t{0}, false, {0}});
  entry.requirements = {
      {"input 'X' has rank 2 or more, and the others one element per channel (axis 1)",
       [](const NodeView &node) -> std::string {
         bool fits = node.in(0).rank() >= 2;
         for (size_t i = 1; i < 5; ++i)
           fits = fits && node.in(i).shape == Shape{node.in(0).shape[1]};
         return fits ? "" : inputShapes(node);
       },
       "E0206"}};
  entry.build = buildBatch;
  return entry;
}

} // namespace

void addBatchNormalisation(OperatorTable &table) {
  Operator old = batchNormalization(false);
  Operator first = old;
  first.attributes.push_back({"spatial", AttributeKind::Int, int64_t{1}, false, {1}});
  table.add({7}, first);
  table.add({9}, old);
  table.add({14, 15}, batchNormalization(true));
}

} // namespace sluice::frontend::ops
