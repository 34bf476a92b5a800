// ScatterElements, ScatterND: updates put to places that are known at import.
#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "compiler/frontend/onnx/ops/common.h"
#include "compiler/frontend/onnx/ops/families.h"
#include "compiler/frontend/onnx/ops/indices.h"
#include "compiler/frontend/onnx/ops/selecting.h"

namespace sluice::frontend::ops {
namespace {

namespace arith = mlir::arith;

/// How updates meet what is there.
struct Combination {
  const char *name;
  ir::Monoid monoid;
  float neutral;
  int64_t (*ofIntegers)(int64_t there, int64_t update);
};

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr Combination kCombinations[] = {
    {"none", ir::Monoid::Sum, 0, [](int64_t, int64_t update) { return update; }},
    {"add", ir::Monoid::Sum, 0,
     [](int64_t there, int64_t update) {
       return static_cast<int64_t>(static_cast<uint64_t>(there) + static_cast<uint64_t>(update));
     }},
    {"mul", ir::Monoid::Product, 1,
     [](int64_t there, int64_t update) {
       return static_cast<int64_t>(static_cast<uint64_t>(there) * static_cast<uint64_t>(update));
     }},
    {"max", ir::Monoid::Max, -kInfinity,
     [](int64_t there, int64_t update) { return std::max(there, update); }},
    {"min", ir::Monoid::Min, kInfinity,
     [](int64_t there, int64_t update) { return std::min(there, update); }}};

const std::string &combinationName(const NodeView &node) {
  static const std::string none = "none";
  return node.given("reduction") ? node.attribute<std::string>("reduction") : none;
}

const Combination &combination(const NodeView &node) {
  return *std::ranges::find_if(
      kCombinations, [&](const Combination &one) { return combinationName(node) == one.name; });
}

Requirement combinationKnown(bool extremes) {
  const char *const sentence =
      extremes ? "attribute 'reduction' must be 'none', 'add', 'mul', 'max' or 'min'"
               : "attribute 'reduction' must be 'none', 'add' or 'mul'";
  return {sentence,
          [extremes](const NodeView &node) -> std::string {
            const size_t count = extremes ? 5 : 3;
            const bool known =
                std::any_of(kCombinations, kCombinations + count, [&](const Combination &one) {
                  return combinationName(node) == one.name;
                });
            return known ? "" : inQuotes(combinationName(node));
          },
          kShapes};
}

/// `updates` [..., count, ...] put to places along `axis` of `data`: update `u` goes to where
/// `goes` [..., count, extent, ...] is 1. Without a combination the last one that goes to a
/// place stays, which `goes` must say.
Tensor scattered(NodeBuilder &node, const Tensor &data, const Tensor &updates, const Tensor &goes,
                 int64_t axis) {
  const Combination &by = combination(node);
  const Tensor spread = node.emit.pointwise(
      {node.emit.unsqueeze(updates, {axis + 1}), goes}, [&](const Scalars &s, mlir::ValueRange v) {
        const mlir::Value test =
            s.make<arith::CmpFOp>(arith::CmpFPredicate::UNE, v[1], s.constant(0));
        return s.make<arith::SelectOp>(test, v[0], s.constant(by.neutral));
      });
  const Tensor folded = node.emit.reduce(by.monoid, spread, {axis}, false);
  if (std::string_view(by.name) != "none")
    return node.emit.pointwise({data, folded}, [&](const Scalars &s, mlir::ValueRange v) {
      switch (by.monoid) {
      case ir::Monoid::Sum:
        return s.add(v[0], v[1]);
      case ir::Monoid::Product:
        return s.mul(v[0], v[1]);
      case ir::Monoid::Max:
        return s.make<arith::MaximumFOp>(v[0], v[1]);
      default:
        return s.make<arith::MinimumFOp>(v[0], v[1]);
      }
    });
  Shape shape = goes.shape;
  const int64_t count = shape[axis];
  shape.erase(shape.begin() + axis);
  const int64_t inner = extentProduct(shape, axis, shape.size());
  const Tensor hit = mask(shape, [&](int64_t flat) {
    for (int64_t u = 0; u < count; ++u)
      if (goes.known->floats[(flat / inner * count + u) * inner + flat % inner] != 0)
        return true;
    return false;
  });
  return node.emit.pointwise({data, folded, hit}, [](const Scalars &s, mlir::ValueRange v) {
    const mlir::Value test = s.make<arith::CmpFOp>(arith::CmpFPredicate::UNE, v[2], s.constant(0));
    return s.make<arith::SelectOp>(test, v[1], v[0]);
  });
}

/// Where the updates go: the first of `places` that a later one overwrites is left out unless
/// they are combined.
void buildScatterElements(NodeBuilder &node) {
  const int64_t axis = indexedAxis(node);
  const Shape &data = node.in(0).shape, &given = node.in(1).shape;
  Shape shape = data; // of indices and updates, bordered with what goes nowhere
  shape[axis] = given[axis];
  const int64_t extent = data[axis], count = given[axis];
  const Shape strides = stridesOf(given);
  const bool last = combinationName(node) == "none";
  const Shape wide = with(shape, axis + 1, extent);
  const Tensor goes = mask(wide, [&](int64_t flat) {
    int64_t at = 0, place = 0, update = 0;
    for (size_t i = wide.size(); i-- > 0; flat /= wide[i]) {
      const int64_t here = flat % wide[i];
      const auto axisHere = static_cast<int64_t>(i);
      if (axisHere == axis + 1) {
        place = here;
        continue;
      }
      const size_t own = axisHere > axis ? i - 1 : i;
      if (here >= given[own])
        return false;
      if (axisHere == axis)
        update = here;
      at += here * strides[own];
    }
    const std::vector<int64_t> &indices = node.knownInts(1);
    if (fromFront(indices[at], extent) != place)
      return false;
    for (int64_t later = update + 1; last && later < count; ++later)
      if (fromFront(indices[at + (later - update) * strides[axis]], extent) == place)
        return false;
    return true;
  });
  Shape high = shape;
  for (size_t i = 0; i < high.size(); ++i)
    high[i] -= given[i];
  const Tensor updates = node.emit.pad(node.in(2), Shape(shape.size(), 0), high, 0);
  node.result(scattered(node, node.in(0), updates, goes, axis));
}

/// Integers that are known, in their type: update `u` goes to the flat place placeOf(u).
template <typename PlaceOf> void scatterIntegers(NodeBuilder &node, PlaceOf placeOf) {
  HostTensor out = *node.in(0).known;
  const HostTensor &updates = *node.in(2).known;
  for (int64_t u = 0; u < updates.size(); ++u) {
    int64_t &there = out.ints[placeOf(u)];
    there = wrapToType(combination(node).ofIntegers(there, updates.ints[u]), out.type);
  }
  node.result(Tensor::ofKnown(std::move(out)));
}

void evaluateScatterElements(NodeBuilder &node) {
  if (node.in(0).known->isFloat()) {
    buildScatterElements(node);
    return;
  }
  const int64_t axis = indexedAxis(node);
  const Shape &data = node.in(0).shape, &given = node.in(1).shape;
  const Shape strides = stridesOf(data);
  scatterIntegers(node, [&](int64_t update) {
    int64_t place = 0, rest = update;
    for (size_t i = given.size(); i-- > 0; rest /= given[i])
      place += (static_cast<int64_t>(i) == axis ? fromFront(node.knownInts(1)[update], data[axis])
                                                : rest % given[i]) *
               strides[i];
    return place;
  });
}

/// Of integers that are not known: what places may have after all updates.
IntegerRange scatteredRange(const NodeView &node) {
  const IntegerRange there = rangeOf(node.in(0)), update = rangeOf(node.in(2));
  const std::string &by = combinationName(node);
  if (by == "add")
    return there + joined(update, {0, 0}).times(elementCount(node.in(2).shape, kMaxElements));
  if (by == "mul") // at most all updates go to one place
    return there * joined(update, {1, 1}).power(elementCount(node.in(2).shape, kMaxElements));
  return joined(there, update);
}

Requirement updatesLikeIndices() {
  return {"input 'updates' must have the shape of 'indices' and the type of 'data'",
          [](const NodeView &node) -> std::string {
            return node.in(2).shape == node.in(1).shape && node.in(2).type == node.in(0).type
                       ? ""
                       : fmt::format("{} {} for {}, and {}", dataTypeName(node.in(2).type),
                                     shapeText(node.in(2).shape), shapeText(node.in(1).shape),
                                     dataTypeName(node.in(0).type));
          },
          kShapes};
}

Operator scatterElements(const char *name) {
  Operator entry;
  entry.name = name;
  entry.form = "map: the updates of an element, reduce over them, map: with the element of 'data'";
  entry.inputs = {{"data", Types::Any},
                  {"indices", Types::Integer, Presence::Required, true},
                  {"updates", Types::Any}};
  entry.outputs = {{"output"}};
  entry.attributes = {{"axis", AttributeKind::Int, int64_t{0}}};
  entry.requirements = {axisInRange("data"), indicesFit(), indicesInRange(), updatesLikeIndices()};
  entry.build = buildScatterElements;
  entry.evaluate = evaluateScatterElements;
  entry.integers = {IntegerRule::Kind::Selected, scatteredRange};
  return entry;
}

/// With the attribute 'reduction', from opset 18 on with extremes.
Operator withCombination(Operator entry, bool extremes) {
  entry.attributes.push_back({"reduction", AttributeKind::String, std::string("none")});
  entry.requirements.push_back(combinationKnown(extremes));
  entry.requirements.push_back(
      {fmt::format("run-time sums and products of integers must fit their type and lie in [-{0}, "
                   "{0}], where bf16 is exact",
                   kMostExact),
       [](const NodeView &node) -> std::string {
         const bool isKnown = node.in(0).known && node.in(2).known;
         const std::string &by = combinationName(node);
         if (isFloatType(node.in(0).type) || isKnown || (by != "add" && by != "mul"))
           return "";
         const IntegerRange range = scatteredRange(node);
         return range.magnitude() <= kMostExact && range.isIn(rangeOf(node.in(0).type))
                    ? ""
                    : fmt::format("{} {}", dataTypeName(node.in(0).type), rangeText(range));
       }});
  return entry;
}

void buildScatterND(NodeBuilder &node) {
  const Shape &data = node.in(0).shape, &indices = node.in(1).shape;
  std::string unused;
  const std::vector<int64_t> places = flatPlaces(node, data, 0, unused);
  const auto count = static_cast<int64_t>(places.size());
  const int64_t extent = extentProduct(data, 0, indices.back());
  const Shape rest(data.begin() + indices.back(), data.end());
  const auto inRows = [&](const Tensor &x, int64_t rows) {
    return node.emit.reshape(x, with(rest, 0, rows));
  };
  const bool last = combinationName(node) == "none";
  Shape shape(rest.size() + 2, 1);
  shape[0] = count;
  shape[1] = extent;
  const Tensor goes = mask(shape, [&](int64_t flat) {
    const int64_t update = flat / extent;
    return places[update] == flat % extent &&
           (!last ||
            std::find(places.begin() + update + 1, places.end(), flat % extent) == places.end());
  });
  const Tensor result =
      scattered(node, inRows(node.in(0), extent), inRows(node.in(2), count), goes, 0);
  node.result(node.emit.reshape(result, data));
}

void evaluateScatterND(NodeBuilder &node) {
  if (node.in(0).known->isFloat()) {
    buildScatterND(node);
    return;
  }
  const Shape &data = node.in(0).shape;
  std::string unused;
  const std::vector<int64_t> places = flatPlaces(node, data, 0, unused);
  const int64_t each = extentProduct(data, node.in(1).shape.back(), data.size());
  scatterIntegers(node,
                  [&](int64_t update) { return places[update / each] * each + update % each; });
}

Operator scatterND() {
  Operator entry;
  entry.name = "ScatterND";
  entry.form =
      "reshape, map: the updates of an element, reduce over them, map: with the element of 'data'";
  entry.inputs = {{"data", Types::Any},
                  {"indices", Types::Integer, Presence::Required, true},
                  {"updates", Types::Any}};
  entry.outputs = {{"output"}};
  entry.requirements = {depthFits(),
                        placesInRange(),
                        {"input 'updates' must have the type of 'data'",
                         [](const NodeView &node) -> std::string {
                           return node.in(2).type == node.in(0).type
                                      ? ""
                                      : fmt::format("{} for {}", dataTypeName(node.in(2).type),
                                                    dataTypeName(node.in(0).type));
                         },
                         kShapes},
                        {"'updates' must have the axes of 'indices' except the last, then the axes "
                         "of 'data' not indexed",
                         [](const NodeView &node) -> std::string {
                           const Shape &data = node.in(0).shape, &indices = node.in(1).shape;
                           Shape wanted(indices.begin(), indices.end() - 1);
                           wanted.insert(wanted.end(), data.begin() + indices.back(), data.end());
                           return node.in(2).shape == wanted
                                      ? ""
                                      : shapeText(node.in(2).shape) + ", not " + shapeText(wanted);
                         },
                         kShapes}};
  entry.build = buildScatterND;
  entry.evaluate = evaluateScatterND;
  entry.integers = {IntegerRule::Kind::Selected, scatteredRange};
  return entry;
}

} // namespace

void addScatter(OperatorTable &table) {
  table.add({9}, scatterElements("Scatter"));
  table.add({11, 13}, scatterElements("ScatterElements"));
  table.add({16}, withCombination(scatterElements("ScatterElements"), false));
  table.add({18}, withCombination(scatterElements("ScatterElements"), true));
  table.add({11, 13}, scatterND());
  table.add({16}, withCombination(scatterND(), false));
  table.add({18}, withCombination(scatterND(), true));
}

} // namespace sluice::frontend::ops
