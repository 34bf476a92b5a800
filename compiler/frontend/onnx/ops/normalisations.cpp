// Normalisations by statistics of the input itself: LayerNormalization,
// RMSNormalization, InstanceNormalization, GroupNormalization,
// MeanVarianceNormalization, LpNormalization.
#include <numeric>

#include <fmt/format.h>

#include "compiler/dialect/sluice/attributes.h"
#include "compiler/frontend/onnx/ops/common.h"
#include "compiler/frontend/onnx/ops/families.h"
#include "compiler/frontend/onnx/ops/normalisation.h"

namespace sluice::frontend::ops {
namespace {

mlir::Value product(const Scalars &s, mlir::ValueRange x) { return s.mul(x[0], x[1]); }
mlir::Value square(const Scalars &s, mlir::ValueRange x) { return s.mul(x[0], x[0]); }
mlir::Value difference(const Scalars &s, mlir::ValueRange x) { return s.sub(x[0], x[1]); }
/// x * by * scale, + bias where there is one.
Tensor scaled(Emitter &emit, const Tensor &x, const Tensor &by, const Tensor &scale,
              const std::optional<Tensor> &bias) {
  std::vector<Tensor> operands = {emit.pointwise({x, by}, product), scale};
  if (bias)
    operands.push_back(*bias);
  return emit.line(operands, [](const Scalars &s, mlir::ValueRange v) {
    const mlir::Value y = s.mul(v[0], v[1]);
    return v.size() == 3 ? s.add(y, v[2]) : y;
  });
}

/// 1 / sqrt(mean of x^2 + epsilon) over `axes`, which are kept.
Tensor inverseRms(Emitter &emit, const Tensor &x, const Shape &axes, float epsilon) {
  Tensor mean = emit.reduce(ir::Monoid::Mean, emit.pointwise({x}, square), axes, true);
  return emit.pointwise({mean}, [epsilon](const Scalars &s, mlir::ValueRange v) {
    return s.make<mlir::math::RsqrtOp>(s.add(v[0], s.constant(epsilon)));
  });
}

/// x - mean over `axes`, and 1 / sqrt(variance + epsilon).
struct Standard {
  Tensor mean, distance, inverse;
  Standard(Emitter &emit, const Tensor &x, const Shape &axes, float epsilon)
      : mean(emit.reduce(ir::Monoid::Mean, x, axes, true)),
        distance(emit.pointwise({x, mean}, difference)),
        inverse(inverseRms(emit, distance, axes, epsilon)) {}
};

/// The axes from `first` to the last.
Shape axesFrom(int64_t first, int64_t rank) {
  Shape axes(rank - first);
  std::iota(axes.begin(), axes.end(), first);
  return axes;
}

/// One value per channel of a tensor of `rank` whose axis 1 has the channels.
Tensor perChannel(Emitter &emit, const Tensor &values, int64_t rank) {
  Shape shape(rank - 1, 1);
  shape[0] = values.shape[0];
  return emit.reshape(values, shape);
}

void buildLayer(NodeBuilder &node) {
  const Tensor &x = node.in(0);
  const Shape axes = axesFrom(node.axis(node.integer("axis"), x.rank()), x.rank());
  std::optional<Tensor> bias;
  if (node.has(2))
    bias = node.in(2);
  Normalised by = normalised(node.emit, x, axes, node.real("epsilon"), node.in(1), bias);
  node.result(std::move(by.y));
  by.mean.type = by.inverse.type = onnx::TensorProto::FLOAT; // stash_type
  node.result(1, by.mean);
  node.result(2, by.inverse);
}

/// What LayerNormalization and RMSNormalization share.
Operator overLastAxes(const char *name, const char *form, const char *broadcasting) {
  Operator entry;
  entry.name = name;
  entry.form = form;
  entry.outputs = {{"Y"}};
  entry.attributes = {{"axis", AttributeKind::Int, int64_t{-1}},
                      {"epsilon", AttributeKind::Float, 1e-5F},
                      {"stash_type", AttributeKind::Int, int64_t{1}, false, {1}}};
  entry.requirements = {sameTypes(), axisInRange("X"), broadcastsTo("X", broadcasting)};
  return entry;
}

Operator layerNormalization() {
  Operator entry = overLastAxes("LayerNormalization",
                                "reduce mean, map (x - mean)^2, reduce mean, map (x - mean) * "
                                "rsqrt(var + epsilon) * scale + bias",
                                "inputs 'Scale' and 'B' must broadcast");
  entry.inputs = {{"X"}, {"Scale"}, {"B", Types::Float, Presence::Optional}};
  entry.outputs = {{"Y"}, {"Mean", Presence::Optional}, {"InvStdDev", Presence::Optional}};
  entry.build = buildLayer;
  return entry;
}

Operator rmsNormalization() {
  Operator entry = overLastAxes("RMSNormalization",
                                "map x^2, reduce mean, map x * rsqrt(mean + epsilon) * scale",
                                "input 'scale' must broadcast");
  entry.inputs = {{"X"}, {"scale"}};
  entry.build = [](NodeBuilder &node) {
    const Tensor &x = node.in(0);
    const Shape axes = axesFrom(node.axis(node.integer("axis"), x.rank()), x.rank());
    node.result(normalisedByRms(node.emit, x, axes, node.real("epsilon"), node.in(1)).y);
  };
  return entry;
}

const char *const kStandardise =
    "reduce mean, map (x - mean)^2, reduce mean, map (x - mean) * rsqrt(var + epsilon)";

Operator meanVarianceNormalization() {
  Operator entry;
  entry.name = "MeanVarianceNormalization";
  entry.form = kStandardise;
  entry.inputs = {{"X"}};
  entry.outputs = {{"Y"}};
  entry.attributes = {{"axes", AttributeKind::Ints, std::vector<int64_t>{0, 2, 3}}};
  entry.requirements = {
      {"attribute 'axes' must be distinct axes of 'X'",
       [](const NodeView &node) { return axesProblem(node.integers("axes"), node.in(0).rank()); },
       kShapes}};
  entry.build = [](NodeBuilder &node) {
    const Tensor &x = node.in(0);
    const Shape axes = sortedAxes(node.integers("axes"), x.rank());
    const Tensor mean = node.emit.reduce(ir::Monoid::Mean, x, axes, true),
                 distance = node.emit.pointwise({x, mean}, difference),
                 squares = node.emit.reduce(ir::Monoid::Mean,
                                            node.emit.pointwise({distance}, square), axes, true);
    // The definition adds 1e-9 to the deviation; its square keeps 0 / 0 away as well. Equal
    // elements are off their mean by what fp32 rounds, 2^-24 of it, which must not count.
    const Tensor inverse =
        node.emit.pointwise({squares, mean}, [](const Scalars &s, mlir::ValueRange v) {
          const mlir::Value rounding = s.mul(v[1], s.constant(0x1p-16F));
          return s.make<mlir::math::RsqrtOp>(
              s.add(s.add(v[0], s.mul(rounding, rounding)), s.constant(1e-18F)));
        });
    node.result(node.emit.pointwise({distance, inverse}, product));
  };
  return entry;
}

Operator lpNormalization() {
  Operator entry;
  entry.name = "LpNormalization";
  entry.form = "map |x| or x^2, reduce sum, map x / sum or x / sqrt(sum), or 0 if the sum is 0";
  entry.inputs = {{"input"}};
  entry.outputs = {{"output"}};
  entry.attributes = {{"axis", AttributeKind::Int, int64_t{-1}},
                      {"p", AttributeKind::Int, int64_t{2}, false, {1, 2}}};
  entry.requirements = {axisInRange("input")};
  entry.build = [](NodeBuilder &node) {
    const Tensor &x = node.in(0);
    node.result(normalisedByLength(node.emit, x, node.axis(node.integer("axis"), x.rank()),
                                   node.integer("p") == 2));
  };
  return entry;
}

/// Requires `input` and its companions 1 and 2 to have `count` elements each.
Requirement perChannelInputs(const char *sentence, int64_t rank,
                             std::function<int64_t(const NodeView &)> count) {
  return {sentence,
          [rank, count = std::move(count)](const NodeView &node) -> std::string {
            const bool fits = node.in(0).rank() >= rank && node.in(1).shape == Shape{count(node)} &&
                              node.in(2).shape == Shape{count(node)};
            return fits ? "" : inputShapes(node);
          },
          kShapes};
}

int64_t channels(const NodeView &node) { return node.in(0).shape[1]; }

Operator instanceNormalization() {
  Operator entry;
  entry.name = "InstanceNormalization";
  entry.form = std::string(kStandardise) + " * scale + bias, per channel";
  entry.inputs = {{"input"}, {"scale"}, {"B"}};
  entry.outputs = {{"output"}};
  entry.attributes = {{"epsilon", AttributeKind::Float, 1e-5F}};
  entry.requirements = {
      sameTypes(),
      perChannelInputs(
          "input 'input' must have rank 3 or more, the others one element per channel (axis 1)", 3,
          channels)};
  entry.build = [](NodeBuilder &node) {
    const Tensor &x = node.in(0);
    const Standard by(node.emit, x, axesFrom(2, x.rank()), node.real("epsilon"));
    node.result(scaled(node.emit, by.distance, by.inverse,
                       perChannel(node.emit, node.in(1), x.rank()),
                       perChannel(node.emit, node.in(2), x.rank())));
  };
  return entry;
}

/// Up to opset 20 scale and bias are of groups, then of channels. Each group is one axis, as in the
/// spelling by InstanceNormalization.
void buildGroup(NodeBuilder &node, bool ofGroups) {
  const Tensor &x = node.in(0);
  const int64_t groups = node.integer("num_groups"), each = channels(node) / groups;
  const Tensor grouped = node.emit.reshape(
      x, {x.shape[0], groups, elementCount(x.shape, kMaxElements) / (x.shape[0] * groups)});
  const Standard by(node.emit, grouped, {2}, node.real("epsilon"));
  const Tensor normal =
      node.emit.reshape(node.emit.pointwise({by.distance, by.inverse}, product), x.shape);
  const auto spread = [&](const Tensor &values) {
    if (!ofGroups)
      return perChannel(node.emit, values, x.rank());
    const Tensor repeated =
        node.emit.broadcast(node.emit.reshape(values, {groups, 1}), {groups, each});
    return perChannel(node.emit, node.emit.reshape(repeated, {groups * each}), x.rank());
  };
  node.result(node.emit.line(
      {normal, spread(node.in(1)), spread(node.in(2))},
      [](const Scalars &s, mlir::ValueRange v) { return s.add(s.mul(v[0], v[1]), v[2]); }));
}

Operator groupNormalization(bool ofGroups) {
  Operator entry;
  entry.name = "GroupNormalization";
  entry.form = std::string(kStandardise) + " * scale + bias, per group of channels";
  entry.inputs = {{"X"}, {"scale"}, {"bias"}};
  entry.outputs = {{"Y"}};
  entry.attributes = {{"num_groups", AttributeKind::Int, std::nullopt, true},
                      {"epsilon", AttributeKind::Float, 1e-5F}};
  if (!ofGroups)
    entry.attributes.push_back({"stash_type", AttributeKind::Int, int64_t{1}, false, {1}});
  entry.requirements = {
      sameTypes(),
      perChannelInputs(
          ofGroups
              ? "input 'X' must have rank 2 or more, the others one element per group"
              : "input 'X' must have rank 2 or more, the others one element per channel (axis 1)",
          2,
          [ofGroups](const NodeView &node) {
            return ofGroups ? node.integer("num_groups") : channels(node);
          }),
      {"attribute 'num_groups' must divide the channels (axis 1)",
       [](const NodeView &node) -> std::string {
         const int64_t groups = node.integer("num_groups");
         return groups > 0 && channels(node) % groups == 0
                    ? ""
                    : fmt::format("{} for {} channels", groups, channels(node));
       },
       kShapes}};
  entry.build = [ofGroups](NodeBuilder &node) { buildGroup(node, ofGroups); };
  return entry;
}

} // namespace

Normalised normalised(Emitter &emit, const Tensor &x, const Shape &axes, float epsilon,
                      const Tensor &scale, const std::optional<Tensor> &bias) {
  Standard by(emit, x, axes, epsilon);
  Tensor y = scaled(emit, by.distance, by.inverse, scale, bias);
  return {std::move(y), std::move(by.mean), std::move(by.inverse)};
}

Normalised normalisedByRms(Emitter &emit, const Tensor &x, const Shape &axes, float epsilon,
                           const Tensor &scale) {
  Tensor inverse = inverseRms(emit, x, axes, epsilon);
  return {scaled(emit, x, inverse, scale, std::nullopt), {}, inverse};
}

Tensor normalisedByLength(Emitter &emit, const Tensor &x, int64_t axis, bool euclidean) {
  const Tensor size = emit.pointwise({x}, [&](const Scalars &s, mlir::ValueRange v) {
    return euclidean ? square(s, v) : s.make<mlir::math::AbsFOp>(v[0]);
  });
  const Tensor sum = emit.reduce(ir::Monoid::Sum, size, {axis}, true);
  return emit.pointwise({x, sum}, [&](const Scalars &s, mlir::ValueRange v) {
    return s.div(v[0], s.infinityForZero(euclidean ? s.make<mlir::math::SqrtOp>(v[1]) : v[1]));
  });
}

void addNormalisations(OperatorTable &table) {
  table.add({17}, layerNormalization());
  table.add({23}, rmsNormalization());
  table.add({6, 22}, instanceNormalization());
  table.add({18}, groupNormalization(true));
  table.add({21}, groupNormalization(false));
  table.add({9, 13}, meanVarianceNormalization());
  table.add({1, 22}, lpNormalization());
}

} // namespace sluice::frontend::ops
