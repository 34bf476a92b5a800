// Equal, Greater, Less, GreaterOrEqual, LessOrEqual, IsNaN, IsInf, Not, And, Or, Xor,
// Where, Trilu. A bool tensor is one of 0 and 1.
#include <algorithm>
#include <functional>
#include <limits>

#include <fmt/format.h>

#include "compiler/frontend/onnx/ops/common.h"
#include "compiler/frontend/onnx/ops/families.h"
#include "compiler/frontend/onnx/ops/known_integers.h"

namespace sluice::frontend::ops {
namespace {

namespace arith = mlir::arith;

using Combine = std::function<mlir::Value(const Scalars &, mlir::Value, mlir::Value)>;

Tensor ofType(Tensor tensor, DataType type) {
  tensor.type = type;
  return tensor;
}

mlir::Value isTrue(const Scalars &s, mlir::Value x) {
  return s.make<arith::CmpFOp>(arith::CmpFPredicate::UNE, x, s.constant(0));
}

/// A map whose result is bool.
Tensor boolean(Emitter &emit, const std::vector<Tensor> &operands, const ScalarBody &body) {
  return ofType(emit.pointwise(operands, body), onnx::TensorProto::BOOL);
}

mlir::Value asNumber(const Scalars &s, mlir::Value test) {
  return s.make<arith::UIToFPOp>(s.b.getF32Type(), test);
}

/// Requires bools: the inputs before `count`.
Requirement boolInputs(size_t count) {
  return {count == 1 ? "the first input must be bool" : "the inputs must be bool",
          [count](const NodeView &node) -> std::string {
            for (size_t i = 0; i < count; ++i)
              if (node.in(i).type != onnx::TensorProto::BOOL)
                return dataTypeName(node.in(i).type);
            return "";
          },
          kShapes};
}

/// As floats, if that moves none of its integers; a single one stays an fp32 number.
Tensor comparable(const Tensor &operand) {
  if (operand.known && operand.known->ints.size() > 1)
    return operand; // becomes bf16 numbers if it has no others
  if (operand.known)
    for (const int64_t value : operand.known->ints)
      if (static_cast<double>(static_cast<float>(value)) != static_cast<double>(value))
        throw NodeError{kNotSupported,
                        fmt::format("the comparison needs {}, which is not exact in fp32", value)};
  return asFloats(operand);
}

/// A function of two operands with a bool result.
Operator test(const char *name, const char *form, Types types, Combine combine) {
  Operator entry;
  entry.name = name;
  entry.form = form;
  entry.inputs = {{"A", types}, {"B", types}};
  entry.outputs = {{"C"}};
  entry.requirements = {sameTypes(), broadcastable()};
  if (types == Types::Any)
    entry.requirements.push_back(boolInputs(2));
  entry.build = [combine = std::move(combine)](NodeBuilder &node) {
    node.result(boolean(
        node.emit, {comparable(node.in(0)), comparable(node.in(1))},
        [&](const Scalars &s, mlir::ValueRange x) { return asNumber(s, combine(s, x[0], x[1])); }));
  };
  return entry;
}

/// Also of integers known at import, as shape arithmetic has them.
template <typename Compare>
Operator comparison(const char *name, const char *form, arith::CmpFPredicate predicate,
                    Compare compare) {
  Operator entry =
      test(name, form, Types::Numeric, [predicate](const Scalars &s, mlir::Value l, mlir::Value r) {
        return s.make<arith::CmpFOp>(predicate, l, r);
      });
  entry.evaluate = [compare, build = entry.build](NodeBuilder &node) {
    if (node.in(0).known->isFloat())
      return build(node);
    resultOfIntegers(node, onnx::TensorProto::BOOL, [&](const std::vector<int64_t> &at) {
      return compare(node.knownInts(0)[at[0]], node.knownInts(1)[at[1]]);
    });
  };
  return entry;
}

template <typename Op> Operator logical(const char *name, const char *form) {
  return test(name, form, Types::Any, [](const Scalars &s, mlir::Value l, mlir::Value r) {
    return s.make<Op>(isTrue(s, l), isTrue(s, r));
  });
}

Operator isNaN() {
  Operator entry;
  entry.name = "IsNaN";
  entry.form = "map: x != x";
  entry.inputs = {{"X"}};
  entry.outputs = {{"Y"}};
  entry.build = [](NodeBuilder &node) {
    node.result(boolean(node.emit, {node.in(0)}, [](const Scalars &s, mlir::ValueRange x) {
      return asNumber(s, s.make<arith::CmpFOp>(arith::CmpFPredicate::UNO, x[0], x[0]));
    }));
  };
  return entry;
}

Operator isInf() {
  Operator entry;
  entry.name = "IsInf";
  entry.form = "map: x == infinity or x == -infinity";
  entry.inputs = {{"X"}};
  entry.outputs = {{"Y"}};
  entry.attributes = {{"detect_negative", AttributeKind::Int, int64_t{1}, false, {0, 1}},
                      {"detect_positive", AttributeKind::Int, int64_t{1}, false, {0, 1}}};
  entry.build = [](NodeBuilder &node) {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    const bool negative = node.integer("detect_negative") != 0;
    const bool positive = node.integer("detect_positive") != 0;
    node.result(boolean(node.emit, {node.in(0)}, [&](const Scalars &s, mlir::ValueRange x) {
      if (!negative && !positive)
        return s.constant(0);
      const mlir::Value size = negative && positive ? s.make<mlir::math::AbsFOp>(x[0]) : x[0];
      return asNumber(s, s.make<arith::CmpFOp>(arith::CmpFPredicate::OEQ, size,
                                               s.constant(positive ? kInfinity : -kInfinity)));
    }));
  };
  return entry;
}

Operator negation() {
  Operator entry;
  entry.name = "Not";
  entry.form = "map: 1 - x";
  entry.inputs = {{"X", Types::Any}};
  entry.outputs = {{"Y"}};
  entry.requirements = {boolInputs(1)};
  entry.build = [](NodeBuilder &node) {
    node.result(
        boolean(node.emit, {asFloats(node.in(0))},
                [](const Scalars &s, mlir::ValueRange x) { return s.sub(s.constant(1), x[0]); }));
  };
  return entry;
}

/// Whether all elements are known to be this number.
bool isFilled(const Tensor &tensor, int64_t number) {
  const auto isNumber = [&](auto element) {
    return element == static_cast<decltype(element)>(number);
  };
  return tensor.known && std::ranges::all_of(tensor.known->floats, isNumber) &&
         std::ranges::all_of(tensor.known->ints, isNumber);
}

Operator where() {
  Operator entry;
  entry.name = "Where";
  entry.form = "map: condition ? x : y";
  entry.inputs = {{"condition", Types::Any}, {"X", Types::Numeric}, {"Y", Types::Numeric}};
  entry.outputs = {{"output"}};
  entry.requirements = {boolInputs(1),
                        {"inputs 'X' and 'Y' must have the same element type",
                         [](const NodeView &node) -> std::string {
                           return node.in(1).type == node.in(2).type
                                      ? ""
                                      : dataTypeName(node.in(1).type) + " and " +
                                            dataTypeName(node.in(2).type);
                         },
                         kShapes},
                        broadcastable()};
  entry.build = [](NodeBuilder &node) {
    if (!node.in(0).known && isFilled(node.in(1), 1) && isFilled(node.in(2), 0) &&
        broadcastShape({node.in(0).shape, node.in(1).shape, node.in(2).shape}) == node.in(0).shape)
      return node.result(ofType(node.in(0), node.in(1).type)); // a bool is 1 or 0
    const Tensor chosen = node.emit.pointwise(
        {asFloats(node.in(0)), node.in(1), node.in(2)}, [](const Scalars &s, mlir::ValueRange x) {
          return s.make<arith::SelectOp>(isTrue(s, x[0]), x[1], x[2]);
        });
    node.result(ofType(chosen, node.in(1).type));
  };
  entry.integers = {IntegerRule::Kind::Selected, [](const NodeView &node) {
                      return joined(rangeOf(node.in(1)), rangeOf(node.in(2)));
                    }};
  entry.evaluate = [build = entry.build](NodeBuilder &node) {
    if (node.in(1).known->isFloat())
      return build(node);
    resultOfIntegers(node, node.in(1).type, [&](const std::vector<int64_t> &at) {
      return node.knownInts(0)[at[0]] ? node.knownInts(1)[at[1]] : node.knownInts(2)[at[2]];
    });
  };
  return entry;
}

/// Whether column - row is on the side of diagonal k that Trilu keeps.
std::function<bool(int64_t, int64_t)> triangle(const NodeView &node) {
  const Shape &shape = node.in(0).shape;
  // Beyond the corners nothing changes; clamped, no comparison can overflow.
  const int64_t limit = shape[shape.size() - 2] + shape.back();
  const int64_t k = node.has(1) ? std::clamp(node.knownInts(1).front(), -limit, limit) : 0;
  const bool upper = node.integer("upper") != 0;
  return [k, upper](int64_t row, int64_t column) {
    return upper ? column - row >= k : column - row <= k;
  };
}

void buildTrilu(NodeBuilder &node) {
  const Shape &shape = node.in(0).shape;
  const Shape matrix(shape.end() - 2, shape.end());
  if (elementCount(matrix, kMostFoldedElements) < 0)
    throw NodeError{kShapes, "a matrix " + shapeText(matrix) + " has more than " +
                                 std::to_string(kMostFoldedElements) + " elements"};
  const auto kept = triangle(node);
  std::vector<float> mask;
  for (int64_t row = 0; row < matrix[0]; ++row)
    for (int64_t column = 0; column < matrix[1]; ++column)
      mask.push_back(kept(row, column) ? 1.0F : 0.0F);
  node.result(node.emit.pointwise(
      {Tensor::ofKnown(HostTensor::ofFloats(matrix, std::move(mask))), node.in(0)},
      [](const Scalars &s, mlir::ValueRange x) {
        return s.make<arith::SelectOp>(isTrue(s, x[0]), x[1], s.constant(0));
      }));
}

void evaluateTrilu(NodeBuilder &node) {
  HostTensor out = *node.in(0).known;
  const auto kept = triangle(node);
  const int64_t rows = out.shape[out.shape.size() - 2], columns = out.shape.back();
  for (int64_t i = 0; i < out.size(); ++i)
    if (!kept(i / columns % rows, i % columns)) {
      if (out.isFloat())
        out.floats[i] = 0;
      else
        out.ints[i] = 0;
    }
  node.result(Tensor::ofKnown(std::move(out)));
}

Operator trilu() {
  Operator entry;
  entry.name = "Trilu";
  entry.form = "map: inside the kept triangle ? x : 0";
  entry.inputs = {{"input", Types::Any}, {"k", Types::Integer, Presence::Optional, true}};
  entry.outputs = {{"output"}};
  entry.attributes = {{"upper", AttributeKind::Int, int64_t{1}, false, {0, 1}}};
  entry.requirements = {{"input 'input' must have rank 2 or more",
                         [](const NodeView &node) -> std::string {
                           return node.in(0).rank() >= 2 ? "" : shapeText(node.in(0).shape);
                         },
                         kShapes},
                        {"input 'k' must have one element",
                         [](const NodeView &node) -> std::string {
                           return !node.has(1) || node.in(1).known->size() == 1
                                      ? ""
                                      : "shape " + shapeText(node.in(1).shape);
                         },
                         kShapes}};
  entry.integers = {IntegerRule::Kind::Selected,
                    [](const NodeView &node) { return joined(rangeOf(node.in(0)), {0, 0}); }};
  entry.build = buildTrilu;
  entry.evaluate = evaluateTrilu;
  return entry;
}

} // namespace

void addComparisons(OperatorTable &table) {
  using P = arith::CmpFPredicate;
  table.add({7, 11, 13, 19}, comparison("Equal", "map: a == b", P::OEQ, std::equal_to<>()));
  table.add({7, 9, 13}, comparison("Greater", "map: a > b", P::OGT, std::greater<>()));
  table.add({7, 9, 13}, comparison("Less", "map: a < b", P::OLT, std::less<>()));
  table.add({12, 16}, comparison("GreaterOrEqual", "map: a >= b", P::OGE, std::greater_equal<>()));
  table.add({12, 16}, comparison("LessOrEqual", "map: a <= b", P::OLE, std::less_equal<>()));
  table.add({9, 13, 20}, isNaN());
  table.add({10, 20}, isInf());
  table.add({1}, negation());
  table.add({7}, logical<arith::AndIOp>("And", "map: a and b"));
  table.add({7}, logical<arith::OrIOp>("Or", "map: a or b"));
  table.add({7}, logical<arith::XOrIOp>("Xor", "map: a xor b"));
  table.add({9, 16}, where());
  table.add({14}, trilu());
}

} // namespace sluice::frontend::ops
