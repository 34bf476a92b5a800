// OneHot, of indices known at import or not.
#include <cmath>

#include <fmt/format.h>

#include "compiler/frontend/onnx/ops/common.h"
#include "compiler/frontend/onnx/ops/families.h"
#include "compiler/frontend/onnx/ops/selecting.h"

namespace sluice::frontend::ops {
namespace {

namespace arith = mlir::arith;

/// A whole number known at import, from one element of any type; nothing if it is none.
std::optional<int64_t> depthOf(const NodeView &node) {
  const HostTensor &known = *node.in(1).known;
  if (known.size() != 1)
    return std::nullopt;
  const double value = known.isFloat() ? known.floats[0] : static_cast<double>(known.ints[0]);
  if (value != std::trunc(value) || value < 1 || value > 256)
    return std::nullopt;
  return static_cast<int64_t>(value);
}

/// Compares every index with the places of an axis of its own; one that may be negative counts from
/// the end.
void buildOneHot(NodeBuilder &node) {
  const int64_t rank = node.in(0).rank() + 1, depth = *depthOf(node);
  const int64_t axis = node.axis(node.integer("axis"), rank);
  const Tensor values = asFloats(node.in(2));
  const float off = values.known->floats[0], on = values.known->floats[1];
  const Tensor indices = node.emit.unsqueeze(asFloats(node.in(0)), {axis});
  const bool mayBeNegative = isFloatType(node.in(0).type) || rangeOf(node.in(0)).least < 0;
  Tensor hot = node.emit.pointwise(
      {indices, countAlong(axis, rank, depth)}, [&](const Scalars &s, mlir::ValueRange v) {
        const auto equals = [&](mlir::Value place) {
          return s.make<arith::CmpFOp>(arith::CmpFPredicate::OEQ, v[0], place);
        };
        mlir::Value isHot = equals(v[1]);
        if (mayBeNegative) {
          const mlir::Value low = s.sub(v[1], s.constant(static_cast<float>(depth)));
          isHot = s.make<arith::OrIOp>(isHot, equals(low));
        }
        return s.make<arith::SelectOp>(isHot, s.constant(on), s.constant(off));
      });
  hot.type = node.in(2).type;
  if (!isFloatType(hot.type))
    hot.range = rangeOf(node.in(2));
  node.result(std::move(hot));
}

/// Where all is known, and 'values' are integers.
void evaluateIntegers(NodeBuilder &node) {
  const Shape &indices = node.in(0).shape;
  const int64_t depth = *depthOf(node);
  const int64_t axis = node.axis(node.integer("axis"), node.in(0).rank() + 1);
  const HostTensor places = *asFloats(node.in(0)).known;
  HostTensor out{node.in(2).type, indices, {}, {}};
  out.shape.insert(out.shape.begin() + axis, depth);
  const int64_t count = elementCount(out.shape, kMostFoldedElements);
  if (count < 0)
    throw NodeError{kShapes,
                    fmt::format("the result has more than {} elements", kMostFoldedElements)};
  const int64_t inner = extentProduct(indices, axis, indices.size());
  for (int64_t i = 0; i < count; ++i) {
    const auto place = static_cast<float>(i / inner % depth);
    const float index = places.floats[i / (inner * depth) * inner + i % inner];
    const bool isOn = index == place || index == place - static_cast<float>(depth);
    out.ints.push_back(node.knownInts(2)[isOn ? 1 : 0]);
  }
  node.result(Tensor::ofKnown(std::move(out)));
}

Operator oneHot() {
  Operator entry;
  entry.name = "OneHot";
  entry.form =
      "map: index == position or (if it may be negative) index == position - depth ? on : off";
  entry.inputs = {{"indices", Types::Numeric},
                  {"depth", Types::Numeric, Presence::Required, true},
                  {"values", Types::Numeric, Presence::Required, true}};
  entry.outputs = {{"output"}};
  entry.attributes = {{"axis", AttributeKind::Int, int64_t{-1}}};
  entry.requirements = {
      {"input 'depth' must be one whole number in [1, 256], the range of exact bf16 integers",
       [](const NodeView &node) -> std::string {
         if (depthOf(node))
           return "";
         const HostTensor &depth = *node.in(1).known;
         return depth.size() != 1 ? "shape " + shapeText(depth.shape)
                : depth.isFloat() ? fmt::format("{}", depth.floats[0])
                                  : fmt::format("{}", depth.ints[0]);
       }},
      {"input 'values' must have two elements",
       [](const NodeView &node) -> std::string {
         return node.in(2).shape == Shape{2} ? "" : shapeText(node.in(2).shape);
       },
       kShapes},
      {"integers in 'values' must be exact in bf16 if 'indices' is computed at run time",
       [](const NodeView &node) -> std::string {
         if (!node.in(0).known)
           for (const int64_t value : node.in(2).known->ints)
             if (!isExact(value))
               return fmt::format("{}", value);
         return "";
       }},
      {"attribute 'axis' must be in [-rank-1, rank] of input 'indices'",
       [](const NodeView &node) {
         return axesProblem({node.integer("axis")}, node.in(0).rank() + 1);
       },
       kShapes}};
  entry.build = buildOneHot;
  entry.evaluate = [](NodeBuilder &node) {
    if (isFloatType(node.in(2).type))
      buildOneHot(node);
    else
      evaluateIntegers(node);
  };
  return entry;
}

} // namespace

void addOneHot(OperatorTable &table) { table.add({9, 11}, oneHot()); }

} // namespace sluice::frontend::ops
