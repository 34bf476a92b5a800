// Mod, BitShift and bitwise logic: computed at import, where all operands are known; Mod also of
// floating-point tensors at run time.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "compiler/frontend/onnx/ops/common.h"
#include "compiler/frontend/onnx/ops/families.h"
#include "compiler/frontend/onnx/ops/known_integers.h"
#include "hw/numerics/bf16.h"

namespace sluice::frontend::ops {
namespace {

namespace arith = mlir::arith;
namespace math = mlir::math;
using Proto = onnx::TensorProto;
using Function = std::function<int64_t(int64_t, int64_t)>;

std::vector<DataType> withoutSign() {
  return {Proto::UINT8, Proto::UINT16, Proto::UINT32, Proto::UINT64};
}

std::vector<DataType> ofAnySign() {
  return {Proto::INT8,  Proto::INT16,  Proto::INT32,  Proto::INT64,
          Proto::UINT8, Proto::UINT16, Proto::UINT32, Proto::UINT64};
}

/// "the inputs are uint8 or uint16" (E0206), of one or more of one type.
Requirement areOf(std::vector<DataType> types, bool one) {
  std::vector<std::string> names;
  for (const DataType type : types)
    names.push_back(dataTypeName(type));
  return {fmt::format("the {} {}", one ? "input must be" : "inputs must be", alternatives(names)),
          [types = std::move(types)](const NodeView &node) -> std::string {
            const DataType found = node.in(0).type;
            return std::ranges::find(types, found) != types.end() ? "" : dataTypeName(found);
          },
          kShapes};
}

/// Integers that are known, one or two, of one of the types `types`, to one.
Operator ofIntegers(const char *name, std::vector<DataType> types,
                    const std::vector<const char *> &inputs, const char *output,
                    Function function) {
  Operator entry;
  entry.name = name;
  entry.form = "known at compile time";
  for (const char *input : inputs)
    entry.inputs.push_back({input, Types::Any, Presence::Required, true});
  entry.outputs = {{output}};
  entry.requirements = {areOf(std::move(types), inputs.size() == 1)};
  if (inputs.size() > 1) {
    entry.requirements.insert(entry.requirements.begin(), sameTypes());
    entry.requirements.push_back(broadcastable());
  }
  entry.build = [function = std::move(function)](NodeBuilder &node) {
    resultOfIntegers(node, node.in(0).type, [&](const std::vector<int64_t> &at) {
      return function(node.knownInts(0)[at[0]], at.size() == 1 ? 0 : node.knownInts(1)[at[1]]);
    });
  };
  return entry;
}

int64_t bitsOf(DataType type) {
  switch (type) {
  case onnx::TensorProto::UINT8:
    return 8;
  case onnx::TensorProto::UINT16:
    return 16;
  case onnx::TensorProto::UINT32:
    return 32;
  default:
    return 64;
  }
}

Operator bitShift() {
  Operator entry = ofIntegers("BitShift", withoutSign(), {"X", "Y"}, "Z", nullptr);
  entry.attributes = {{"direction", AttributeKind::String, std::nullopt, true}};
  entry.requirements.push_back({"attribute 'direction' must be 'LEFT' or 'RIGHT'",
                                [](const NodeView &node) -> std::string {
                                  const auto &direction = node.attribute<std::string>("direction");
                                  return direction == "LEFT" || direction == "RIGHT"
                                             ? ""
                                             : inQuotes(direction);
                                },
                                kShapes});
  entry.build = [](NodeBuilder &node) {
    const bool left = node.attribute<std::string>("direction") == "LEFT";
    const DataType type = node.in(0).type;
    resultOfIntegers(node, type, [&](const std::vector<int64_t> &at) -> int64_t {
      const auto x = static_cast<uint64_t>(node.knownInts(0)[at[0]]);
      const auto by = static_cast<uint64_t>(node.knownInts(1)[at[1]]);
      if (by >= static_cast<uint64_t>(bitsOf(type)))
        return 0;
      return static_cast<int64_t>(left ? x << by : x >> by);
    });
  };
  return entry;
}

/// The sign of the divisor, or with fmod that of the dividend.
int64_t remainder(int64_t dividend, int64_t divisor, bool truncates) {
  if (divisor == 0)
    throw NodeError{kShapes, "integer division by 0"};
  if (divisor == -1)
    return 0;
  const int64_t rest = dividend % divisor;
  return !truncates && rest != 0 && (rest < 0) != (divisor < 0) ? rest + divisor : rest;
}

/// a - b * trunc(a / b), of the magnitudes. Where the quotient is below 128, its rounding to bf16
/// leaves it right or one beside, which comparisons find out. What is multiplied is always a
/// choice: that is a row of its own, so that the product and what is done with it are one step of
/// the machine, which rounds nothing in between. The rest itself needs no rounding: it is a
/// multiple of the smaller operand's last place and below the divisor.
mlir::Value restOfDivision(const Scalars &s, mlir::ValueRange x) {
  using P = arith::CmpFPredicate;
  const auto choose = [&](P predicate, mlir::Value l, mlir::Value r, mlir::Value then,
                          mlir::Value otherwise) {
    return s.make<arith::SelectOp>(s.make<arith::CmpFOp>(predicate, l, r), then, otherwise);
  };
  const mlir::Value dividend = s.magnitude(x[0]);
  // Nothing is left of 0 * infinity: an infinite divisor is a large one.
  const mlir::Value divisor =
      s.make<arith::MinimumFOp>(s.magnitude(x[1]), s.constant(numerics::kLargestBf16));
  const mlir::Value guess = choose(P::OLT, dividend, divisor, s.constant(0),
                                   s.make<math::FloorOp>(s.div(dividend, divisor)));
  const mlir::Value least =
      choose(P::OGT, s.mul(guess, divisor), dividend, s.add(guess, s.constant(-1)), guess);
  const mlir::Value rest = s.sub(dividend, s.mul(least, divisor));
  const mlir::Value quotient = choose(P::OGE, rest, divisor, s.add(least, s.constant(1)), least);
  const mlir::Value size = s.sub(dividend, s.mul(quotient, divisor));
  return choose(P::OLT, x[0], s.constant(0), s.scale(size, -1), size);
}

/// The same for one divisor, with one table for the quotient.
mlir::Value restByNumber(const Scalars &s, mlir::Value x, float divisor) {
  const mlir::Value quotient = s.div(x, s.constant(divisor));
  const mlir::Value size = s.make<math::FloorOp>(s.make<math::AbsFOp>(quotient));
  const mlir::Value negative =
      s.make<arith::CmpFOp>(arith::CmpFPredicate::OLT, quotient, s.constant(0));
  const mlir::Value whole = s.make<arith::SelectOp>(negative, s.scale(size, -1), size);
  return s.sub(x, s.scale(whole, divisor));
}

Operator mod() {
  Operator entry;
  entry.name = "Mod";
  entry.form = "known at compile time; else map: a - b * trunc(a / b), exact where |a / b| < 128";
  entry.inputs = {{"A", Types::Numeric}, {"B", Types::Numeric}};
  entry.outputs = {{"C"}};
  entry.attributes = {{"fmod", AttributeKind::Int, int64_t{0}, false, {0, 1}}};
  entry.requirements = {sameTypes(),
                        broadcastable(),
                        {"attribute 'fmod' must be 1 for floating-point inputs",
                         [](const NodeView &node) -> std::string {
                           return !isFloatType(node.in(0).type) || node.integer("fmod") == 1 ? ""
                                                                                             : "0";
                         },
                         kShapes},
                        knownIntegers()};
  entry.build = [](NodeBuilder &node) {
    const HostTensorRef &known = node.in(1).known;
    if (!known || known->size() != 1) {
      node.result(node.emit.pointwise({node.in(0), node.in(1)}, restOfDivision));
      return;
    }
    node.result(node.emit.pointwise({node.in(0)}, [&](const Scalars &s, mlir::ValueRange x) {
      return restByNumber(s, x[0], known->floats[0]);
    }));
  };
  entry.evaluate = [](NodeBuilder &node) {
    const HostTensor &l = *node.in(0).known, &r = *node.in(1).known;
    if (!l.isFloat()) {
      resultOfIntegers(node, l.type, [&](const std::vector<int64_t> &at) {
        return remainder(l.ints[at[0]], r.ints[at[1]], node.integer("fmod") != 0);
      });
      return;
    }
    HostTensor out{l.type, *broadcastShape({l.shape, r.shape}), {}, {}};
    const int64_t count = elementCount(out.shape, kMostFoldedElements);
    if (count < 0)
      throw NodeError{kShapes,
                      fmt::format("the result has more than {} elements", kMostFoldedElements)};
    for (int64_t i = 0; i < count; ++i)
      out.floats.push_back(roundToType(std::fmod(l.floats[broadcastIndex(l.shape, out.shape, i)],
                                                 r.floats[broadcastIndex(r.shape, out.shape, i)]),
                                       l.type));
    node.result(Tensor::ofKnown(std::move(out)));
  };
  return entry;
}

} // namespace

void addIntegers(OperatorTable &table) {
  table.add({10, 13}, mod());
  table.add({11}, bitShift());
  table.add({18}, ofIntegers("BitwiseAnd", ofAnySign(), {"A", "B"}, "C",
                             [](int64_t a, int64_t b) { return a & b; }));
  table.add({18}, ofIntegers("BitwiseOr", ofAnySign(), {"A", "B"}, "C",
                             [](int64_t a, int64_t b) { return a | b; }));
  table.add({18}, ofIntegers("BitwiseXor", ofAnySign(), {"A", "B"}, "C",
                             [](int64_t a, int64_t b) { return a ^ b; }));
  table.add({18}, ofIntegers("BitwiseNot", ofAnySign(), {"X"}, "Y",
                             [](int64_t a, int64_t) { return ~a; }));
}

} // namespace sluice::frontend::ops
