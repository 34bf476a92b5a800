// AffineGrid: where an affine map sends the places of an image. The places are constants, so that
// it is a product with them.
#include <algorithm>

#include <fmt/format.h>

#include "compiler/frontend/onnx/ops/common.h"
#include "compiler/frontend/onnx/ops/families.h"

namespace sluice::frontend::ops {
namespace {

/// Most places of a grid.
constexpr int64_t kMostPlaces = int64_t{1} << 24;

enum AffineInput : size_t { kTheta, kSize };

/// The extents of the image, without batch and channels.
Shape spatial(const NodeView &node) {
  const std::vector<int64_t> &size = node.knownInts(kSize);
  return {size.begin() + 2, size.end()};
}

/// Place `i` of `extent`, from -1 to 1: of the first and the last element, or of their far edges.
double coordinate(int64_t i, int64_t extent, bool corners) {
  const auto twice = static_cast<double>(2 * i + 1 - extent);
  if (!corners)
    return twice / static_cast<double>(extent);
  return extent == 1 ? 0 : twice / static_cast<double>(extent - 1);
}

/// For each place its coordinates, that of the last axis first, and a 1.
std::vector<double> placesOf(const NodeView &node) {
  const Shape extents = spatial(node), strides = stridesOf(extents);
  const bool corners = node.integer("align_corners") != 0;
  std::vector<double> out;
  for (int64_t place = 0; place < extentProduct(extents, 0, extents.size()); ++place) {
    for (size_t axis = extents.size(); axis-- > 0;)
      out.push_back(coordinate(place / strides[axis] % extents[axis], extents[axis], corners));
    out.push_back(1);
  }
  return out;
}

Shape gridShape(const NodeView &node) {
  Shape shape = spatial(node);
  const auto axes = static_cast<int64_t>(shape.size());
  shape.insert(shape.begin(), node.in(kTheta).shape[0]);
  shape.push_back(axes);
  return shape;
}

void build(NodeBuilder &node) {
  const Shape shape = gridShape(node);
  const std::vector<double> places = placesOf(node);
  const int64_t terms = shape.back() + 1, count = static_cast<int64_t>(places.size()) / terms;
  const Tensor base = Tensor::ofKnown(
      HostTensor::ofFloats({count, terms}, std::vector<float>(places.begin(), places.end())));
  const Tensor sent = node.emit.matmul(node.in(kTheta), node.emit.transpose(base, {1, 0}));
  node.result(node.emit.reshape(node.emit.transpose(sent, {0, 2, 1}), shape));
}

void evaluate(NodeBuilder &node) {
  const HostTensor &theta = *node.in(kTheta).known;
  const std::vector<double> places = placesOf(node);
  HostTensor out{theta.type, gridShape(node), {}, {}};
  const auto axes = static_cast<size_t>(out.shape.back()), terms = axes + 1;
  for (size_t map = 0; map < theta.floats.size(); map += axes * terms)
    for (size_t place = 0; place < places.size(); place += terms)
      for (size_t axis = 0; axis < axes; ++axis) {
        double sum = 0;
        for (size_t i = 0; i < terms; ++i)
          sum += theta.floats[map + axis * terms + i] * places[place + i];
        out.floats.push_back(roundToType(sum, out.type));
      }
  node.result(Tensor::ofKnown(std::move(out)));
}

} // namespace

void addAffineGrid(OperatorTable &table) {
  Operator entry;
  entry.name = "AffineGrid";
  entry.form = "known at compile time; else matmul with the image coordinates, transpose";
  entry.inputs = {{"theta"}, {"size", Types::Integer, Presence::Required, true}};
  entry.outputs = {{"grid"}};
  entry.attributes = {{"align_corners", AttributeKind::Int, int64_t{0}, false, {0, 1}}};
  entry.requirements = {
      {"input 'size' must have 4 or 5 elements of at least 1: batch, channels and spatial axes",
       [](const NodeView &node) -> std::string {
         const std::vector<int64_t> &size = node.knownInts(kSize);
         const bool fits = (size.size() == 4 || size.size() == 5) &&
                           std::all_of(size.begin(), size.end(), [](int64_t e) { return e >= 1; });
         return fits ? "" : shapeText(size);
       },
       kShapes},
      {"input 'theta' must be [batch 2 3], or [batch 3 4] for 3 spatial axes",
       [](const NodeView &node) -> std::string {
         const std::vector<int64_t> &size = node.knownInts(kSize);
         const auto axes = static_cast<int64_t>(size.size()) - 2;
         return node.in(kTheta).shape == Shape{size[0], axes, axes + 1}
                    ? ""
                    : fmt::format("{} for size {}", shapeText(node.in(kTheta).shape),
                                  shapeText(size));
       },
       kShapes},
      {fmt::format("the grids must have at most {} positions", kMostPlaces),
       [](const NodeView &node) -> std::string {
         Shape all = spatial(node);
         all.push_back(node.knownInts(kSize)[0]);
         return elementCount(all, kMostPlaces) >= 0 ? "" : shapeText(node.knownInts(kSize));
       }}};
  entry.build = build;
  entry.evaluate = evaluate;
  table.add({20}, std::move(entry));
}

} // namespace sluice::frontend::ops
