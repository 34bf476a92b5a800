// NonZero, Unique, EyeLike: known at import. Their shapes depend on what their inputs hold.
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include <fmt/format.h>

#include "compiler/frontend/onnx/ops/common.h"
#include "compiler/frontend/onnx/ops/families.h"

namespace sluice::frontend::ops {
namespace {

Operator nonZero() {
  Operator entry;
  entry.name = "NonZero";
  entry.form = "known at compile time";
  entry.inputs = {{"X", Types::Any, Presence::Required, true}};
  entry.outputs = {{"Y"}};
  entry.build = [](NodeBuilder &node) {
    const HostTensor &x = *node.in(0).known;
    const Shape strides = stridesOf(x.shape);
    std::vector<int64_t> found;
    for (int64_t i = 0; i < x.size(); ++i)
      if (x.isFloat() ? x.floats[i] != 0 : x.ints[i] != 0)
        found.push_back(i);
    std::vector<int64_t> places;
    for (size_t axis = 0; axis < x.shape.size(); ++axis)
      for (const int64_t flat : found)
        places.push_back(flat / strides[axis] % x.shape[axis]);
    node.result(Tensor::ofKnown(HostTensor::ofInts(
        {static_cast<int64_t>(x.shape.size()), static_cast<int64_t>(found.size())},
        std::move(places))));
  };
  return entry;
}

/// Places along an axis, or single elements: each is `run` elements of every one of `outer` blocks.
struct Items {
  const HostTensor &x;
  int64_t outer, count, run;

  int64_t at(int64_t item, int64_t part) const {
    return (part / run * count + item) * run + part % run;
  }
  /// -1, 0 or 1, by the first elements that differ.
  int compare(int64_t a, int64_t b) const {
    for (int64_t part = 0; part < outer * run; ++part) {
      const int64_t i = at(a, part), j = at(b, part);
      const bool less = x.isFloat() ? x.floats[i] < x.floats[j] : x.ints[i] < x.ints[j];
      const bool more = x.isFloat() ? x.floats[j] < x.floats[i] : x.ints[j] < x.ints[i];
      if (less || more)
        return less ? -1 : 1;
    }
    return 0;
  }
};

void buildUnique(NodeBuilder &node) {
  const HostTensor &x = *node.in(0).known;
  const bool along = node.given("axis");
  const int64_t axis = along ? node.axis(node.integer("axis"), node.in(0).rank()) : 0;
  const Items items{x, along ? extentProduct(x.shape, 0, axis) : 1,
                    along ? x.shape[axis] : x.size(),
                    along ? extentProduct(x.shape, axis + 1, x.shape.size()) : 1};
  std::vector<int64_t> order(items.count);
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    const int way = items.compare(a, b);
    return way < 0 || (way == 0 && a < b);
  });
  std::vector<int64_t> first; // of equal ones, in the order of the result
  for (size_t i = 0; i < order.size(); ++i)
    if (i == 0 || items.compare(order[i - 1], order[i]) != 0)
      first.push_back(order[i]);
  const std::vector<int64_t> sorted = first;
  if (node.integer("sorted") == 0)
    std::sort(first.begin(), first.end());
  std::map<int64_t, int64_t> resultOf; // by the first of equal ones
  for (size_t i = 0; i < first.size(); ++i)
    resultOf[first[i]] = static_cast<int64_t>(i);
  std::vector<int64_t> inverse(items.count), counts(first.size(), 0);
  for (int64_t item = 0; item < items.count; ++item) {
    const auto same =
        std::lower_bound(sorted.begin(), sorted.end(), item,
                         [&](int64_t a, int64_t b) { return items.compare(a, b) < 0; });
    inverse[item] = resultOf.at(*same);
    ++counts[inverse[item]];
  }
  const auto distinct = static_cast<int64_t>(first.size());
  Shape shape = along ? x.shape : Shape{distinct};
  if (along)
    shape[axis] = distinct;
  node.result(0, Tensor::ofKnown(x.select(shape, [&](int64_t flat) {
                const int64_t item = first[flat / items.run % distinct];
                return items.at(item, flat / (items.run * distinct) * items.run + flat % items.run);
              })));
  node.result(1, Tensor::ofKnown(HostTensor::ofInts({distinct}, first)));
  node.result(2, Tensor::ofKnown(HostTensor::ofInts({items.count}, inverse)));
  node.result(3, Tensor::ofKnown(HostTensor::ofInts({distinct}, counts)));
}

