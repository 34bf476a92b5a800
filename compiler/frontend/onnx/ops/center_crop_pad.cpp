// CenterCropPad: the middle of an axis that is too long, zeros around one that is too short.
#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "compiler/frontend/onnx/ops/borders.h"
#include "compiler/frontend/onnx/ops/common.h"
#include "compiler/frontend/onnx/ops/families.h"

namespace sluice::frontend::ops {
namespace {

std::vector<int64_t> axesOf(const NodeView &node) {
  if (node.given("axes"))
    return node.integers("axes");
  std::vector<int64_t> all(node.in(0).rank());
  std::iota(all.begin(), all.end(), 0);
  return all;
}

/// Where an odd element is left over it is behind.
void build(NodeBuilder &node) {
  const Tensor &x = node.in(0);
  const size_t rank = x.shape.size();
  const std::vector<int64_t> axes = axesOf(node);
  Shape starts(rank, 0), kept = x.shape, low(rank, 0), high(rank, 0);
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t axis = node.axis(axes[i], x.rank()), extent = x.shape[axis];
    const int64_t wanted = node.knownInts(1)[i];
    kept[axis] = std::min(extent, wanted);
    starts[axis] = (extent - kept[axis]) / 2;
    low[axis] = (wanted - kept[axis]) / 2;
    high[axis] = wanted - kept[axis] - low[axis];
  }
  const Tensor middle = node.emit.slice(x, starts, kept, Shape(rank, 1));
  node.result(withBorder(node.emit, middle, low, high, 0, 0));
}

} // namespace

void addCenterCropPad(OperatorTable &table) {
  Operator entry;
  entry.name = "CenterCropPad";
  entry.form = "slice of the axes that are too long, pad of the axes that are too short";
  entry.inputs = {{"input_data", Types::Any}, {"shape", Types::Integer, Presence::Required, true}};
  entry.outputs = {{"output_data"}};
  entry.attributes = {{"axes", AttributeKind::Ints}};
  entry.requirements = {
      {"attribute 'axes', if given, must be distinct axes of 'input_data'",
       [](const NodeView &node) { return axesProblem(axesOf(node), node.in(0).rank()); }, kShapes},
      {fmt::format("input 'shape' must have one element per axis, in [1, {}]", kMaxElements),
       [](const NodeView &node) -> std::string {
         const std::vector<int64_t> &shape = node.knownInts(1);
         const bool fits = shape.size() == axesOf(node).size() &&
                           std::all_of(shape.begin(), shape.end(), [](int64_t extent) {
                             return extent >= 1 && extent <= kMaxElements;
                           });
         return fits ? "" : fmt::format("{} for {} axes", shapeText(shape), axesOf(node).size());
       },
       kShapes}};
  entry.build = build;
  table.add({18}, std::move(entry));
}

} // namespace sluice::frontend::ops
