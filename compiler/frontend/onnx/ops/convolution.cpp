// Conv.
#include "compiler/frontend/onnx/ops/convolution.h"

#include <algorithm>

#include <fmt/format.h>

#include "compiler/frontend/onnx/ops/common.h"
#include "compiler/frontend/onnx/ops/families.h"

namespace sluice::frontend::ops {
namespace {

/// Most elements of weights that are written out over all groups.
constexpr int64_t kMaxDenseWeights = int64_t{1} << 26;

void buildConv(NodeBuilder &node) {
  const Tensor weights = acrossGroups(node.in(1), node.integer("group"));
  const Tensor y = convolve(node.emit, node.in(0), weights, windowAxes(node, kernelOf(node)));
  node.result(node.has(2) ? biased(node.emit, y, node.in(2)) : y);
}

/// One element per feature.
Requirement biasFits(size_t bias, const ConvInputs &at) {
  return {fmt::format("input '{}' has one element per feature of '{}'", at.b, at.w),
          [bias, weights = at.weights](const NodeView &node) -> std::string {
            const Shape &shape = node.in(weights).shape;
            return !node.has(bias) || node.in(bias).shape == Shape{shape[0]}
                       ? ""
                       : fmt::format("{} for {}", shapeText(node.in(bias).shape), shapeText(shape));
          },
          "E0206"};
}

} // namespace

Operator convolution(std::string name, std::string form) {
  Operator entry;
  entry.name = std::move(name);
  entry.form = std::move(form);
  entry.inputs = {{"X"},
                  {"W", Types::Float, Presence::Required, true},
                  {"B", Types::Float, Presence::Optional, true}};
  entry.outputs = {{"Y"}};
  entry.attributes = windowAttributes();
  entry.attributes.push_back({"group", AttributeKind::Int, int64_t{1}});
  return entry;
}

Shape kernelOf(const NodeView &node, size_t weightsAt) {
  const Shape &weights = node.in(weightsAt).shape;
  return {weights.begin() + 2, weights.end()};
}

Requirement weightsHaveRank(const ConvInputs &at) {
  return {fmt::format("input '{}' has the rank of '{}' and no extent of 0", at.w, at.x),
          [at](const NodeView &node) -> std::string {
            const Shape &weights = node.in(at.weights).shape;
            const bool fits = weights.size() == node.in(0).shape.size() &&
                              std::find(weights.begin(), weights.end(), 0) == weights.end();
            return fits ? ""
                        : fmt::format("{} for {}", shapeText(weights), shapeText(node.in(0).shape));
          },
          "E0206"};
}

Requirement kernelShapeFits(const ConvInputs &at) {
  return {fmt::format("attribute 'kernel_shape' is that of '{}'", at.w),
          [at](const NodeView &node) -> std::string {
            return !node.given("kernel_shape") ||
                           node.integers("kernel_shape") == kernelOf(node, at.weights)
                       ? ""
                       : fmt::format("{} for {}", shapeText(node.integers("kernel_shape")),
                                     shapeText(node.in(at.weights).shape));
          },
          "E0206"};
}

Requirement weightsFitOverGroups(size_t weightsAt) {
  return {fmt::format("the weights written out over all groups have at most {} elements",
                      kMaxDenseWeights),
          [weightsAt](const NodeView &node) -> std::string {
            Shape weights = node.in(weightsAt).shape;
            weights[1] *= node.integer("group");
            return elementCount(weights, kMaxDenseWeights) >= 0 ? "" : shapeText(weights);
          }};
}

std::vector<Requirement> convolutionFits(const ConvInputs &at) {
  std::vector<Requirement> out = {
      hasSpatialAxes(at.x),
      weightsHaveRank(at),
      {fmt::format("attribute 'group' divides the features of '{1}', and '{0}' has as many "
                   "channels as '{1}' times 'group'",
                   at.x, at.w),
       [at](const NodeView &node) -> std::string {
         const int64_t group = node.integer("group"), channels = node.in(0).shape[1];
         const Shape &weights = node.in(at.weights).shape;
         const bool fits = group >= 1 && weights[0] % group == 0 && channels % group == 0 &&
                           channels / group == weights[1];
         return fits ? ""
                     : fmt::format("group {}, {} of '{}' and {} of '{}'", group,
                                   shapeText(node.in(0).shape), at.x, shapeText(weights), at.w);
       },
       "E0206"},
      kernelShapeFits(at),
      perSpatialAxis("strides"),
      perSpatialAxis("dilations")};
  if (at.bias)
    out.insert(out.begin() + 3, biasFits(*at.bias, at));
  for (Requirement &one : padRequirements())
    out.push_back(std::move(one));
  out.push_back(windowFits([at](const NodeView &node) { return kernelOf(node, at.weights); }));
  out.push_back(weightsFitOverGroups(at.weights));
  return out;
}

Tensor convolve(Emitter &emit, const Tensor &x, const Tensor &weights,
                const std::vector<WindowAxis> &windows) {
  const Tensor view = seen(emit, x, windows, 0);
  Shape single; // axes of the weights without a window
  for (size_t i = 0; i < windows.size(); ++i)
    if (windows[i].size == 1)
      single.push_back(static_cast<int64_t>(i) + 2);
  const Tensor factors = emit.squeeze(weights, single);

  // The loops: batch, feature, positions, then channel and window, which are summed over.
  const size_t batch = 0, feature = 1, channel = 2 + windows.size();
  const size_t loops = channel + 1 + factors.shape.size() - 2;
  std::vector<size_t> lhs = {batch, channel}, rhs = {feature, channel}, result = {batch, feature};
  for (size_t i = 0; i < windows.size(); ++i) {
    lhs.push_back(2 + i);
    result.push_back(2 + i);
  }
  for (size_t loop = channel + 1; loop < loops; ++loop) {
    lhs.push_back(loop);
    rhs.push_back(loop);
  }
  return emit.contract(loops, {lhs, rhs, result}, view, factors);
}

Tensor acrossGroups(const Tensor &weights, int64_t groups) {
  if (groups == 1)
    return weights;
  const Shape &from = weights.shape;
  Shape shape = from;
  shape[1] *= groups;
  const int64_t taps = extentProduct(from, 2, from.size());
  const int64_t run = from[1] * taps; // of a feature
  HostTensor out{weights.type, shape, std::vector<float>(run * groups * from[0], 0.0F), {}};
  for (int64_t feature = 0; feature < from[0]; ++feature) {
    const int64_t group = feature / (from[0] / groups);
    std::copy_n(weights.known->floats.begin() + feature * run, run,
                out.floats.begin() + (feature * groups + group) * run);
  }
  return Tensor::ofKnown(std::move(out), weights.name);
}

Tensor biased(Emitter &emit, const Tensor &y, const Tensor &bias) {
  Shape shape(y.shape.size() - 1, 1);
  shape[0] = bias.shape[0];
  return emit.pointwise({y, emit.reshape(bias, shape)},
                        [](const Scalars &s, mlir::ValueRange x) { return s.add(x[0], x[1]); });
}

void addConvolution(OperatorTable &table) {
  Operator entry =
      convolution("Conv", "window, then contract with the weights of all groups, then map: + B");
  entry.requirements = convolutionFits();
  entry.requirements.insert(entry.requirements.begin(), sameTypes());
  entry.build = buildConv;
  table.add({1, 11, 22}, entry);
}

} // namespace sluice::frontend::ops