Operator unique() {
  Operator entry;
  entry.name = "Unique";
  entry.form = "known at compile time";
  entry.inputs = {{"X", Types::Any, Presence::Required, true}};
  entry.outputs = {{"Y"},
                   {"indices", Presence::Optional},
                   {"inverse_indices", Presence::Optional},
                   {"counts", Presence::Optional}};
  entry.attributes = {{"axis", AttributeKind::Int},
                      {"sorted", AttributeKind::Int, int64_t{1}, false, {0, 1}}};
  entry.requirements = {{"attribute 'axis', if given, must be in [-rank, rank-1] of input 'X'",
                         [](const NodeView &node) -> std::string {
                           return node.given("axis")
                                      ? axesProblem({node.integer("axis")}, node.in(0).rank())
                                      : "";
                         },
                         kShapes},
                        {"input 'X' must have elements, and none of them NaN",
                         [](const NodeView &node) -> std::string {
                           const HostTensor &x = *node.in(0).known;
                           if (x.size() == 0)
                             return shapeText(x.shape);
                           return std::any_of(x.floats.begin(), x.floats.end(),
                                              [](float value) { return std::isnan(value); })
                                      ? "NaN"
                                      : "";
                         }}};
  entry.build = buildUnique;
  return entry;
}

Operator eyeLike() {
  Operator entry;
  entry.name = "EyeLike";
  entry.form = "known at compile time";
  entry.inputs = {{"input", Types::Any}};
  entry.outputs = {{"output"}};
  entry.attributes = {{"dtype", AttributeKind::Int}, {"k", AttributeKind::Int, int64_t{0}}};
  const auto typeOf = [](const NodeView &node) -> DataType {
    if (!node.given("dtype"))
      return node.in(0).type;
    const int64_t type = node.integer("dtype");
    return static_cast<DataType>(type >= 0 && type <= 100 ? type : 0);
  };
  entry.requirements = {
      {fmt::format("input 'input' must have rank 2 and at most {} elements", kMostFoldedElements),
       [](const NodeView &node) -> std::string {
         const Shape &shape = node.in(0).shape;
         return shape.size() == 2 && elementCount(shape, kMostFoldedElements) >= 0
                    ? ""
                    : shapeText(shape);
       },
       kShapes},
      {"attribute 'dtype', if given, must be a float, integer or bool type",
       [typeOf](const NodeView &node) -> std::string {
         const DataType type = typeOf(node);
         return isFloatType(type) || isIntegerType(type) ? "" : dataTypeName(type);
       }}};
  entry.build = [typeOf](NodeBuilder &node) {
    const Shape &shape = node.in(0).shape;
    HostTensor out{typeOf(node), shape, {}, {}};
    const int64_t k = std::clamp(node.integer("k"), -shape[0], shape[1]);
    for (int64_t i = 0; i < shape[0] * shape[1]; ++i) {
      const bool one = i % shape[1] == i / shape[1] + k;
      if (out.isFloat())
        out.floats.push_back(one ? 1.0F : 0.0F);
      else
        out.ints.push_back(one ? 1 : 0);
    }
    node.result(Tensor::ofKnown(std::move(out)));
  };
  return entry;
}

} // namespace

void addKnownChoices(OperatorTable &table) {
  table.add({9, 13}, nonZero());
  table.add({11}, unique());
  table.add({9, 22}, eyeLike());
}

} // namespace sluice::frontend::ops
