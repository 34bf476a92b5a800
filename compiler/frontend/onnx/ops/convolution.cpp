// Conv.
#include "compiler/frontend/onnx/ops/convolution.h"

#include <algorithm>

#include <fmt/format.h>

#include "compiler/frontend/onnx/ops/common.h"
#include "compiler/frontend/onnx/ops/families.h"

namespace sluice::frontend::ops {
namespace {

/// Most elements of known weights that are written out over all groups.
constexpr int64_t kMaxDenseWeights = kMostFoldedElements;

/// Extents from `from` on.
Shape behind(const Shape &shape, size_t from) { return {shape.begin() + from, shape.end()}; }

Shape joined(Shape first, const Shape &more) {
  first.insert(first.end(), more.begin(), more.end());
  return first;
}

/// The axes of the weights along which there is no window.
Shape withoutWindow(const std::vector<WindowAxis> &windows) {
  Shape axes;
  for (size_t i = 0; i < windows.size(); ++i)
    if (windows[i].size == 1)
      axes.push_back(static_cast<int64_t>(i) + 2);
  return axes;
}

/// Weights [features, channels of one group, window...] of `groups` as those of one: 0 from one
/// group to another. What is 0 costs nothing later.
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

/// `view` [batch, (group,) channel, positions..., window...] times `factors` [(group,) feature,
/// channel, window...], summed over channel and window; [batch, (group,) feature, positions...].
Tensor contracted(Emitter &emit, const Tensor &view, const Tensor &factors, size_t spatial,
                  bool ofGroups) {
  const size_t batch = 0, group = 1, feature = ofGroups ? 2 : 1, channel = feature + 1 + spatial;
  const size_t loops = channel + factors.shape.size() - feature;
  std::vector<size_t> lhs = {batch}, rhs, result = {batch};
  if (ofGroups)
    for (std::vector<size_t> *axes : {&lhs, &rhs, &result})
      axes->push_back(group);
  lhs.push_back(channel);
  rhs.insert(rhs.end(), {feature, channel});
  result.push_back(feature);
  for (size_t position = feature + 1; position < channel; ++position) {
    lhs.push_back(position);
    result.push_back(position);
  }
  for (size_t element = channel + 1; element < loops; ++element) {
    lhs.push_back(element);
    rhs.push_back(element);
  }
  return emit.contract(loops, {lhs, rhs, result}, view, factors);
}

/// Every channel is a group, with weights that are computed: products of what a window sees,
/// summed over its elements. Nothing is summed over channels, so no unit of products helps.
Tensor depthwise(Emitter &emit, const Tensor &x, const Tensor &weights,
                 const std::vector<WindowAxis> &windows, int64_t channels) {
  const Tensor view = seen(emit, x, windows, 0);
  const Tensor factors = emit.squeeze(weights, withoutWindow(windows));
  const int64_t each = weights.shape[0] / channels;
  // [batch, channel, feature of it, positions..., window...] times [channel, feature, 1..., window]
  const Tensor of = each > 1 ? emit.unsqueeze(view, {2}) : view;
  Shape ones = each > 1 ? Shape{channels, each} : Shape{channels};
  ones.insert(ones.end(), windows.size(), 1);
  const Tensor products =
      emit.pointwise({of, emit.reshape(factors, joined(ones, behind(factors.shape, 2)))},
                     [](const Scalars &s, mlir::ValueRange v) { return s.mul(v[0], v[1]); });
  Shape summed;
  const size_t places = (each > 1 ? 3 : 2) + windows.size();
  for (size_t axis = places; axis < products.shape.size(); ++axis)
    summed.push_back(static_cast<int64_t>(axis));
  const Tensor sums =
      summed.empty() ? products : emit.reduce(ir::Monoid::Sum, products, summed, false);
  return each > 1
             ? emit.reshape(sums, joined({x.shape[0], weights.shape[0]}, behind(sums.shape, 3)))
             : sums;
}

/// A group of several channels is one of a batch of products, with weights that are computed.
Tensor grouped(Emitter &emit, const Tensor &x, const Tensor &weights,
               const std::vector<WindowAxis> &windows, int64_t groups) {
  const int64_t batch = x.shape[0], channels = weights.shape[1],
                features = weights.shape[0] / groups;
  const Tensor apart = emit.reshape(x, joined({batch * groups, channels}, behind(x.shape, 2)));
  Tensor view = seen(emit, apart, windows, 0);
  view = emit.reshape(view, joined({batch, groups, channels}, behind(view.shape, 2)));
  Tensor factors = emit.squeeze(weights, withoutWindow(windows));
  factors = emit.reshape(factors, joined({groups, features, channels}, behind(factors.shape, 2)));

  const Tensor y = contracted(emit, view, factors, windows.size(), true);
  return emit.reshape(y, joined({batch, weights.shape[0]}, behind(y.shape, 3)));
}

void buildConv(NodeBuilder &node) {
  const Tensor y = convolve(node.emit, node.in(0), node.in(1), windowAxes(node, kernelOf(node)),
                            node.integer("group"));
  node.result(node.has(2) ? biased(node.emit, y, node.in(2)) : y);
}

/// One element per feature.
Requirement biasFits(size_t bias, const ConvInputs &at) {
  return {fmt::format("input '{}' must have one element per output channel of '{}'", at.b, at.w),
          [bias, weights = at.weights](const NodeView &node) -> std::string {
            const Shape &shape = node.in(weights).shape;
            return !node.has(bias) || node.in(bias).shape == Shape{shape[0]}
                       ? ""
                       : fmt::format("{} for {}", shapeText(node.in(bias).shape), shapeText(shape));
          },
          kShapes};
}

} // namespace

Operator convolution(std::string name, std::string form) {
  Operator entry;
  entry.name = std::move(name);
  entry.form = std::move(form);
  entry.inputs = {{"X"}, {"W"}, {"B", Types::Float, Presence::Optional}};
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
  return {fmt::format("input '{}' must have the rank of '{}' and no extent 0", at.w, at.x),
          [at](const NodeView &node) -> std::string {
            const Shape &weights = node.in(at.weights).shape;
            const bool fits = weights.size() == node.in(0).shape.size() &&
                              std::find(weights.begin(), weights.end(), 0) == weights.end();
            return fits ? ""
                        : fmt::format("{} for {}", shapeText(weights), shapeText(node.in(0).shape));
          },
          kShapes};
}

Requirement kernelShapeFits(const ConvInputs &at) {
  return {fmt::format("attribute 'kernel_shape' must be the kernel of '{}'", at.w),
          [at](const NodeView &node) -> std::string {
            return !node.given("kernel_shape") ||
                           node.integers("kernel_shape") == kernelOf(node, at.weights)
                       ? ""
                       : fmt::format("{} for {}", shapeText(node.integers("kernel_shape")),
                                     shapeText(node.in(at.weights).shape));
          },
          kShapes};
}

Requirement weightsFitOverGroups(size_t weightsAt) {
  return {fmt::format("constant weights, expanded over all groups, must have at most {} elements",
                      kMaxDenseWeights),
          [weightsAt](const NodeView &node) -> std::string {
            Shape weights = node.in(weightsAt).shape;
            weights[1] *= node.in(weightsAt).known ? node.integer("group") : 1;
            return elementCount(weights, kMaxDenseWeights) >= 0 ? "" : shapeText(weights);
          }};
}

std::vector<Requirement> convolutionFits(const ConvInputs &at, bool hasAutoPad) {
  std::vector<Requirement> out = {
      hasSpatialAxes(at.x),
      weightsHaveRank(at),
      {fmt::format("'group' must divide the output channels of '{1}'; '{0}' must have 'group' "
                   "times its input channels",
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
       kShapes},
      kernelShapeFits(at),
      perSpatialAxis("strides"),
      perSpatialAxis("dilations")};
  if (at.bias)
    out.insert(out.begin() + 3, biasFits(*at.bias, at));
  for (Requirement &one :
       hasAutoPad ? padRequirements() : std::vector<Requirement>{padsPerSpatialAxis()})
    out.push_back(std::move(one));
  out.push_back(windowFits([at](const NodeView &node) { return kernelOf(node, at.weights); }));
  out.push_back(weightsFitOverGroups(at.weights));
  return out;
}

Tensor convolve(Emitter &emit, const Tensor &x, const Tensor &weights,
                const std::vector<WindowAxis> &windows, int64_t groups) {
  if (const auto exact = emit.integerFactors(x, weights, 0, static_cast<int64_t>(windows.size())))
    return emit.scaled(convolve(emit, exact->x, exact->weights, windows, groups), *exact);
  if (groups == 1 || weights.known) {
    const Tensor factors = emit.squeeze(acrossGroups(weights, groups), withoutWindow(windows));
    return contracted(emit, seen(emit, x, windows, 0), factors, windows.size(), false);
  }
  return weights.shape[1] == 1 ? depthwise(emit, x, weights, windows, groups)
                               : grouped(emit, x, weights, windows, groups);
}

Tensor biased(Emitter &emit, const Tensor &y, const Tensor &bias) {
  Shape shape(y.shape.size() - 1, 1);
  shape[0] = bias.shape[0];
  return emit.pointwise({y, emit.reshape(bias, shape)},
                        [](const Scalars &s, mlir::ValueRange x) { return s.add(x[0], x[1]); });
}

void addConvolution(OperatorTable &table) {
  Operator entry = convolution(
      "Conv", "window, then contract with the weights of all groups, then map: + B; with run-time "
              "weights a contract per group, and depthwise map: x * W, then reduce sum");
  entry.requirements = convolutionFits();
  entry.requirements.insert(entry.requirements.begin(), sameTypes());
  entry.build = buildConv;
  table.add({1, 11, 22}, entry);
}

} // namespace sluice::frontend::ops
