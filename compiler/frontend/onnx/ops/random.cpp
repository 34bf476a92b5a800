// RandomNormal, RandomUniform and those of the shape of another tensor, Bernoulli, Multinomial.
#include <algorithm>

#include <fmt/format.h>

#include "compiler/frontend/onnx/ops/common.h"
#include "compiler/frontend/onnx/ops/families.h"
#include "compiler/frontend/onnx/ops/random_numbers.h"

namespace sluice::frontend::ops {
namespace {

using reference::RandomField;
using Proto = onnx::TensorProto;

DataType givenType(const NodeView &node, DataType otherwise) {
  if (!node.given("dtype"))
    return otherwise;
  const int64_t type = node.integer("dtype"); // the attribute may hold anything
  return static_cast<DataType>(type >= 0 && type <= 100 ? type : 0);
}

Requirement typeIs(const char *what, bool (*allowed)(DataType)) {
  return {fmt::format("attribute 'dtype' must be {}", what),
          [allowed](const NodeView &node) -> std::string {
            const DataType type = givenType(node, Proto::UNDEFINED);
            return !node.given("dtype") || allowed(type)
                       ? ""
                       : fmt::format("{} ({})", node.integer("dtype"), dataTypeName(type));
          }};
}

/// A distribution with two parameters, which are attributes of these names and defaults.
struct Family {
  const char *name;
  std::pair<const char *, float> first, second;
  double (*element)(const RandomField &, uint64_t, double, double);
};

constexpr Family kNormal = {"Normal",
                            {"mean", 0.0F},
                            {"scale", 1.0F},
                            [](const RandomField &field, uint64_t i, double mean, double scale) {
                              return mean + scale * field.normal(i);
                            }};
constexpr Family kUniform = {"Uniform",
                             {"low", 0.0F},
                             {"high", 1.0F},
                             [](const RandomField &field, uint64_t i, double low, double high) {
                               return low + (high - low) * field.uniform(i);
                             }};

Operator randomOf(const Family &family) {
  Operator entry;
  entry.form = "a constant";
  entry.outputs = {{"output"}};
  for (const auto &[name, value] : {family.first, family.second})
    entry.attributes.push_back({name, AttributeKind::Float, value});
  entry.attributes.push_back({"seed", AttributeKind::Float});
  entry.requirements = {typeIs("a floating-point type", isFloatType)};
  return entry;
}

void buildFamily(NodeBuilder &node, const Family &family, DataType type, const Shape &shape) {
  const RandomField field = fieldOf(node);
  const double first = node.real(family.first.first), second = node.real(family.second.first);
  node.result(
      tabulated(type, shape, [&](int64_t i) { return family.element(field, i, first, second); }));
}

Operator ofShape(const Family &family) {
  Operator entry = randomOf(family);
  entry.name = fmt::format("Random{}", family.name);
  entry.attributes.push_back({"dtype", AttributeKind::Int, int64_t{Proto::FLOAT}});
  entry.attributes.push_back({"shape", AttributeKind::Ints, std::nullopt, true});
  const auto shape = [](const NodeView &node) { return node.integers("shape"); };
  entry.requirements.push_back({"attribute 'shape' must have no negative extent",
                                [shape](const NodeView &node) -> std::string {
                                  const Shape extents = shape(node);
                                  const bool all = std::ranges::all_of(
                                      extents, [](int64_t one) { return one >= 0; });
                                  return all ? "" : shapeText(extents);
                                },
                                kShapes});
  entry.requirements.push_back(boundedField(shape));
  entry.build = [family](NodeBuilder &node) {
    buildFamily(node, family, givenType(node, Proto::FLOAT), node.integers("shape"));
  };
  return entry;
}

Shape shapeOfInput(const NodeView &node) { return node.in(0).shape; }

Operator like(const Family &family) {
  Operator entry = randomOf(family);
  entry.name = fmt::format("Random{}Like", family.name);
  entry.inputs = {{"input", Types::Any}};
  entry.attributes.push_back({"dtype", AttributeKind::Int});
  entry.requirements.push_back(
      {"attribute 'dtype' or input 'input' must be of a floating-point type",
       [](const NodeView &node) -> std::string {
         return node.given("dtype") || isFloatType(node.in(0).type) ? ""
                                                                    : dataTypeName(node.in(0).type);
       }});
  entry.requirements.push_back(boundedField(shapeOfInput));
  entry.build = [family](NodeBuilder &node) {
    buildFamily(node, family, givenType(node, node.in(0).type), node.in(0).shape);
  };
  return entry;
}

bool isAnyNumber(DataType type) { return isFloatType(type) || isIntegerType(type); }

/// Where the probabilities are known.
HostTensor events(const RandomField &field, const HostTensor &probabilities, DataType type) {
  HostTensor out{type, probabilities.shape, {}, {}};
  for (size_t i = 0; i < probabilities.floats.size(); ++i) {
    const bool happens = field.bernoulli(i, probabilities.floats[i]);
    if (out.isFloat())
      out.floats.push_back(happens ? 1.0F : 0.0F);
    else
      out.ints.push_back(happens ? 1 : 0);
  }
  return out;
}

Operator bernoulli() {
  Operator entry;
  entry.name = "Bernoulli";
  entry.form = "map: u < p ? 1 : 0, u a constant";
  entry.inputs = {{"input"}};
  entry.outputs = {{"output"}};
  entry.attributes = {{"dtype", AttributeKind::Int}, {"seed", AttributeKind::Float}};
  entry.requirements = {typeIs("a float, integer or bool type", isAnyNumber),
                        {"probabilities known at compile time must be in [0, 1]",
                         [](const NodeView &node) -> std::string {
                           if (node.in(0).known)
                             for (const float p : node.in(0).known->floats)
                               if (!(p >= 0 && p <= 1))
                                 return fmt::format("{}", p);
                           return "";
                         },
                         kShapes},
                        boundedField(shapeOfInput)};
  entry.build = [](NodeBuilder &node) {
    const Tensor &p = node.in(0);
    const DataType type = givenType(node, p.type);
    const RandomField field = fieldOf(node);
    if (p.known) {
      node.result(Tensor::ofKnown(events(field, *p.known, type)));
      return;
    }
    // The machine compares bf16 numbers; of those, rounding down changes no comparison.
    const Tensor numbers = tabulated(
        Proto::FLOAT, p.shape, [&](int64_t i) { return reference::floorToBf16(field.uniform(i)); });
    Tensor result = node.emit.pointwise({p, numbers}, [](const Scalars &s, mlir::ValueRange v) {
      const mlir::Value happens =
          s.b.create<mlir::arith::CmpFOp>(s.where, mlir::arith::CmpFPredicate::OLT, v[1], v[0]);
      return s.make<mlir::arith::SelectOp>(happens, s.constant(1), s.constant(0));
    });
    result.type = type;
    node.result(std::move(result));
  };
  return entry;
}

/// A sample is where the sum of the logarithm of the probability and a number of Gumbel's
/// distribution is largest; they need not be normalised for that.
Operator multinomial() {
  Operator entry;
  entry.name = "Multinomial";
  entry.form = "map x + g, g a constant; reduce argmax";
  entry.inputs = {{"input"}};
  entry.outputs = {{"output"}};
  entry.attributes = {
      {"dtype", AttributeKind::Int, int64_t{Proto::INT32}, false, {Proto::INT32, Proto::INT64}},
      {"sample_size", AttributeKind::Int, int64_t{1}},
      {"seed", AttributeKind::Float}};
  const auto drawn = [](const NodeView &node) -> Shape {
    return {node.in(0).shape[0], node.integer("sample_size"), node.in(0).shape[1]};
  };
  entry.requirements = {{"input 'input' must have rank 2",
                         [](const NodeView &node) -> std::string {
                           return node.in(0).rank() == 2 ? "" : shapeText(node.in(0).shape);
                         },
                         kShapes},
                        {"attribute 'sample_size' must be at least 1",
                         [](const NodeView &node) -> std::string {
                           const int64_t size = node.integer("sample_size");
                           return size >= 1 ? "" : fmt::format("{}", size);
                         },
                         kShapes},
                        boundedField(drawn)};
  entry.build = [drawn](NodeBuilder &node) {
    const RandomField field = fieldOf(node);
    const Tensor numbers =
        tabulated(Proto::FLOAT, drawn(node), [&](int64_t i) { return field.gumbel(i); });
    const Tensor sums =
        node.emit.pointwise({node.emit.unsqueeze(node.in(0), {1}), numbers},
                            [](const Scalars &s, mlir::ValueRange v) { return s.add(v[0], v[1]); });
    Tensor index = node.emit.reduce(ir::Monoid::ArgMax, sums, {2}, false);
    index.type = givenType(node, Proto::INT32);
    node.result(std::move(index));
  };
  return entry;
}

} // namespace

void addRandom(OperatorTable &table) {
  for (const Family &family : {kNormal, kUniform}) {
    table.add({1, 22}, ofShape(family));
    table.add({1, 22}, like(family));
  }
  table.add({15, 22}, bernoulli());
  table.add({7, 22}, multinomial());
}

} // namespace sluice::frontend::ops
