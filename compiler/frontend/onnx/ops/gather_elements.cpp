// GatherElements, GatherND: elements and parts chosen by indices that are known at import.
#include "compiler/frontend/onnx/ops/common.h"
#include "compiler/frontend/onnx/ops/families.h"
#include "compiler/frontend/onnx/ops/indices.h"
#include "compiler/frontend/onnx/ops/selecting.h"

namespace sluice::frontend::ops {
namespace {

/// The part of `x` that has the extents of `shape`, but along `axis` its own.
Tensor cropped(Emitter &emit, const Tensor &x, Shape shape, int64_t axis) {
  shape[axis] = x.shape[axis];
  return emit.slice(x, Shape(shape.size(), 0), shape, Shape(shape.size(), 1));
}

/// For every index a row of its own, in which it is compared with the places along the axis.
void buildGatherElements(NodeBuilder &node) {
  const int64_t axis = indexedAxis(node);
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
  const int64_t axis = indexedAxis(node);
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
  entry.form = "map: the selected element, else the lowest number; then reduce max";
  entry.inputs = {{"data", Types::Any}, {"indices", Types::Integer, Presence::Required, true}};
  entry.outputs = {{"output"}};
  entry.attributes = {{"axis", AttributeKind::Int, int64_t{0}}};
  entry.requirements = {axisInRange("data"), indicesFit(), indicesInRange()};
  entry.build = buildGatherElements;
  entry.evaluate = evaluateGatherElements;
  return entry;
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

} // namespace

void addGatherElements(OperatorTable &table) {
  table.add({11, 13}, gatherElements());
  table.add({11}, gatherND(false));
  table.add({12, 13}, gatherND(true));
}

} // namespace sluice::frontend::ops
