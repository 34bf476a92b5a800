// ai.onnx.ml: LinearRegressor and LinearClassifier, with the functions of their scores.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <span>

#include <fmt/format.h>

#include "compiler/dialect/sluice/attributes.h"
#include "compiler/frontend/onnx/model_graph.h"
#include "compiler/frontend/onnx/ops/families.h"
#include "compiler/frontend/onnx/ops/ml.h"
#include "compiler/frontend/onnx/ops/selecting.h"
#include "compiler/frontend/onnx/ops/softmax.h"

namespace sluice::frontend::ops {
namespace {

namespace arith = mlir::arith;
using Proto = onnx::TensorProto;
using P = arith::CmpFPredicate;

/// Scores closer to 0 than this do not count in SOFTMAX_ZERO.
constexpr float kNoScore = 1e-7F;

/// The polynomial with these coefficients, the highest power first.
mlir::Value polynomial(const Scalars &s, std::span<const float> coefficients, mlir::Value x) {
  mlir::Value sum = s.constant(coefficients.front());
  for (const float coefficient : coefficients.subspan(1))
    sum = s.add(s.mul(sum, x), s.constant(coefficient));
  return sum;
}

/// The inverse of the normal distribution's cumulative function, by Acklam's rational
/// approximations; infinite at 0 and 1, NaN outside.
mlir::Value probit(const Scalars &s, mlir::Value p) {
  constexpr std::array kCentre = {-3.969683028665376e+01F, 2.209460984245205e+02F,
                                  -2.759285104469687e+02F, 1.383577518672690e+02F,
                                  -3.066479806614716e+01F, 2.506628277459239e+00F};
  constexpr std::array kCentreBelow = {-5.447609879822406e+01F, 1.615858368580409e+02F,
                                       -1.556989798598866e+02F, 6.680131188771972e+01F,
                                       -1.328068155288572e+01F, 1.0F};
  constexpr std::array kTail = {-7.784894002430293e-03F, -3.223964580411365e-01F,
                                -2.400758277161838e+00F, -2.549732539343734e+00F,
                                4.374664141464968e+00F,  2.938163982698783e+00F};
  constexpr std::array kTailBelow = {7.784695709041462e-03F, 3.224671290700398e-01F,
                                     2.445134137142996e+00F, 3.754408661907416e+00F, 1.0F};
  constexpr float kTailFrom = 0.02425F;
  const auto test = [&](P predicate, float limit) {
    return s.make<arith::CmpFOp>(predicate, p, s.constant(limit));
  };
  const auto tail = [&](mlir::Value probability) {
    const mlir::Value q =
        s.make<mlir::math::SqrtOp>(s.scale(s.make<mlir::math::LogOp>(probability), -2));
    return s.div(polynomial(s, kTail, q), polynomial(s, kTailBelow, q));
  };
  const mlir::Value q = s.sub(p, s.constant(0.5F)), r = s.mul(q, q);
  const mlir::Value centre =
      s.div(s.mul(polynomial(s, kCentre, r), q), polynomial(s, kCentreBelow, r));
  const mlir::Value low = tail(p), high = s.scale(tail(s.sub(s.constant(1), p)), -1);
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  mlir::Value out = s.make<arith::SelectOp>(test(P::OLT, kTailFrom), low, centre);
  out = s.make<arith::SelectOp>(test(P::OGT, 1 - kTailFrom), high, out);
  out = s.make<arith::SelectOp>(test(P::OEQ, 0), s.constant(-kInfinity), out);
  return s.make<arith::SelectOp>(test(P::OEQ, 1), s.constant(kInfinity), out);
}

/// Softmax of the scores that are not 0; the others stay 0.
Tensor softmaxOfOthers(Emitter &emit, const Tensor &x, int64_t axis) {
  const Tensor peak = emit.reduce(ir::Monoid::Max, x, {axis}, true);
  const Tensor power = emit.pointwise({x, peak}, [](const Scalars &s, mlir::ValueRange v) {
    const mlir::Value counts =
        s.make<arith::CmpFOp>(P::OGT, s.magnitude(v[0]), s.constant(kNoScore));
    const mlir::Value exponential = s.make<mlir::math::ExpOp>(s.sub(v[0], v[1]));
    return s.make<arith::SelectOp>(counts, exponential, s.constant(0));
  });
  const Tensor sum = emit.reduce(ir::Monoid::Sum, power, {axis}, true);
  return emit.pointwise({power, sum}, [](const Scalars &s, mlir::ValueRange v) {
    return s.div(v[0], s.infinityForZero(v[1]));
  });
}

/// A function of the scores of each sample, by the name that models give it.
struct PostTransform {
  const char *name;
  Tensor (*of)(Emitter &emit, const Tensor &scores);
};
constexpr PostTransform kPostTransforms[] = {
    {"NONE", [](Emitter &, const Tensor &scores) { return scores; }},
    {"SOFTMAX",
     [](Emitter &emit, const Tensor &scores) { return softmax(emit, scores, {1}, false); }},
    {"LOGISTIC",
     [](Emitter &emit, const Tensor &scores) {
       return emit.pointwise({scores},
                             [](const Scalars &s, mlir::ValueRange v) { return s.sigmoid(v[0]); });
     }},
    {"SOFTMAX_ZERO",
     [](Emitter &emit, const Tensor &scores) { return softmaxOfOthers(emit, scores, 1); }},
    {"PROBIT", [](Emitter &emit, const Tensor &scores) {
       return emit.pointwise({scores},
                             [](const Scalars &s, mlir::ValueRange v) { return probit(s, v[0]); });
     }}};

const PostTransform *postTransform(const NodeView &node) {
  const auto &name = node.attribute<std::string>("post_transform");
  const auto *found = std::ranges::find_if(
      kPostTransforms, [&](const PostTransform &one) { return name == one.name; });
  return found == std::end(kPostTransforms) ? nullptr : found;
}

/// How many scores there are: rows of 'coefficients', one coefficient per feature each. 0 if the
/// coefficients are not whole rows.
int64_t scoresOf(const NodeView &node) {
  const int64_t features = node.in(0).shape.back();
  const auto count = static_cast<int64_t>(node.floats("coefficients").size());
  return features == 0 || count % features != 0 ? 0 : count / features;
}

/// [samples, scores]: x * coefficients^T + intercepts.
Tensor scores(NodeBuilder &node) {
  Tensor x = asFloats(node.in(0));
  x.type = Proto::FLOAT;
  if (x.rank() == 1)
    x = node.emit.unsqueeze(x, {0});
  const std::vector<float> &intercepts = node.floats("intercepts");
  const Tensor rows = Tensor::ofKnown(
      HostTensor::ofFloats({scoresOf(node), x.shape[1]}, node.floats("coefficients")));
  Tensor product = node.emit.matmul(x, node.emit.transpose(rows, {1, 0}));
  if (intercepts.empty())
    return product;
  return node.emit.pointwise(
      {product, Tensor::ofKnown(HostTensor::ofFloats({scoresOf(node)}, intercepts))},
      [](const Scalars &s, mlir::ValueRange v) { return s.add(v[0], v[1]); });
}

/// What LinearRegressor and LinearClassifier share.
Operator linear(const char *name, const char *form) {
  Operator entry;
  entry.domain = kMlDomain;
  entry.name = name;
  entry.form = form;
  entry.inputs = {{"X", Types::Numeric}};
  entry.attributes = {{"coefficients", AttributeKind::Floats, std::nullopt, true},
                      {"intercepts", AttributeKind::Floats, std::vector<float>()},
                      {"post_transform", AttributeKind::String, std::string("NONE")}};
  entry.requirements = {
      rowsOfFeatures(),
      {"attribute 'post_transform' must be NONE, SOFTMAX, LOGISTIC, SOFTMAX_ZERO or PROBIT",
       [](const NodeView &node) -> std::string {
         return postTransform(node) ? "" : inQuotes(node.attribute<std::string>("post_transform"));
       },
       kShapes},
      {"attribute 'coefficients' must have one element per feature and score, and 'intercepts', if "
       "given, one per score",
       [](const NodeView &node) -> std::string {
         const auto count = node.floats("coefficients").size();
         const auto intercepts = static_cast<int64_t>(node.floats("intercepts").size());
         const bool fits = scoresOf(node) > 0 && (intercepts == 0 || intercepts == scoresOf(node));
         return fits ? ""
                     : fmt::format("{} coefficients and {} intercepts for {}", count, intercepts,
                                   shapeText(node.in(0).shape));
       },
       kShapes}};
  return entry;
}

Operator regressor() {
  Operator entry = linear("LinearRegressor", "matmul, map: + intercepts, then 'post_transform'");
  entry.outputs = {{"Y"}};
  entry.attributes[0].required = false;
  entry.attributes[0].byDefault = std::vector<float>();
  entry.attributes.push_back({"targets", AttributeKind::Int, int64_t{1}});
  entry.requirements.push_back({"attribute 'targets' must be the number of scores",
                                [](const NodeView &node) -> std::string {
                                  const int64_t targets = node.integer("targets");
                                  return targets == scoresOf(node)
                                             ? ""
                                             : fmt::format("{} for {}", targets, scoresOf(node));
                                },
                                kShapes});
  entry.build = [](NodeBuilder &node) {
    node.result(postTransform(node)->of(node.emit, scores(node)));
  };
  return entry;
}

/// Labels as text; the accelerator has none.
bool areStrings(const NodeView &node) {
  return !node.attribute<std::vector<std::string>>("classlabels_strings").empty();
}

int64_t labelCount(const NodeView &node) {
  return static_cast<int64_t>(
      areStrings(node) ? node.attribute<std::vector<std::string>>("classlabels_strings").size()
                       : node.integers("classlabels_ints").size());
}

/// Integers from which the host finds a class.
constexpr const char *kNumberClasses =
    "number the classes when training (sklearn.preprocessing.LabelEncoder), or remove this output "
    "from the model and look the label up on the host";

void buildClassifier(NodeBuilder &node) {
  const Tensor all = scores(node);
  if (node.isUsed(0)) {
    const std::vector<int64_t> &labels = node.integers("classlabels_ints");
    const Tensor index = node.emit.reduce(ir::Monoid::ArgMax, all, {1}, false);
    Tensor label =
        lookedUp(node.emit, Tensor::ofKnown(HostTensor::ofInts({scoresOf(node)}, labels)), index);
    label.type = Proto::INT64;
    node.result(0, std::move(label));
  }
  if (node.isUsed(1))
    node.result(1, postTransform(node)->of(node.emit, all));
}

Operator classifier() {
  Operator entry = linear("LinearClassifier", "matmul, map: + intercepts, then reduce argmax and "
                                              "the label of it, and 'post_transform'");
  entry.outputs = {{"Y", Presence::Optional}, {"Z", Presence::Optional}};
  entry.attributes.push_back({"classlabels_ints", AttributeKind::Ints, std::vector<int64_t>()});
  entry.attributes.push_back(
      {"classlabels_strings", AttributeKind::Strings, std::vector<std::string>()});
  entry.attributes.push_back({"multi_class", AttributeKind::Int, int64_t{0}});
  entry.requirements.push_back(
      {"there must be at least 2 scores, and a label for each, in 'classlabels_ints' or "
       "'classlabels_strings'",
       [](const NodeView &node) -> std::string {
         const bool both = areStrings(node) && !node.integers("classlabels_ints").empty();
         const bool fits = !both && scoresOf(node) >= 2 && labelCount(node) == scoresOf(node);
         return fits ? ""
                     : fmt::format(
                           "{} scores with {} integers and {} strings", scoresOf(node),
                           node.integers("classlabels_ints").size(),
                           node.attribute<std::vector<std::string>>("classlabels_strings").size());
       },
       kNotSupported});
  entry.requirements.push_back({"output 'Y' must not be used if labels are strings",
                                [](const NodeView &node) -> std::string {
                                  return areStrings(node) && node.isUsed(0) ? "a use of it" : "";
                                },
                                kNotSupported, kNumberClasses});
  entry.requirements.push_back(
      {fmt::format("output 'Y' may be used if labels are exact in bf16, and at most {}",
                   kMostExact),
       [](const NodeView &node) -> std::string {
         if (!node.isUsed(0))
           return "";
         for (const int64_t label : node.integers("classlabels_ints"))
           if (!isExact(label))
             return fmt::format("label {}", label);
         return static_cast<double>(labelCount(node)) <= kMostExact
                    ? ""
                    : fmt::format("{} labels", labelCount(node));
       },
       kNotSupported, kNumberClasses});
  entry.build = buildClassifier;
  return entry;
}

} // namespace

void addMlLinear(OperatorTable &table) {
  table.add({1}, regressor());
  table.add({1}, classifier());
}

} // namespace sluice::frontend::ops
