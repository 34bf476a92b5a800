// Add, Sub, Mul, Div, Neg.
#include <utility>

#include <fmt/format.h>

#include "compiler/frontend/onnx/ops/common.h"
#include "compiler/frontend/onnx/ops/families.h"

namespace sluice::frontend::ops {
namespace {

namespace arith = mlir::arith;

/// One operator on two scalars: in the IR, in fp32 and on integers.
struct Binary {
  mlir::Value (*ir)(const Scalars &, mlir::Value, mlir::Value);
  float (*real)(float, float);
  int64_t (*integer)(int64_t, int64_t);
  IntegerRange (*range)(const IntegerRange &, const IntegerRange &);
  /// The operator that takes the negative of the right operand, if there is one.
  mlir::Value (*ofNegative)(const Scalars &, mlir::Value, mlir::Value) = nullptr;
};

template <typename Op> mlir::Value create(const Scalars &s, mlir::Value l, mlir::Value r) {
  return s.make<Op>(l, r);
}

/// Two's complement without undefined overflow.
template <typename Function> int64_t wrapping(int64_t l, int64_t r, Function function) {
  return static_cast<int64_t>(function(static_cast<uint64_t>(l), static_cast<uint64_t>(r)));
}

int64_t divide(int64_t l, int64_t r) {
  if (r == 0)
    throw NodeError{kShapes, "integer division by 0"};
  return r == -1 ? wrapping(0, l, std::minus<>()) : l / r;
}

const Binary kAdd = {create<arith::AddFOp>, [](float l, float r) { return l + r; },
                     [](int64_t l, int64_t r) { return wrapping(l, r, std::plus<>()); },
                     [](const IntegerRange &l, const IntegerRange &r) { return l + r; },
                     create<arith::SubFOp>};
const Binary kSub = {create<arith::SubFOp>, [](float l, float r) { return l - r; },
                     [](int64_t l, int64_t r) { return wrapping(l, r, std::minus<>()); },
                     [](const IntegerRange &l, const IntegerRange &r) { return l + -r; },
                     create<arith::AddFOp>};
const Binary kMul = {create<arith::MulFOp>, [](float l, float r) { return l * r; },
                     [](int64_t l, int64_t r) { return wrapping(l, r, std::multiplies<>()); },
                     [](const IntegerRange &l, const IntegerRange &r) { return l * r; }};
const Binary kDiv = {create<arith::DivFOp>, [](float l, float r) { return l / r; }, divide,
                     nullptr};

void evaluate(NodeBuilder &node, const Binary &function) {
  const HostTensor &l = *node.in(0).known, &r = *node.in(1).known;
  HostTensor out{l.type, *broadcastShape({l.shape, r.shape}), {}, {}};
  int64_t count = elementCount(out.shape, kMostFoldedElements);
  if (count < 0)
    throw NodeError{kShapes, fmt::format("the result {} has more than {} elements",
                                         shapeText(out.shape), kMostFoldedElements)};
  for (int64_t i = 0; i < count; ++i) {
    int64_t li = broadcastIndex(l.shape, out.shape, i);
    int64_t ri = broadcastIndex(r.shape, out.shape, i);
    if (l.isFloat())
      out.floats.push_back(roundToType(function.real(l.floats[li], r.floats[ri]), l.type));
    else
      out.ints.push_back(wrapToType(function.integer(l.ints[li], r.ints[ri]), l.type));
  }
  node.result(Tensor::ofKnown(std::move(out)));
}

/// -a + b is b - a, and a - -b is a + b.
void build(NodeBuilder &node, const Binary &function) {
  Tensor l = node.in(0), r = node.in(1);
  auto *compute = function.ir;
  if (compute == kAdd.ir && node.emit.negationOf(l))
    std::swap(l, r);
  if (const auto base = function.ofNegative ? node.emit.negationOf(r) : std::nullopt) {
    r = *base;
    compute = function.ofNegative;
  }
  node.result(node.emit.line(
      {l, r}, [&](const Scalars &s, mlir::ValueRange x) { return compute(s, x[0], x[1]); }));
}

Operator binary(const char *name, const char *form, const Binary &function) {
  Operator entry;
  entry.name = name;
  entry.form = form;
  entry.inputs = {{"A", Types::Numeric}, {"B", Types::Numeric}};
  entry.outputs = {{"C"}};
  entry.requirements = {sameTypes(), broadcastable()};
  entry.build = [function](NodeBuilder &node) { build(node, function); };
  entry.evaluate = [function](NodeBuilder &node) { evaluate(node, function); };
  if (function.range)
    entry.integers = {IntegerRule::Kind::Computed, [function](const NodeView &node) {
                        return function.range(rangeOf(node.in(0)), rangeOf(node.in(1)));
                      }};
  else
    entry.requirements.push_back(knownIntegers());
  return entry;
}

Operator neg() {
  Operator entry;
  entry.name = "Neg";
  entry.form = "map: -x";
  entry.inputs = {{"X", Types::Numeric}};
  entry.outputs = {{"Y"}};
  entry.build = [](NodeBuilder &node) {
    node.result(node.emit.line({node.in(0)}, [](const Scalars &s, mlir::ValueRange x) {
      return s.make<arith::NegFOp>(x[0]);
    }));
  };
  entry.evaluate = [](NodeBuilder &node) {
    HostTensor out = *node.in(0).known;
    for (float &value : out.floats)
      value = -value;
    for (int64_t &value : out.ints)
      value = wrapToType(wrapping(0, value, std::minus<>()), out.type);
    node.result(Tensor::ofKnown(std::move(out)));
  };
  entry.integers = {IntegerRule::Kind::Magnitude,
                    [](const NodeView &node) { return -rangeOf(node.in(0)); }};
  return entry;
}

} // namespace

void addArithmetic(OperatorTable &table) {
  table.add({7, 13, 14}, binary("Add", "map: a + b", kAdd));
  table.add({7, 13, 14}, binary("Sub", "map: a - b", kSub));
  table.add({7, 13, 14}, binary("Mul", "map: a * b", kMul));
  table.add({7, 13, 14}, binary("Div", "map: a / b", kDiv));
  table.add({6, 13}, neg());
}

} // namespace sluice::frontend::ops
