// RandomNormal, RandomUniform and those of the shape of another tensor, Bernoulli, Multinomial.
#include <algorithm>

#include <fmt/format.h>

#include "compiler/frontend/onnx/ops/common.h"
#include "compiler/frontend/onnx/ops/families.h"
#include "compiler/frontend/onnx/ops/random_numbers.h"

namespace sluice::frontend::ops {
namespace {

using random::Distribution;
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
  Distribution distribution;
};

constexpr Family kNormal = {"Normal", {"mean", 0.0F}, {"scale", 1.0F}, Distribution::Normal};
constexpr Family kUniform = {"Uniform", {"low", 0.0F}, {"high", 1.0F}, Distribution::Uniform};

Operator randomOf(const Family &family) {
  Operator entry;
  entry.form = "numbers that the host draws for every inference; with a seed a constant";
  entry.outputs = {{"output"}};
  for (const auto &[name, value] : {family.first, family.second})
    entry.attributes.push_back({name, AttributeKind::Float, value});
  entry.attributes.push_back({"seed", AttributeKind::Float});
  entry.requirements = {typeIs("a floating-point type", isFloatType)};
  return entry;
}

void buildFamily(NodeBuilder &node, const Family &family, DataType type, const Shape &shape) {
  node.result(randomNumbers(node, type, shape, family.distribution, node.real(family.first.first),
                            node.real(family.second.first)));
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
HostTensor events(const random::RandomField &field, const HostTensor &probabilities,
                  DataType type) {
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
  entry.form = "map: u < p ? 1 : 0, u drawn by the host; with a seed a constant";
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
    const auto field = fixedField(node);
    if (p.known && (field || p.known->floats.empty())) {
      node.result(Tensor::ofKnown(p.known->floats.empty() ? HostTensor{type, p.shape, {}, {}}
                                                          : events(*field, *p.known, type)));
      return;
    }
    if (p.known &&
        std::ranges::count(p.known->floats, p.known->floats.front()) == p.known->size()) {
      Tensor result = randomNumbers(node, Proto::FLOAT, p.shape, Distribution::Bernoulli,
                                    p.known->floats.front());
      result.type = type;
      node.result(std::move(result));
      return;
    }
    // The machine compares bf16 numbers; of those, rounding down changes no comparison.
    const Tensor numbers = randomNumbers(node, Proto::FLOAT, p.shape, Distribution::Threshold);
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
  entry.form = "map x + g, g drawn by the host, with a seed a constant; reduce argmax";
  entry.inputs = {{"input"}};
  entry.outputs = {{"output"}};
  entry.attributes = {
      {"dtype", AttributeKind::Int, int64_t{Proto::INT32}, false, {Proto::INT32, Proto::INT64}},
      {"sample_size", AttributeKind::Int, int64_t{1}},
      {"seed", AttributeKind::Float}};
  const auto sampled = [](const NodeView &node) -> Shape {
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
                        boundedField(sampled)};
  entry.build = [sampled](NodeBuilder &node) {
    const Tensor numbers = randomNumbers(node, Proto::FLOAT, sampled(node), Distribution::Gumbel);
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
