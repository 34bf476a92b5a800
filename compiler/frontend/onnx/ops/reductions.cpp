// ReduceMean, ReduceSum, ReduceMax, ReduceMin, ReduceProd, ReduceSumSquare,
// ReduceL1, ReduceL2, ReduceLogSum, ReduceLogSumExp, ArgMax, ArgMin.
#include <algorithm>
#include <numeric>
#include <optional>

#include <fmt/format.h>

#include "compiler/dialect/sluice/attributes.h"
#include "compiler/frontend/onnx/ops/common.h"
#include "compiler/frontend/onnx/ops/families.h"
#include "compiler/frontend/onnx/ops/index_codes.h"
#include "compiler/frontend/onnx/ops/known_order.h"

namespace sluice::frontend::ops {
namespace {

/// The reduced axes, ascending; without any in the node, all of them, or none
/// with 'noop_with_empty_axes'.
Shape reducedAxes(const NodeView &node) {
  auto axes = givenAxes(node);
  if (axes && !axes->empty())
    return sortedAxes(*axes, node.in(0).rank());
  if (node.given("noop_with_empty_axes") && node.integer("noop_with_empty_axes") != 0)
    return {};
  Shape all(node.in(0).rank());
  std::iota(all.begin(), all.end(), 0);
  return all;
}

using Step = std::function<mlir::Value(const Scalars &, mlir::Value)>;

Tensor mapped(Emitter &emit, const Tensor &x, const Step &step) {
  if (!step)
    return x;
  return emit.pointwise({x}, [&](const Scalars &s, mlir::ValueRange v) { return step(s, v[0]); });
}

/// A monoid with a map before and after it.
struct Reduction {
  const char *name;
  const char *form;
  ir::Monoid monoid;
  Step before = nullptr, after = nullptr;
  /// Of integers, with the first one merged with itself or `neutral`; null: there are none.
  int64_t (*merge)(int64_t, int64_t) = nullptr;
  std::optional<int64_t> neutral = std::nullopt;
  int64_t (*each)(int64_t) = nullptr; ///< the map before it, of an integer
  bool isMean = false;                ///< rounded towards zero, of integers
  /// The values of reductions of `count` integers.
  IntegerRange (*range)(const IntegerRange &each, int64_t count) = nullptr;
};

/// Integers that are known: the reduction of them, in their type.
void reduceKnown(NodeBuilder &node, const Reduction &r, const Shape &axes) {
  const HostTensor &x = *node.in(0).known;
  const auto element = [&](int64_t i) { return r.each ? r.each(x.ints[i]) : x.ints[i]; };
  Shape kept = x.shape, dropped;
  for (const int64_t axis : axes)
    kept[axis] = 1;
  for (size_t axis = 0; axis < kept.size(); ++axis)
    if (node.integer("keepdims") != 0 ||
        !std::binary_search(axes.begin(), axes.end(), static_cast<int64_t>(axis)))
      dropped.push_back(kept[axis]);
  std::vector<std::optional<int64_t>> values(elementCount(kept, kMostFoldedElements), r.neutral);
  for (int64_t i = 0; i < x.size(); ++i) {
    std::optional<int64_t> &to = values[broadcastIndex(kept, x.shape, i)];
    to = to ? r.merge(*to, element(i)) : element(i);
  }
  HostTensor out{x.type, std::move(dropped), {}, {}};
  const int64_t each = values.empty() ? 0 : x.size() / static_cast<int64_t>(values.size());
  if (r.isMean && each == 0 && !values.empty())
    throw NodeError{kShapes, "the mean of no elements is undefined"};
  for (const std::optional<int64_t> &value : values) {
    if (!value)
      throw NodeError{kShapes, "the minimum or maximum of no elements is undefined"};
    out.ints.push_back(wrapToType(r.isMean ? *value / each : *value, x.type));
  }
  node.result(Tensor::ofKnown(std::move(out)));
}

/// Arithmetic of int64 wraps around.
int64_t wrapping(uint64_t value) { return static_cast<int64_t>(value); }

Operator reduction(const Reduction &r) {
  Operator entry;
  entry.name = r.name;
  entry.form = r.form;
  entry.inputs = {{"data", r.merge ? Types::Numeric : Types::Float}};
  entry.outputs = {{"reduced"}};
  entry.attributes = {{"keepdims", AttributeKind::Int, int64_t{1}, false, {0, 1}}};
  entry.requirements = {{"'axes' must be distinct axes of 'data'",
                         [](const NodeView &node) -> std::string {
                           auto axes = givenAxes(node);
                           return axes ? axesProblem(*axes, node.in(0).rank()) : "";
                         },
                         kShapes}};
  if (r.isMean) // which has a fraction
    entry.requirements.push_back(knownIntegers());
  if (r.range)
    entry.integers = {IntegerRule::Kind::Computed, [r](const NodeView &node) {
                        int64_t count = 1;
                        for (const int64_t axis : reducedAxes(node))
                          count *= node.in(0).shape[axis];
                        return r.range(rangeOf(node.in(0)), count);
                      }};
  else if (r.merge && !r.isMean) // one of the elements
    entry.integers = {IntegerRule::Kind::Selected,
                      [](const NodeView &node) { return rangeOf(node.in(0)); }};
  entry.build = [r](NodeBuilder &node) {
    Tensor x = mapped(node.emit, node.in(0), r.before);
    Shape axes = reducedAxes(node);
    if (!axes.empty())
      x = node.emit.reduce(r.monoid, x, axes, node.integer("keepdims") != 0);
    node.result(mapped(node.emit, x, r.after));
  };
  if (r.merge)
    entry.evaluate = [r, build = entry.build](NodeBuilder &node) {
      if (node.in(0).known->isFloat())
        build(node);
      else
        reduceKnown(node, r, reducedAxes(node));
    };
  return entry;
}

/// Axes are an attribute first, an input later.
Operator withAttribute(const Reduction &r) {
  Operator entry = reduction(r);
  entry.attributes.push_back({"axes", AttributeKind::Ints});
  return entry;
}

Operator withInput(const Reduction &r) {
  Operator entry = reduction(r);
  entry.inputs.push_back({"axes", Types::Integer, Presence::Optional, true});
  entry.attributes.push_back(
      {"noop_with_empty_axes", AttributeKind::Int, int64_t{0}, false, {0, 1}});
  return entry;
}

mlir::Value square(const Scalars &s, mlir::Value x) { return s.mul(x, x); }
mlir::Value root(const Scalars &s, mlir::Value x) { return s.make<mlir::math::SqrtOp>(x); }
mlir::Value magnitude(const Scalars &s, mlir::Value x) { return s.make<mlir::math::AbsFOp>(x); }
mlir::Value logarithm(const Scalars &s, mlir::Value x) { return s.make<mlir::math::LogOp>(x); }

/// The index of the maximum, or of the minimum: the maximum of -x. The last one
/// is the first one counted from the end.
void buildArg(NodeBuilder &node, bool smallest) {
  Tensor x = node.in(0);
  const int64_t axis = node.axis(node.integer("axis"), x.rank());
  const int64_t last = x.shape[axis] - 1;
  const bool fromEnd = node.given("select_last_index") && node.integer("select_last_index") != 0;
  if (smallest)
    x = mapped(node.emit, x, [](const Scalars &s, mlir::Value v) { return s.scale(v, -1); });
  if (needsCode(last + 1)) {
    const Tensor greatest = node.emit.reduce(ir::Monoid::Max, x, {axis}, true);
    Tensor index = asIndices(
        codeOf(node.emit, x, greatest, codesAlong(axis, x.rank(), last + 1), axis, fromEnd),
        last + 1);
    node.result(node.integer("keepdims") != 0 ? std::move(index)
                                              : node.emit.squeeze(index, {axis}));
    return;
  }
  if (fromEnd) {
    Shape starts(x.shape.size(), 0), steps(x.shape.size(), 1);
    starts[axis] = last;
    steps[axis] = -1;
    x = node.emit.slice(x, starts, x.shape, steps);
  }
  Tensor index = node.emit.reduce(ir::Monoid::ArgMax, x, {axis}, node.integer("keepdims") != 0);
  if (fromEnd)
    index = mapped(node.emit, index, [last](const Scalars &s, mlir::Value v) {
      return s.sub(s.constant(static_cast<float>(last)), v);
    });
  index.type = onnx::TensorProto::INT64;
  index.range = IntegerRange{0, static_cast<double>(last + 1)}; // with NaN one that none has
  node.result(std::move(index));
}

/// Where all is known.
void evaluateArg(NodeBuilder &node, bool smallest) {
  const HostTensor &x = *node.in(0).known;
  const int64_t axis = node.axis(node.integer("axis"), node.in(0).rank());
  const int64_t extent = x.shape[axis], run = stridesOf(x.shape)[axis];
  const bool last = node.given("select_last_index") && node.integer("select_last_index") != 0;
  if (extent == 0)
    throw NodeError{kShapes, "the index of the minimum or maximum of no elements is undefined"};
  HostTensor out{onnx::TensorProto::INT64, x.shape, {}, {}};
  out.shape[axis] = 1;
  const KnownOrder before{x, smallest};
  for (int64_t i = 0; i < x.size() / extent; ++i) {
    const int64_t first = i / run * run * extent + i % run;
    int64_t best = 0;
    for (int64_t place = 1; place < extent; ++place) {
      const int64_t one = first + place * run, other = first + best * run;
      if (last ? !before(other, one) : before(one, other))
        best = place;
    }
    out.ints.push_back(best);
  }
  if (node.integer("keepdims") == 0)
    out.shape.erase(out.shape.begin() + axis);
  node.result(Tensor::ofKnown(std::move(out)));
}

Operator arg(bool smallest, bool hasLast) {
  Operator entry;
  entry.name = smallest ? "ArgMin" : "ArgMax";
  entry.form = smallest ? "map -x, reduce argmax" : "reduce argmax";
  entry.inputs = {{"data", Types::Numeric}};
  entry.outputs = {{"reduced"}};
  entry.attributes = {{"axis", AttributeKind::Int, int64_t{0}},
                      {"keepdims", AttributeKind::Int, int64_t{1}, false, {0, 1}}};
  if (hasLast)
    entry.attributes.push_back(
        {"select_last_index", AttributeKind::Int, int64_t{0}, false, {0, 1}});
  entry.requirements = {
      axisInRange("data"), fewEnough("'axis'", [](const NodeView &node) {
        return node.in(0).shape[node.axis(node.integer("axis"), node.in(0).rank())];
      })};
  entry.build = [smallest](NodeBuilder &node) { buildArg(node, smallest); };
  entry.evaluate = [smallest](NodeBuilder &node) { evaluateArg(node, smallest); };
  return entry;
}

} // namespace

void addReductions(OperatorTable &table) {
  const auto add = [](int64_t a, int64_t b) {
    return wrapping(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  };
  const auto multiply = [](int64_t a, int64_t b) {
    return wrapping(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  };
  Reduction sum{"ReduceSum", "reduce sum", ir::Monoid::Sum, nullptr, nullptr, add, 0};
  sum.range = [](const IntegerRange &each, int64_t count) { return each.times(count); };
  table.add({1, 11}, withAttribute(sum));
  table.add({13}, withInput(sum));
  Reduction mean{"ReduceMean", "reduce mean", ir::Monoid::Mean, nullptr, nullptr, add, 0};
  mean.isMean = true;
  const auto squared = [](int64_t x) {
    return wrapping(static_cast<uint64_t>(x) * static_cast<uint64_t>(x));
  };
  Reduction squares{"ReduceSumSquare",
                    "map x * x, reduce sum",
                    ir::Monoid::Sum,
                    square,
                    nullptr,
                    add,
                    0,
                    squared};
  squares.range = [](const IntegerRange &each, int64_t count) {
    const double size = each.magnitude();
    return IntegerRange{0, size * size}.times(count);
  };
  const Reduction length{"ReduceL2", "map x * x, reduce sum, map sqrt", ir::Monoid::Sum, square,
                         root};
  const auto sizeOf = [](int64_t x) { return x < 0 ? wrapping(-static_cast<uint64_t>(x)) : x; };
  Reduction absolute{"ReduceL1", "map |x|, reduce sum", ir::Monoid::Sum, magnitude, nullptr, add, 0,
                     sizeOf};
  absolute.range = [](const IntegerRange &each, int64_t count) {
    return IntegerRange{0, each.magnitude()}.times(count);
  };
  const Reduction logSum{"ReduceLogSum", "reduce sum, map log", ir::Monoid::Sum, nullptr,
                         logarithm};
  Reduction product{
      "ReduceProd", "reduce product", ir::Monoid::Product, nullptr, nullptr, multiply, 1};
  product.range = [](const IntegerRange &each, int64_t count) { return each.power(count); };
  const Reduction logSumExp{"ReduceLogSumExp", "reduce logsumexp", ir::Monoid::LogSumExp};
  for (const Reduction &r : {mean, squares, length, absolute, logSum, product, logSumExp}) {
    table.add({1, 11, 13}, withAttribute(r));
    table.add({18}, withInput(r));
  }
  for (bool smallest : {false, true}) {
    table.add({1, 11}, arg(smallest, false));
    table.add({12, 13}, arg(smallest, true));
  }
  const auto larger = [](int64_t a, int64_t b) { return std::max(a, b); };
  const auto smaller = [](int64_t a, int64_t b) { return std::min(a, b); };
  for (const Reduction &r :
       {Reduction{"ReduceMax", "reduce max", ir::Monoid::Max, nullptr, nullptr, larger},
        Reduction{"ReduceMin", "reduce min", ir::Monoid::Min, nullptr, nullptr, smaller}}) {
    table.add({1, 11, 12, 13}, withAttribute(r));
    table.add({18, 20}, withInput(r));
  }
}

} // namespace sluice::frontend::ops
