// GatherElements, GatherND, ScatterElements, ScatterND, Compress, ReverseSequence with indices
// known at import; OneHot of indices known or not.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "compiler/frontend/onnx/ops/common.h"
#include "compiler/frontend/onnx/ops/families.h"
#include "compiler/frontend/onnx/ops/selecting.h"

namespace sluice::frontend::ops {
namespace {

namespace arith = mlir::arith;

int64_t fromFront(int64_t index, int64_t extent) { return index < 0 ? index + extent : index; }

/// "7 at extent 3" of the first index outside [-extent, extent-1].
std::string outside(const std::vector<int64_t> &indices, int64_t extent) {
  for (const int64_t index : indices)
    if (index < -extent || index >= extent)
      return fmt::format("{} at extent {}", index, extent);
  return "";
}

int64_t axisOf(const NodeView &node) { return node.axis(node.integer("axis"), node.in(0).rank()); }

/// Requires the indices of input 1 to be places along 'axis'.
Requirement indicesInRange() {
  return {"the indices are in [-extent, extent-1] of 'axis'",
          [](const NodeView &node) {
            return outside(node.knownInts(1), node.in(0).shape[axisOf(node)]);
          },
          "E0206"};
}

/// Requires 'indices' to have the rank of 'data' and no greater extents, but along 'axis'.
Requirement indicesFit() {
  return {"input 'indices' has the rank of 'data', at least one element, and no larger extents but "
          "along 'axis'",
          [](const NodeView &node) -> std::string {
            const Shape &data = node.in(0).shape, &indices = node.in(1).shape;
            bool fits = data.size() == indices.size() && elementCount(indices, kMaxElements) > 0;
            for (size_t i = 0; fits && i < data.size(); ++i)
              fits = indices[i] <= data[i] || static_cast<int64_t>(i) == axisOf(node);
            return fits ? "" : shapeText(indices) + " for " + shapeText(data);
          },
          "E0206"};
}

/// The part of `x` that has the extents of `shape`, but along `axis` its own.
Tensor cropped(Emitter &emit, const Tensor &x, Shape shape, int64_t axis) {
  shape[axis] = x.shape[axis];
  return emit.slice(x, Shape(shape.size(), 0), shape, Shape(shape.size(), 1));
}

/// `shape` with `extent` inserted before `axis`.
Shape with(Shape shape, int64_t axis, int64_t extent) {
  shape.insert(shape.begin() + axis, extent);
  return shape;
}

/// For every index a row of its own, in which it is compared with the places along the axis.
void buildGatherElements(NodeBuilder &node) {
  const int64_t axis = axisOf(node);
  const Shape &shape = node.in(1).shape;
  const Tensor data = cropped(node.emit, node.in(0), shape, axis);
  const int64_t extent = data.shape[axis], inner = extentProduct(shape, axis + 1, shape.size());
  const std::vector<int64_t> &indices = node.knownInts(1);
  const Tensor chosen = mask(with(shape, axis + 1, extent), [&](int64_t flat) {
    const int64_t place = flat / inner % extent;
    return fromFront(indices[flat / (inner * extent) * inner + flat % inner], extent) == place;
  });
  node.result(chosenAlong(node.emit, chosen, node.emit.unsqueeze(data, {axis}), axis + 1));
}

void evaluateGatherElements(NodeBuilder &node) {
  const int64_t axis = axisOf(node);
  const Shape &shape = node.in(1).shape, &from = node.in(0).shape;
  const Shape strides = stridesOf(from);
  node.result(Tensor::ofKnown(node.in(0).known->select(shape, [&](int64_t flat) {
    int64_t source = 0, rest = flat;
    for (size_t i = shape.size(); i-- > 0; rest /= shape[i])
      source += (static_cast<int64_t>(i) == axis ? fromFront(node.knownInts(1)[flat], from[axis])
                                                 : rest % shape[i]) *
                strides[i];
    return source;
  })));
}

Operator gatherElements() {
  Operator entry;
  entry.name = "GatherElements";
  entry.form = "map: the chosen element, else the lowest number; then reduce max";
  entry.inputs = {{"data", Types::Any}, {"indices", Types::Integer, Presence::Required, true}};
  entry.outputs = {{"output"}};
  entry.attributes = {{"axis", AttributeKind::Int, int64_t{0}}};
  entry.requirements = {axisInRange("data"), indicesFit(), indicesInRange()};
  entry.build = buildGatherElements;
  entry.evaluate = evaluateGatherElements;
  return entry;
}

int64_t batchAxes(const NodeView &node) {
  return node.given("batch_dims") ? node.integer("batch_dims") : 0;
}

/// Of indices [..., m] into the m axes of `extents` from `first` on, the flat place of each;
/// empty if one is outside, which `found` names.
std::vector<int64_t> flatPlaces(const NodeView &node, const Shape &extents, size_t first,
                                std::string &found) {
  const std::vector<int64_t> &indices = node.knownInts(1);
  const int64_t depth = node.in(1).shape.back();
  std::vector<int64_t> places;
  for (size_t at = 0; at < indices.size(); at += depth) {
    int64_t place = 0;
    for (int64_t i = 0; i < depth; ++i) {
      const int64_t extent = extents[first + i];
      found = outside({indices[at + i]}, extent);
      if (!found.empty())
        return {};
      place = place * extent + fromFront(indices[at + i], extent);
    }
    places.push_back(place);
  }
  return places;
}

/// Requires the last axis of 'indices' to count axes of 'data' behind the batch.
Requirement depthFits() {
  return {"the last extent of input 'indices' is at least 1, and 'data' has as many axes behind "
          "those of the batch, which both share",
          [](const NodeView &node) -> std::string {
            const Shape &data = node.in(0).shape, &indices = node.in(1).shape;
            const int64_t batch = batchAxes(node);
            const auto shared = [&] {
              return std::equal(data.begin(), data.begin() + batch, indices.begin());
            };
            const bool fits = batch >= 0 && batch < node.in(1).rank() &&
                              batch < node.in(0).rank() &&
                              elementCount(indices, kMaxElements) > 0 && indices.back() >= 1 &&
                              indices.back() + batch <= node.in(0).rank() && shared();
            return fits ? "" : shapeText(indices) + " for " + shapeText(data);
          },
          "E0206"};
}

Requirement placesInRange() {
  return {"the indices are in [-extent, extent-1] of their axes",
          [](const NodeView &node) {
            std::string found;
            flatPlaces(node, node.in(0).shape, batchAxes(node), found);
            return found;
          },
          "E0206"};
}

/// The indexed axes, those of the batch too, become one; along it the places are gathered.
Operator gatherND(bool batched) {
  Operator entry;
  entry.name = "GatherND";
  entry.form = "reshape, slices, concat and reshape";
  entry.inputs = {{"data", Types::Any}, {"indices", Types::Integer, Presence::Required, true}};
  entry.outputs = {{"output"}};
  if (batched)
    entry.attributes = {{"batch_dims", AttributeKind::Int, int64_t{0}}};
  entry.requirements = {depthFits(), placesInRange()};
  entry.build = [](NodeBuilder &node) {
    const Shape &data = node.in(0).shape, &indices = node.in(1).shape;
    const int64_t batch = batchAxes(node), last = batch + indices.back();
    std::string unused;
    std::vector<int64_t> places = flatPlaces(node, data, batch, unused);
    const int64_t each = extentProduct(data, batch, last);
    const int64_t batches = extentProduct(data, 0, batch);
    const int64_t count = static_cast<int64_t>(places.size()) / batches;
    for (size_t i = 0; i < places.size(); ++i)
      places[i] += static_cast<int64_t>(i) / count * each;
    Shape flat = {batches * each}, to(indices.begin(), indices.end() - 1);
    flat.insert(flat.end(), data.begin() + last, data.end());
    to.insert(to.end(), data.begin() + last, data.end());
    const Tensor rows = node.emit.reshape(node.in(0), flat);
    node.result(node.emit.reshape(gathered(node.emit, rows, places, 0), to));
  };
  return entry;
}

/// How updates meet what is there.
struct Combination {
  const char *name;
  ir::Monoid monoid;
  float neutral;
};

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr Combination kCombinations[] = {{"none", ir::Monoid::Sum, 0},
                                         {"add", ir::Monoid::Sum, 0},
                                         {"mul", ir::Monoid::Product, 1},
                                         {"max", ir::Monoid::Max, -kInfinity},
                                         {"min", ir::Monoid::Min, kInfinity}};

const std::string &combinationName(const NodeView &node) {
  static const std::string none = "none";
  return node.given("reduction") ? node.attribute<std::string>("reduction") : none;
}

Requirement combinationKnown(bool extremes) {
  const char *const sentence = extremes
                                   ? "attribute 'reduction' is 'none', 'add', 'mul', 'max' or 'min'"
                                   : "attribute 'reduction' is 'none', 'add' or 'mul'";
  return {sentence,
          [extremes](const NodeView &node) -> std::string {
            const size_t count = extremes ? 5 : 3;
            const bool known =
                std::any_of(kCombinations, kCombinations + count, [&](const Combination &one) {
                  return combinationName(node) == one.name;
                });
            return known ? "" : inQuotes(combinationName(node));
          },
          "E0206"};
}

/// `updates` [..., count, ...] put to places along `axis` of `data`: update `u` goes to where
/// `goes` [..., count, extent, ...] is 1. Without a combination the last one that goes to a
/// place stays, which `goes` must say.
Tensor scattered(NodeBuilder &node, const Tensor &data, const Tensor &updates, const Tensor &goes,
                 int64_t axis) {
  const Combination &by =
      *std::find_if(std::begin(kCombinations), std::end(kCombinations),
                    [&](const Combination &one) { return combinationName(node) == one.name; });
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
  const int64_t axis = axisOf(node);
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

Requirement updatesLikeIndices() {
  return {"input 'updates' has the shape of 'indices' and the type of 'data'",
          [](const NodeView &node) -> std::string {
            return node.in(2).shape == node.in(1).shape && node.in(2).type == node.in(0).type
                       ? ""
                       : fmt::format("{} {} for {}, and {}", dataTypeName(node.in(2).type),
                                     shapeText(node.in(2).shape), shapeText(node.in(1).shape),
                                     dataTypeName(node.in(0).type));
          },
          "E0206"};
}

Operator scatterElements(const char *name) {
  Operator entry;
  entry.name = name;
  entry.form = "map: the updates of a place, reduce over them, map: with what is there";
  entry.inputs = {{"data"}, {"indices", Types::Integer, Presence::Required, true}, {"updates"}};
  entry.outputs = {{"output"}};
  entry.attributes = {{"axis", AttributeKind::Int, int64_t{0}}};
  entry.requirements = {axisInRange("data"), indicesFit(), indicesInRange(), updatesLikeIndices()};
  entry.build = buildScatterElements;
  return entry;
}

/// With the attribute 'reduction', from opset 18 on with extremes.
Operator withCombination(Operator entry, bool extremes) {
  entry.attributes.push_back({"reduction", AttributeKind::String, std::string("none")});
  entry.requirements.push_back(combinationKnown(extremes));
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

Operator scatterND() {
  Operator entry;
  entry.name = "ScatterND";
  entry.form = "reshape, map: the updates of a place, reduce over them, map: with what is there";
  entry.inputs = {{"data"}, {"indices", Types::Integer, Presence::Required, true}, {"updates"}};
  entry.outputs = {{"output"}};
  entry.requirements = {depthFits(),
                        placesInRange(),
                        {"input 'updates' has the axes of 'indices' before the last, then those of "
                         "'data' that are not indexed",
                         [](const NodeView &node) -> std::string {
                           const Shape &data = node.in(0).shape, &indices = node.in(1).shape;
                           Shape wanted(indices.begin(), indices.end() - 1);
                           wanted.insert(wanted.end(), data.begin() + indices.back(), data.end());
                           return node.in(2).shape == wanted
                                      ? ""
                                      : shapeText(node.in(2).shape) + ", not " + shapeText(wanted);
                         },
                         "E0206"}};
  entry.build = buildScatterND;
  return entry;
}

std::optional<int64_t> compressedAxis(const NodeView &node) {
  if (!node.given("axis"))
    return std::nullopt;
  return axisOf(node);
}

std::vector<int64_t> truePlaces(const NodeView &node) {
  std::vector<int64_t> places;
  const std::vector<int64_t> &condition = node.knownInts(1);
  for (size_t i = 0; i < condition.size(); ++i)
    if (condition[i] != 0)
      places.push_back(static_cast<int64_t>(i));
  return places;
}

Operator compress() {
  Operator entry;
  entry.name = "Compress";
  entry.form = "slices, then concat; of the elements in one row without 'axis'";
  entry.inputs = {{"input", Types::Any}, {"condition", Types::Any, Presence::Required, true}};
  entry.outputs = {{"output"}};
  entry.attributes = {{"axis", AttributeKind::Int}};
  entry.requirements = {
      {"attribute 'axis', if given, is in [-rank, rank-1] of input 'input'",
       [](const NodeView &node) -> std::string {
         return node.given("axis") ? axesProblem({node.integer("axis")}, node.in(0).rank()) : "";
       },
       "E0206"},
      {"input 'condition' is bool, has rank 1 and no more elements than there are to choose from, "
       "one of them true",
       [](const NodeView &node) -> std::string {
         const auto axis = compressedAxis(node);
         const int64_t most =
             axis ? node.in(0).shape[*axis] : elementCount(node.in(0).shape, kMaxElements);
         const bool fits = node.in(1).type == onnx::TensorProto::BOOL && node.in(1).rank() == 1 &&
                           node.in(1).shape[0] <= most && !truePlaces(node).empty();
         return fits ? ""
                     : fmt::format("{} {} for {}", dataTypeName(node.in(1).type),
                                   shapeText(node.in(1).shape), shapeText(node.in(0).shape));
       },
       "E0206"}};
  entry.build = [](NodeBuilder &node) {
    const auto axis = compressedAxis(node);
    const Tensor x =
        axis ? node.in(0)
             : node.emit.reshape(node.in(0), {elementCount(node.in(0).shape, kMaxElements)});
    node.result(gathered(node.emit, x, truePlaces(node), axis.value_or(0)));
  };
  return entry;
}

void buildReverseSequence(NodeBuilder &node) {
  const Tensor &x = node.in(0);
  const int64_t time = node.integer("time_axis"), batch = node.integer("batch_axis");
  std::vector<Tensor> parts;
  for (int64_t b = 0; b < x.shape[batch]; ++b) {
    std::vector<int64_t> order(x.shape[time]);
    std::iota(order.begin(), order.end(), 0);
    std::reverse(order.begin(), order.begin() + node.knownInts(1)[b]);
    parts.push_back(gathered(node.emit, sliceAlong(node.emit, x, batch, b, 1), order, time));
  }
  node.result(node.emit.concat(parts, batch));
}

Operator reverseSequence() {
  Operator entry;
  entry.name = "ReverseSequence";
  entry.form = "slices, then concats";
  entry.inputs = {{"input", Types::Any},
                  {"sequence_lens", Types::Integer, Presence::Required, true}};
  entry.outputs = {{"Y"}};
  entry.attributes = {{"batch_axis", AttributeKind::Int, int64_t{1}, false, {0, 1}},
                      {"time_axis", AttributeKind::Int, int64_t{0}, false, {0, 1}}};
  entry.requirements = {
      {"input 'input' has rank 2 or more, and 'batch_axis' is not 'time_axis'",
       [](const NodeView &node) -> std::string {
         return node.in(0).rank() >= 2 && node.integer("batch_axis") != node.integer("time_axis")
                    ? ""
                    : fmt::format("{}, axes {} and {}", shapeText(node.in(0).shape),
                                  node.integer("batch_axis"), node.integer("time_axis"));
       },
       "E0206"},
      {"input 'sequence_lens' has one element per batch, in [0, extent of 'time_axis']",
       [](const NodeView &node) -> std::string {
         const Shape &shape = node.in(0).shape;
         const int64_t most = shape[node.integer("time_axis")];
         if (node.in(1).shape != Shape{shape[node.integer("batch_axis")]})
           return shapeText(node.in(1).shape) + " for " + shapeText(shape);
         for (const int64_t length : node.knownInts(1))
           if (length < 0 || length > most)
             return fmt::format("{} of {}", length, most);
         return "";
       },
       "E0206"}};
  entry.build = buildReverseSequence;
  return entry;
}

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

/// Compares every index with the places of an axis of its own; a negative one counts from the
/// end.
void buildOneHot(NodeBuilder &node) {
  const int64_t rank = node.in(0).rank() + 1, depth = *depthOf(node);
  const int64_t axis = node.axis(node.integer("axis"), rank);
  const Tensor values = asFloats(node.in(2));
  const float off = values.known->floats[0], on = values.known->floats[1];
  const Tensor indices = node.emit.unsqueeze(asFloats(node.in(0)), {axis});
  Tensor hot = node.emit.pointwise(
      {indices, countAlong(axis, rank, depth)}, [&](const Scalars &s, mlir::ValueRange v) {
        const auto equals = [&](mlir::Value place) {
          return s.make<arith::CmpFOp>(arith::CmpFPredicate::OEQ, v[0], place);
        };
        const mlir::Value low = s.sub(v[1], s.constant(static_cast<float>(depth)));
        return s.make<arith::SelectOp>(s.make<arith::OrIOp>(equals(v[1]), equals(low)),
                                       s.constant(on), s.constant(off));
      });
  hot.type = node.in(2).type;
  node.result(std::move(hot));
}

Operator oneHot() {
  Operator entry;
  entry.name = "OneHot";
  entry.form = "map: index == place or index == place - depth ? on : off";
  entry.inputs = {{"indices", Types::Numeric},
                  {"depth", Types::Numeric, Presence::Required, true},
                  {"values", Types::Numeric, Presence::Required, true}};
  entry.outputs = {{"output"}};
  entry.attributes = {{"axis", AttributeKind::Int, int64_t{-1}}};
  entry.requirements = {
      {"input 'depth' is one whole number in [1, 256], up to which bf16 has every integer",
       [](const NodeView &node) -> std::string {
         if (depthOf(node))
           return "";
         const HostTensor &depth = *node.in(1).known;
         return depth.size() != 1 ? "the shape " + shapeText(depth.shape)
                : depth.isFloat() ? fmt::format("{}", depth.floats[0])
                                  : fmt::format("{}", depth.ints[0]);
       }},
      {"input 'values' has two elements",
       [](const NodeView &node) -> std::string {
         return node.in(2).shape == Shape{2} ? "" : shapeText(node.in(2).shape);
       },
       "E0206"},
      {"attribute 'axis' is in [-rank-1, rank] of input 'indices'",
       [](const NodeView &node) {
         return axesProblem({node.integer("axis")}, node.in(0).rank() + 1);
       },
       "E0206"}};
  entry.build = buildOneHot;
  return entry;
}

} // namespace

void addIndexing(OperatorTable &table) {
  table.add({11, 13}, gatherElements());
  table.add({11}, gatherND(false));
  table.add({12, 13}, gatherND(true));
  table.add({9}, scatterElements("Scatter"));
  table.add({11, 13}, scatterElements("ScatterElements"));
  table.add({16}, withCombination(scatterElements("ScatterElements"), false));
  table.add({18}, withCombination(scatterElements("ScatterElements"), true));
  table.add({11, 13}, scatterND());
  table.add({16}, withCombination(scatterND(), false));
  table.add({18}, withCombination(scatterND(), true));
  table.add({9, 11}, compress());
  table.add({10}, reverseSequence());
  table.add({9, 11}, oneHot());
}

} // namespace sluice::frontend::ops
