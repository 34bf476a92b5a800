// ai.onnx.ml: what comes before a model of scikit-learn. Scaler, Normalizer, Imputer, Binarizer,
// FeatureVectorizer, ArrayFeatureExtractor.
#include <cmath>

#include <fmt/format.h>

#include "compiler/dialect/sluice/attributes.h"
#include "compiler/frontend/onnx/model_graph.h"
#include "compiler/frontend/onnx/ops/families.h"
#include "compiler/frontend/onnx/ops/ml.h"
#include "compiler/frontend/onnx/ops/normalisation.h"
#include "compiler/frontend/onnx/ops/selecting.h"

namespace sluice::frontend::ops {
namespace {

namespace arith = mlir::arith;
using Proto = onnx::TensorProto;
using P = arith::CmpFPredicate;

Operator named(const char *name, const char *form) {
  Operator entry;
  entry.domain = kMlDomain;
  entry.name = name;
  entry.form = form;
  entry.inputs = {{"X", Types::Numeric}};
  entry.outputs = {{"Y"}};
  return entry;
}

/// Features of a tensor: the extent of its last axis, 1 of a scalar.
int64_t featuresOf(const Tensor &x) { return x.shape.empty() ? 1 : x.shape.back(); }

Tensor vectorOf(const std::vector<float> &values) {
  return Tensor::ofKnown(HostTensor::ofFloats({static_cast<int64_t>(values.size())}, values));
}

Tensor ofType(Tensor tensor, DataType type) {
  tensor.type = type;
  return tensor;
}

Operator scaler() {
  Operator entry = named("Scaler", "map: (x - offset) * scale");
  entry.attributes = {{"offset", AttributeKind::Floats, std::vector<float>()},
                      {"scale", AttributeKind::Floats, std::vector<float>()}};
  entry.requirements = {
      {"attributes 'offset' and 'scale' must have one element, or one per position of the last "
       "axis, each",
       [](const NodeView &node) -> std::string {
         const auto count = static_cast<int64_t>(node.floats("offset").size());
         const auto scales = static_cast<int64_t>(node.floats("scale").size());
         const bool fits = count == scales && (count == 1 || count == featuresOf(node.in(0)));
         return fits ? ""
                     : fmt::format("{} and {} for {}", count, scales, shapeText(node.in(0).shape));
       },
       kShapes}};
  entry.build = [](NodeBuilder &node) {
    const Tensor offset = vectorOf(node.floats("offset")), scale = vectorOf(node.floats("scale"));
    node.result(ofType(node.emit.pointwise({asFloats(node.in(0)), offset, scale},
                                           [](const Scalars &s, mlir::ValueRange v) {
                                             return s.mul(s.sub(v[0], v[1]), v[2]);
                                           }),
                       Proto::FLOAT));
  };
  return entry;
}

/// x / max(x), or x where the maximum is 0.
Tensor normalisedByMaximum(Emitter &emit, const Tensor &x, int64_t axis) {
  const Tensor peak = emit.reduce(ir::Monoid::Max, x, {axis}, true);
  return emit.pointwise({x, peak}, [](const Scalars &s, mlir::ValueRange v) {
    const mlir::Value none = s.make<arith::CmpFOp>(P::OEQ, v[1], s.constant(0));
    return s.div(v[0], s.make<arith::SelectOp>(none, s.constant(1), v[1]));
  });
}

Operator normalizer() {
  Operator entry = named("Normalizer", "reduce max of x, sum of |x| or sum of x^2, map: x / max, x "
                                       "/ sum or x / sqrt(sum); x where the divisor is 0");
  entry.attributes = {{"norm", AttributeKind::String, std::string("MAX")}};
  entry.requirements = {rowsOfFeatures(),
                        {"attribute 'norm' must be MAX, L1 or L2",
                         [](const NodeView &node) -> std::string {
                           const auto &norm = node.attribute<std::string>("norm");
                           return norm == "MAX" || norm == "L1" || norm == "L2" ? ""
                                                                                : inQuotes(norm);
                         },
                         kShapes}};
  entry.build = [](NodeBuilder &node) {
    const Tensor x = asFloats(node.in(0));
    const auto &norm = node.attribute<std::string>("norm");
    const int64_t axis = x.rank() - 1;
    node.result(ofType(norm == "MAX" ? normalisedByMaximum(node.emit, x, axis)
                                     : normalisedByLength(node.emit, x, axis, norm == "L2"),
                       Proto::FLOAT));
  };
  return entry;
}

/// The attributes of Imputer for the type of its input.
bool imputesFloats(const NodeView &node) { return isFloatType(node.in(0).type); }
const std::vector<int64_t> &imputedInts(const NodeView &node) {
  return node.integers("imputed_value_int64s");
}

int64_t imputedCount(const NodeView &node) {
  return static_cast<int64_t>(imputesFloats(node) ? node.floats("imputed_value_floats").size()
                                                  : imputedInts(node).size());
}

bool isBf16(float value) {
  return std::isnan(value) || roundToType(value, Proto::BFLOAT16) == value;
}

void buildImputer(NodeBuilder &node) {
  const bool isFloat = imputesFloats(node);
  const Tensor values =
      isFloat
          ? vectorOf(node.floats("imputed_value_floats"))
          : asFloats(Tensor::ofKnown(HostTensor::ofInts({imputedCount(node)}, imputedInts(node))));
  const float missing = isFloat ? node.real("replaced_value_float")
                                : static_cast<float>(node.integer("replaced_value_int64"));
  node.result(node.emit.pointwise({node.in(0), values}, [&](const Scalars &s, mlir::ValueRange v) {
    const mlir::Value test = std::isnan(missing)
                                 ? s.make<arith::CmpFOp>(P::UNO, v[0], v[0])
                                 : s.make<arith::CmpFOp>(P::OEQ, v[0], s.constant(missing));
    return s.make<arith::SelectOp>(test, v[1], v[0]);
  }));
}

/// Where all is known.
void evaluateImputer(NodeBuilder &node) {
  HostTensor out = *node.in(0).known;
  if (out.isFloat()) {
    buildImputer(node);
    return;
  }
  const auto count = imputedCount(node);
  for (int64_t i = 0; i < out.size(); ++i)
    if (out.ints[i] == node.integer("replaced_value_int64"))
      out.ints[i] = wrapToType(imputedInts(node)[i % count], out.type);
  node.result(Tensor::ofKnown(std::move(out)));
}

Operator imputer() {
  Operator entry = named("Imputer", "map: x == replaced ? imputed : x");
  entry.attributes = {
      {"imputed_value_floats", AttributeKind::Floats, std::vector<float>()},
      {"imputed_value_int64s", AttributeKind::Ints, std::vector<int64_t>()},
      {"replaced_value_float", AttributeKind::Float, 0.0F},
      {"replaced_value_int64", AttributeKind::Int, int64_t{0}},
  };
  entry.requirements = {
      {"the attribute 'imputed_value_floats', or 'imputed_value_int64s' for integers, must have "
       "one element, or one per position of the last axis",
       [](const NodeView &node) -> std::string {
         const int64_t count = imputedCount(node);
         return count == 1 || count == featuresOf(node.in(0))
                    ? ""
                    : fmt::format("{} for {} {}", count, dataTypeName(node.in(0).type),
                                  shapeText(node.in(0).shape));
       },
       kShapes},
      {"the replaced value, and imputed integers, must be exact in bf16, the format of inputs",
       [](const NodeView &node) -> std::string {
         if (node.in(0).known)
           return "";
         if (imputesFloats(node)) {
           const float missing = node.real("replaced_value_float");
           return isBf16(missing) ? "" : fmt::format("{}", missing);
         }
         std::vector<int64_t> values = imputedInts(node);
         values.push_back(node.integer("replaced_value_int64"));
         for (const int64_t value : values)
           if (!isExact(value))
             return fmt::format("{}", value);
         return "";
       },
       kNotSupported, "mark missing values with NaN or an integer up to 256"}};
  entry.integers = {IntegerRule::Kind::Selected, [](const NodeView &node) {
                      return joined(rangeOf(node.in(0)),
                                    rangeOf(Tensor::ofKnown(HostTensor::ofInts(
                                        {imputedCount(node)}, imputedInts(node)))));
                    }};
  entry.build = buildImputer;
  entry.evaluate = evaluateImputer;
  return entry;
}

Operator binarizer() {
  Operator entry = named("Binarizer", "map: x > threshold ? 1 : 0");
  entry.attributes = {{"threshold", AttributeKind::Float, 0.0F}};
  entry.build = [](NodeBuilder &node) {
    const float threshold = node.real("threshold");
    const DataType type = node.in(0).type;
    node.result(ofType(node.emit.pointwise({asFloats(node.in(0))},
                                           [threshold](const Scalars &s, mlir::ValueRange v) {
                                             const mlir::Value test = s.make<arith::CmpFOp>(
                                                 P::OGT, v[0], s.constant(threshold));
                                             return s.make<arith::SelectOp>(test, s.constant(1),
                                                                            s.constant(0));
                                           }),
                       type));
  };
  entry.integers = {IntegerRule::Kind::Selected,
                    [](const NodeView &) { return IntegerRange{0, 1}; }};
  return entry;
}

/// An input of FeatureVectorizer as [samples, features].
Shape rowsShape(const Tensor &x) { return x.rank() == 1 ? Shape{1, x.shape[0]} : x.shape; }

std::string vectorProblem(const NodeView &node) {
  const std::vector<int64_t> &sizes = node.integers("inputdimensions");
  bool fits = sizes.empty() || sizes.size() == node.inputCount();
  for (size_t i = 0; fits && i < node.inputCount(); ++i) {
    const Shape rows = rowsShape(node.in(i));
    fits = rows.size() == 2 && rows[0] == rowsShape(node.in(0))[0] &&
           (sizes.empty() || sizes[i] == rows[1]);
  }
  return fits ? "" : fmt::format("{} for {}", shapeText(sizes), inputShapes(node));
}

Operator featureVectorizer() {
  Operator entry = named("FeatureVectorizer", "concat along axis 1");
  entry.inputs[0].presence = Presence::Variadic;
  entry.attributes = {{"inputdimensions", AttributeKind::Ints, std::vector<int64_t>()}};
  entry.requirements = {sameTypes(),
                        {"inputs must be [samples, features] or [features], of equally many "
                         "samples, with the features that 'inputdimensions' has, if given",
                         vectorProblem, kShapes}};
  entry.build = [](NodeBuilder &node) {
    std::vector<Tensor> parts;
    for (size_t i = 0; i < node.inputCount(); ++i) {
      const Tensor part = asFloats(node.in(i));
      parts.push_back(part.rank() == 1 ? node.emit.unsqueeze(part, {0}) : part);
    }
    node.result(ofType(node.emit.concat(parts, 1), Proto::FLOAT));
  };
  return entry;
}

/// The shape of what ArrayFeatureExtractor takes by so many indices.
Shape extractedShape(const Tensor &x, int64_t count) {
  Shape shape = x.rank() == 1 ? Shape{1} : Shape(x.shape.begin(), x.shape.end() - 1);
  shape.push_back(count);
  return shape;
}

void buildExtractor(NodeBuilder &node) {
  const Tensor &x = node.in(0), &indices = node.in(1);
  const int64_t count = extentProduct(indices.shape, 0, indices.shape.size());
  const Shape shape = extractedShape(x, count);
  if (!indices.known) { // of a vector
    const Tensor row = node.emit.reshape(indices, {1, count});
    node.result(ofType(lookedUp(node.emit, x, row), x.type));
    return;
  }
  const std::vector<int64_t> &places = node.knownInts(1);
  const int64_t features = featuresOf(x);
  if (x.known)
    node.result(Tensor::ofKnown(x.known->select(
        shape, [&](int64_t flat) { return flat / count * features + places[flat % count]; })));
  else
    node.result(node.emit.reshape(gathered(node.emit, x, places, x.rank() - 1), shape));
}

Operator arrayFeatureExtractor() {
  Operator entry = named("ArrayFeatureExtractor",
                         "slices along the last axis, then concat; at run time map: position == "
                         "index ? x : 0, reduce sum");
  entry.inputs = {{"X", Types::Numeric}, {"Y", Types::Integer}};
  entry.outputs = {{"Z"}};
  entry.requirements = {
      {"input 'X' must have rank 1 or more, and 'Y' elements",
       [](const NodeView &node) -> std::string {
         const bool fits = node.in(0).rank() > 0 &&
                           elementCount(node.in(1).shape, kMostFoldedElements) > 0 &&
                           elementCount(node.in(0).shape, kMaxElements) > 0;
         return fits ? "" : inputShapes(node);
       },
       kShapes},
      {"the indices must be in [0, extent-1] of the last axis",
       [](const NodeView &node) -> std::string {
         if (node.in(1).known)
           for (const int64_t index : node.knownInts(1))
             if (index < 0 || index >= node.in(0).shape.back())
               return fmt::format("{} for extent {}", index, node.in(0).shape.back());
         return "";
       },
       kShapes},
      {fmt::format("the result must have at most {} elements", kMaxElements),
       [](const NodeView &node) -> std::string {
         const Shape &indices = node.in(1).shape;
         const Shape shape = extractedShape(node.in(0), extentProduct(indices, 0, indices.size()));
         const int64_t limit = node.in(0).known ? kMostFoldedElements : kMaxElements;
         return elementCount(shape, limit) > 0 ? "" : shapeText(shape);
       }},
      {fmt::format("if 'Y' is computed at run time, 'X' must be known at compile time, with rank 1 "
                   "and at most {} elements",
                   kMostExact),
       [](const NodeView &node) -> std::string {
         const Tensor &x = node.in(0);
         const bool fits = node.in(1).known || (x.known && x.rank() == 1 &&
                                                static_cast<double>(x.shape[0]) <= kMostExact);
         return fits ? ""
                     : fmt::format("{} {}", x.known ? "a constant" : "a run-time tensor",
                                   shapeText(x.shape));
       }},
      {"integers in 'X' must be exact in bf16 if 'Y' is computed at run time",
       [](const NodeView &node) -> std::string {
         if (!node.in(1).known)
           for (const int64_t value : node.in(0).known->ints)
             if (!isExact(value))
               return fmt::format("{}", value);
         return "";
       },
       kNotSupported, "number classes from 0 when training, or look them up on the host"}};
  entry.integers = {IntegerRule::Kind::Selected, [](const NodeView &node) {
                      const IntegerRange range = rangeOf(node.in(0));
                      return node.in(1).known ? range : joined(range, {0, 0});
                    }};
  entry.build = buildExtractor;
  return entry;
}

} // namespace

Requirement rowsOfFeatures() {
  return {"input 'X' must be [samples, features] or [features]",
          [](const NodeView &node) -> std::string {
            const int64_t rank = node.in(0).rank();
            return rank == 1 || rank == 2 ? "" : shapeText(node.in(0).shape);
          },
          kShapes};
}

void addMlFeatures(OperatorTable &table) {
  for (Operator (*entry)() :
       {scaler, normalizer, imputer, binarizer, featureVectorizer, arrayFeatureExtractor})
    table.add({1}, entry());
}

} // namespace sluice::frontend::ops
