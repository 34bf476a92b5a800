// Hardmax and TopK.
#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "compiler/dialect/sluice/operations.h"
#include "compiler/frontend/onnx/ops/common.h"
#include "compiler/frontend/onnx/ops/families.h"
#include "compiler/frontend/onnx/ops/index_codes.h"
#include "compiler/frontend/onnx/ops/known_order.h"
#include "compiler/frontend/onnx/ops/selecting.h"

namespace sluice::frontend::ops {
namespace {

namespace arith = mlir::arith;
using P = arith::CmpFPredicate;

int64_t axisOf(const NodeView &node) { return node.axis(node.integer("axis"), node.in(0).rank()); }

mlir::Value oneWhere(const Scalars &s, mlir::Value test) {
  return s.make<arith::SelectOp>(test, s.constant(1), s.constant(0));
}

/// The indices of the elements of `axis`, or their codes.
Tensor placesAlong(int64_t axis, int64_t rank, int64_t extent) {
  return needsCode(extent) ? codesAlong(axis, rank, extent) : countAlong(axis, rank, extent);
}

/// The place of the first greatest element of `axis`, which stays with extent 1.
Tensor placeOfGreatest(Emitter &emit, const Tensor &x, const Tensor &places, int64_t axis) {
  return needsCode(x.shape[axis])
             ? codeOf(emit, x, emit.reduce(ir::Monoid::Max, x, {axis}, true), places, axis)
             : emit.reduce(ir::Monoid::ArgMax, x, {axis}, true);
}

/// 1 at the first greatest element of `axis`, 0 elsewhere.
Tensor greatest(Emitter &emit, const Tensor &x, int64_t axis) {
  const Tensor places = placesAlong(axis, x.rank(), x.shape[axis]),
               place = placeOfGreatest(emit, x, places, axis);
  return emit.pointwise({places, place}, [](const Scalars &s, mlir::ValueRange v) {
    return oneWhere(s, s.make<arith::CmpFOp>(P::OEQ, v[0], v[1]));
  });
}

/// Up to opset 12 the axes from `axis` on are one; from 13 on it is `axis` alone.
Operator hardmax(bool flattens) {
  Operator entry;
  entry.name = "Hardmax";
  entry.form = "reduce argmax, map: position == argmax ? 1 : 0; over ";
  entry.form += flattens ? "the axes from 'axis' on" : "'axis'";
  entry.inputs = {{"input"}};
  entry.outputs = {{"output"}};
  entry.attributes = {{"axis", AttributeKind::Int, int64_t{flattens ? 1 : -1}}};
  const auto places = [flattens](const NodeView &node) {
    const Shape &shape = node.in(0).shape;
    const auto axis = static_cast<size_t>(axisOf(node));
    return flattens ? extentProduct(shape, axis, shape.size()) : shape[axis];
  };
  entry.requirements = {axisInRange("input"),
                        fewEnough(flattens ? "the axes from 'axis' on" : "'axis'", places)};
  entry.build = [flattens](NodeBuilder &node) {
    const Tensor &x = node.in(0);
    const int64_t axis = axisOf(node);
    Tensor hard;
    if (!flattens || axis + 1 == x.rank()) {
      hard = greatest(node.emit, x, axis);
    } else {
      const Tensor rows = node.emit.reshape(
          x, {extentProduct(x.shape, 0, axis), extentProduct(x.shape, axis, x.shape.size())});
      hard = node.emit.reshape(greatest(node.emit, rows, 1), x.shape);
    }
    hard.type = x.type;
    node.result(std::move(hard));
  };
  return entry;
}

int64_t count(const NodeView &node) {
  return node.given("k") ? node.integer("k") : node.knownInts(1).front();
}

bool wantsLargest(const NodeView &node) {
  return !node.given("largest") || node.integer("largest") != 0;
}

bool isConstant(mlir::Value value) { return value.getDefiningOp<ir::ConstantOp>() != nullptr; }

/// Whether `axis` has the features of a product with constant weights, behind maps at most. Its
/// elements then lie along the lanes.
bool hasFeatures(mlir::Value value, int64_t axis) {
  while (mlir::Operation *op = value.getDefiningOp()) {
    if (llvm::isa<ir::MapOp>(op)) {
      const auto operand = llvm::find_if_not(op->getOperands(), isConstant);
      if (operand == op->operand_end())
        return false;
      value = *operand;
      continue;
    }
    if (!llvm::isa<ir::MatmulOp, ir::ContractOp>(op) ||
        isConstant(op->getOperand(0)) == isConstant(op->getOperand(1)))
      return false;
    const unsigned weights = isConstant(op->getOperand(0)) ? 0 : 1;
    auto contract = llvm::dyn_cast<ir::ContractOp>(op);
    if (!contract)
      return axis == static_cast<int64_t>(ir::shapeOf(value).size()) - (weights == 1 ? 1 : 2);
    const auto maps = contract.getIndexingMaps().getAsValueRange<mlir::AffineMapAttr>();
    const std::vector<mlir::AffineMap> all(maps.begin(), maps.end());
    const unsigned loop = all[2].getDimPosition(axis);
    return all[weights].isFunctionOfDim(loop) && !all[1 - weights].isFunctionOfDim(loop);
  }
  return false;
}

/// Counting needs all pairs of elements, in two layouts if the elements lie along the lanes.
/// Selecting in turn takes two passes of the vector unit for each result, one after the other.
bool isSelectedInTurn(const NodeView &node) {
  const Tensor &x = node.in(0);
  const int64_t axis = axisOf(node), extent = x.shape[axis], results = count(node);
  constexpr int64_t kFew = 2, kMore = 4, kManyElements = 32; // measured
  if (results == 1 || needsCode(extent))
    return true;
  const bool isAlone = extentProduct(x.shape, 0, x.shape.size()) == extent;
  return (isAlone || hasFeatures(x.value, axis)) &&
         (results <= kFew || (results <= kMore && extent >= kManyElements));
}

/// Takes the first greatest element as often as there are results, and leaves it out each time. The
/// elements may lie along the lanes.
void selectInTurn(NodeBuilder &node) {
  Emitter &emit = node.emit;
  const int64_t axis = axisOf(node), extent = node.in(0).shape[axis];
  const bool largest = wantsLargest(node);
  Tensor x = largest ? node.in(0) : emit.scaled(node.in(0), -1);
  // Only what is left out is as low as minus infinity.
  Tensor ranked = emit.pointwise({x}, [](const Scalars &s, mlir::ValueRange v) {
    return s.make<arith::MaximumFOp>(v[0], s.constant(kLowest));
  });
  const Tensor places = placesAlong(axis, x.rank(), extent);
  std::vector<Tensor> values, indices;
  for (int64_t i = 0; i < count(node); ++i) {
    values.push_back(emit.reduce(ir::Monoid::Max, x, {axis}, true));
    const Tensor place = placeOfGreatest(emit, ranked, places, axis);
    indices.push_back(needsCode(extent) ? asIndices(place, extent) : place);
    const auto leaveOut = [&](const Tensor &from) {
      return emit.pointwise({from, places, place}, [](const Scalars &s, mlir::ValueRange v) {
        const mlir::Value isTaken = s.make<arith::CmpFOp>(P::OEQ, v[1], v[2]);
        return s.make<arith::SelectOp>(isTaken, s.constant(-INFINITY), v[0]);
      });
    };
    ranked = leaveOut(ranked);
    x = leaveOut(x);
  }
  Tensor found = emit.concat(values, axis);
  found = largest ? found : emit.scaled(found, -1);
  found.type = node.in(0).type;
  found.range = node.in(0).range;
  node.result(std::move(found));
  if (!node.wants(1))
    return;
  Tensor taken = emit.concat(indices, axis);
  taken.type = onnx::TensorProto::INT64;
  taken.range = IntegerRange{0, static_cast<double>(extent - 1)};
  node.result(1, std::move(taken));
}

/// Sorts by counting, if elements are not selected in turn: the place of an element is how many
/// come before it, of equal ones the earlier. Every place then takes the one element that belongs
/// there.
void buildTopK(NodeBuilder &node) {
  const Tensor &x = node.in(0);
  const int64_t axis = axisOf(node), extent = x.shape[axis];
  if (isSelectedInTurn(node))
    return selectInTurn(node);
  const bool largest = wantsLargest(node);
  // Elements along `axis`, what they are compared with behind it.
  const int64_t rank = x.rank() + 1;
  const Tensor own = node.emit.unsqueeze(x, {axis + 1}), other = node.emit.unsqueeze(x, {axis});
  Shape square(rank, 1);
  square[axis] = square[axis + 1] = extent;
  const Tensor earlier = mask(square, [extent](int64_t flat) {
    return flat % extent < flat / extent; // the other before the own
  });
  const Tensor before =
      node.emit.pointwise({own, other, earlier}, [&](const Scalars &s, mlir::ValueRange v) {
        const mlir::Value beats = s.make<arith::CmpFOp>(largest ? P::OGT : P::OLT, v[1], v[0]);
        const mlir::Value equal = s.make<arith::CmpFOp>(P::OEQ, v[1], v[0]);
        const mlir::Value first = s.make<arith::CmpFOp>(P::UNE, v[2], s.constant(0));
        return oneWhere(s, s.make<arith::OrIOp>(beats, s.make<arith::AndIOp>(equal, first)));
      });
  const Tensor place = node.emit.reduce(ir::Monoid::Sum, before, {axis + 1}, false);
  // Results along `axis`, elements behind it.
  Shape wide(rank, 1);
  wide[axis] = count(node);
  const Tensor chosen =
      node.emit.pointwise({countAlong(axis, rank, count(node)), node.emit.unsqueeze(place, {axis})},
                          [](const Scalars &s, mlir::ValueRange v) {
                            return oneWhere(s, s.make<arith::CmpFOp>(P::OEQ, v[0], v[1]));
                          });
  Tensor values = chosenAlong(node.emit, chosen, other, axis + 1);
  values.type = x.type;
  values.range = x.range;
  node.result(std::move(values));
  if (!node.wants(1))
    return;
  Tensor indices = chosenAlong(node.emit, chosen, countAlong(axis + 1, rank, extent), axis + 1);
  indices.type = onnx::TensorProto::INT64;
  indices.range = IntegerRange{0, static_cast<double>(extent - 1)};
  node.result(1, std::move(indices));
}

/// Where all is known.
void evaluateTopK(NodeBuilder &node) {
  const HostTensor &x = *node.in(0).known;
  const int64_t axis = axisOf(node), extent = x.shape[axis], run = stridesOf(x.shape)[axis];
  const KnownOrder before{x, !wantsLargest(node)};
  HostTensor indices{onnx::TensorProto::INT64, x.shape, {}, {}};
  indices.shape[axis] = count(node);
  indices.ints.resize(x.size() / extent * count(node));
  std::vector<int64_t> places(extent), from(indices.ints.size());
  for (int64_t i = 0; i < x.size() / extent; ++i) {
    const int64_t first = i / run * run * extent + i % run;
    std::iota(places.begin(), places.end(), 0);
    std::ranges::sort(places, [&](int64_t one, int64_t other) { // of equal ones the earlier first
      const int64_t a = first + one * run, b = first + other * run;
      return before(a, b) || (!before(b, a) && one < other);
    });
    for (int64_t place = 0; place < count(node); ++place) {
      const int64_t to = (i / run * count(node) + place) * run + i % run;
      indices.ints[to] = places[place];
      from[to] = first + places[place] * run;
    }
  }
  node.result(Tensor::ofKnown(x.select(indices.shape, [&](int64_t flat) { return from[flat]; })));
  node.result(1, Tensor::ofKnown(std::move(indices)));
}

Operator topK(bool hasInput, bool hasOrder) {
  Operator entry;
  entry.name = "TopK";
  entry.form = "few results: reduce argmax and max, map: leaves it out, again; otherwise map: "
               "comes before, reduce sum: "
               "the rank of every element; map: by rank, reduce max";
  entry.inputs = {{"X", hasOrder ? Types::Numeric : Types::Float}};
  entry.outputs = {{"Values"}, {"Indices", Presence::Optional}};
  entry.attributes = {{"axis", AttributeKind::Int, int64_t{-1}}};
  if (hasInput)
    entry.inputs.push_back({"K", Types::Integer, Presence::Required, true});
  else
    entry.attributes.push_back({"k", AttributeKind::Int, std::nullopt, true});
  if (hasOrder) {
    entry.attributes.push_back({"largest", AttributeKind::Int, int64_t{1}, false, {0, 1}});
    entry.attributes.push_back({"sorted", AttributeKind::Int, int64_t{1}, false, {0, 1}});
  }
  entry.requirements = {
      axisInRange("X"),
      {"'k' must be a single number from 1 to the extent of 'axis'",
       [](const NodeView &node) -> std::string {
         if (!node.given("k") && node.in(1).known->size() != 1)
           return "shape " + shapeText(node.in(1).shape);
         const int64_t extent = node.in(0).shape[axisOf(node)];
         return count(node) >= 1 && count(node) <= extent
                    ? ""
                    : fmt::format("{} for extent {}", count(node), extent);
       },
       kShapes},
      fewEnough("'axis'", [](const NodeView &node) { return node.in(0).shape[axisOf(node)]; })};
  entry.build = buildTopK;
  entry.evaluate = evaluateTopK;
  return entry;
}

} // namespace

void addOrdering(OperatorTable &table) {
  table.add({1, 11}, hardmax(true));
  table.add({13}, hardmax(false));
  table.add({1}, topK(false, false));
  table.add({10}, topK(true, false));
  table.add({11, 24}, topK(true, true));
}

} // namespace sluice::frontend::ops
