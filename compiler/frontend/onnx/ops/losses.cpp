// NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss with labels known at import.
#include <numeric>

#include <fmt/format.h>

#include "compiler/frontend/onnx/ops/common.h"
#include "compiler/frontend/onnx/ops/families.h"
#include "compiler/frontend/onnx/ops/selecting.h"
#include "compiler/frontend/onnx/ops/softmax.h"

namespace sluice::frontend::ops {
namespace {

constexpr size_t kLabels = 1, kWeights = 2;

const std::string &form(const NodeView &node) { return node.attribute<std::string>("reduction"); }

int64_t classes(const NodeView &node) { return node.in(0).shape[1]; }

bool isIgnored(const NodeView &node, int64_t label) {
  return node.given("ignore_index") && label == node.integer("ignore_index");
}

float weightOf(const NodeView &node, int64_t label) {
  if (isIgnored(node, label))
    return 0;
  return node.has(kWeights) ? node.in(kWeights).known->floats[label] : 1.0F;
}

/// The loss of every label from the logarithms of the probabilities, summed up as 'reduction'
/// says. Weights, and the sum of them that a mean divides by, are known.
Tensor lossOf(NodeBuilder &node, const Tensor &logarithms) {
  const std::vector<int64_t> &labels = node.knownInts(kLabels);
  const Shape &shape = node.in(kLabels).shape;
  const int64_t inner = extentProduct(shape, 1, shape.size()), count = classes(node);
  const Tensor chosen = mask(logarithms.shape, [&](int64_t flat) {
    const int64_t label = labels[flat / (inner * count) * inner + flat % inner];
    return (isIgnored(node, label) ? 0 : label) == flat / inner % count;
  });
  Tensor found = chosenAlong(node.emit, chosen, logarithms, 1);
  double total = 0;
  std::vector<float> weights;
  for (const int64_t label : labels) {
    weights.push_back(weightOf(node, label));
    total += weights.back();
  }
  const bool mean = form(node) == "mean";
  for (float &weight : weights)
    weight = static_cast<float>(-weight / (mean ? total : 1));
  found =
      node.emit.pointwise({found, Tensor::ofKnown(HostTensor::ofFloats(shape, std::move(weights)))},
                          [](const Scalars &s, mlir::ValueRange v) { return s.mul(v[0], v[1]); });
  if (form(node) == "none")
    return found;
  Shape all(shape.size());
  std::iota(all.begin(), all.end(), 0);
  return node.emit.reduce(ir::Monoid::Sum, found, all, false);
}

Operator loss(const char *name, const char *form, const char *input, const char *labels) {
  Operator entry;
  entry.name = name;
  entry.form = form;
  entry.inputs = {{input},
                  {labels, Types::Integer, Presence::Required, true},
                  {"weight", Types::Float, Presence::Optional, true}};
  entry.attributes = {{"ignore_index", AttributeKind::Int},
                      {"reduction", AttributeKind::String, std::string("mean")}};
  entry.requirements = {
      {"attribute 'reduction' must be 'none', 'mean' or 'sum'",
       [](const NodeView &node) -> std::string {
         const std::string &found = ops::form(node);
         return found == "none" || found == "mean" || found == "sum" ? "" : inQuotes(found);
       },
       kShapes},
      {fmt::format("input '{}' must have rank 2 or more; '{}' must have its shape without axis 1",
                   input, labels),
       [](const NodeView &node) -> std::string {
         Shape wanted = node.in(0).shape;
         if (wanted.size() >= 2)
           wanted.erase(wanted.begin() + 1);
         return node.in(0).rank() >= 2 && node.in(kLabels).shape == wanted
                    ? ""
                    : shapeText(node.in(0).shape) + " and " + shapeText(node.in(kLabels).shape);
       },
       kShapes},
      {fmt::format("every element of input '{}' must be in [0, classes-1], or 'ignore_index'",
                   labels),
       [](const NodeView &node) -> std::string {
         for (const int64_t label : node.knownInts(kLabels))
           if (!isIgnored(node, label) && (label < 0 || label >= classes(node)))
             return fmt::format("{} for {} classes", label, classes(node));
         return "";
       },
       kShapes},
      {fmt::format("input 'weight{}' must have one element per class",
                   std::string_view(input) == "scores" ? "s" : ""),
       [](const NodeView &node) -> std::string {
         return !node.has(kWeights) || node.in(kWeights).shape == Shape{classes(node)}
                    ? ""
                    : fmt::format("{} for {} classes", shapeText(node.in(kWeights).shape),
                                  classes(node));
       },
       kShapes},
      {"the weights of a mean must not add up to 0",
       [](const NodeView &node) -> std::string {
         double total = 0;
         for (const int64_t label : node.knownInts(kLabels))
           total += weightOf(node, label);
         return ops::form(node) != "mean" || total != 0 ? "" : "0";
       },
       kShapes}};
  return entry;
}

} // namespace

void addLosses(OperatorTable &table) {
  Operator likelihood =
      loss("NegativeLogLikelihoodLoss",
           "map: the label's element, reduce max, map: * -weight, reduce sum", "input", "target");
  likelihood.outputs = {{"loss"}};
  likelihood.build = [](NodeBuilder &node) { node.result(lossOf(node, node.in(0))); };
  table.add({12, 13, 22}, likelihood);
  Operator entropy =
      loss("SoftmaxCrossEntropyLoss", "log-softmax over axis 1, then as NegativeLogLikelihoodLoss",
           "scores", "labels");
  entropy.inputs[kWeights].name = "weights";
  entropy.outputs = {{"output"}, {"log_prob", Presence::Optional}};
  entropy.build = [](NodeBuilder &node) {
    const Tensor logarithms = softmax(node.emit, node.in(0), {1}, true);
    node.result(lossOf(node, logarithms));
    node.result(1, logarithms);
  };
  table.add({12, 13}, entropy);
}

} // namespace sluice::frontend::ops
