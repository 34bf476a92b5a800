// Col2Im: blocks of an image, as columns, put back and summed where they overlap. Axis by axis: a
// block's element k at position l adds to place l * stride + k * dilation, so that the elements
// from one multiple of the stride to the next are side by side, and the groups of them one position
// apart.
#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "compiler/frontend/onnx/ops/common.h"
#include "compiler/frontend/onnx/ops/families.h"

namespace sluice::frontend::ops {
namespace {

/// Most groups of an axis, which become as many summands.
constexpr int64_t kMostGroups = 1024;

enum ColumnInput : size_t { kColumns, kImage, kBlock };

/// One axis of the image.
struct BlockAxis {
  int64_t extent, size, stride, dilation, low, high;

  int64_t reach() const { return (size - 1) * dilation + 1; }
  int64_t groups() const { return (reach() - 1) / stride + 1; }
  int64_t positions() const {
    const int64_t room = extent + low + high - reach();
    return room < 0 ? 0 : room / stride + 1;
  }
};

Shape listOr(const NodeView &node, const char *attribute, size_t count, int64_t value) {
  return node.given(attribute) ? node.integers(attribute) : Shape(count, value);
}

std::vector<BlockAxis> axesOf(const NodeView &node) {
  const std::vector<int64_t> &image = node.knownInts(kImage), &block = node.knownInts(kBlock);
  const size_t count = image.size();
  const Shape strides = listOr(node, "strides", count, 1),
              dilations = listOr(node, "dilations", count, 1),
              pads = listOr(node, "pads", 2 * count, 0);
  std::vector<BlockAxis> out;
  for (size_t i = 0; i < count; ++i)
    out.push_back({image[i], block[i], strides[i], dilations[i], pads[i], pads[count + i]});
  return out;
}

/// The block's elements along axis 2 as groups of `stride` places, with zeros where no element is.
Tensor grouped(Emitter &emit, Tensor x, const BlockAxis &axis) {
  Shape low(x.shape.size(), 0), high = low;
  if (axis.dilation > 1) {
    x = emit.unsqueeze(x, {3});
    low.push_back(0);
    high.push_back(0);
    high[3] = axis.dilation - 1;
    x = emit.pad(x, low, high, 0);
    Shape merged = x.shape;
    merged.erase(merged.begin() + 3);
    merged[2] *= axis.dilation;
    x = sliceAlong(emit, emit.reshape(x, merged), 2, 0, axis.reach());
    low.pop_back();
    high = low;
  }
  high[2] = axis.groups() * axis.stride - axis.reach();
  return emit.pad(x, low, high, 0);
}

bool hasElements(const BlockAxis &axis, int64_t group) {
  const int64_t first = group * axis.stride;
  const int64_t next = (first + axis.dilation - 1) / axis.dilation * axis.dilation;
  return next < first + axis.stride && next < axis.reach();
}

/// `x` [batch, channels, block, other axes..., positions, ...]: in place of the positions, which
/// are axis `place`, the image, and the block is gone.
Tensor putBack(Emitter &emit, const Tensor &x, const BlockAxis &axis, int64_t place) {
  const Tensor groups = grouped(emit, x, axis);
  std::vector<Tensor> moved;
  Shape low(x.shape.size(), 0), high = low;
  for (int64_t group = 0; group < axis.groups(); ++group)
    if (hasElements(axis, group)) {
      low[place] = group;
      high[place] = axis.groups() - 1 - group;
      const Tensor part = sliceAlong(emit, groups, 2, group * axis.stride, axis.stride);
      moved.push_back(emit.pad(part, low, high, 0));
    }
  Tensor sum = moved.front();
  for (size_t i = 1; i < moved.size(); ++i)
    sum = emit.pointwise({sum, moved[i]},
                         [](const Scalars &s, mlir::ValueRange v) { return s.add(v[0], v[1]); });
  // The places of a group follow its position.
  Shape order(x.shape.size());
  std::iota(order.begin(), order.end(), 0);
  order.erase(order.begin() + 2);
  order.insert(order.begin() + place, 2);
  const Tensor turned = emit.transpose(sum, order);
  Shape merged = turned.shape;
  merged[place - 1] *= axis.stride;
  merged.erase(merged.begin() + place);
  const Tensor whole = emit.reshape(turned, merged);
  // A stride may leave places behind the last block.
  Shape none(merged.size(), 0), behind = none;
  behind[place - 1] = std::max<int64_t>(axis.low + axis.extent - merged[place - 1], 0);
  return sliceAlong(emit, emit.pad(whole, none, behind, 0), place - 1, axis.low, axis.extent);
}

void build(NodeBuilder &node) {
  const std::vector<BlockAxis> axes = axesOf(node);
  const Shape &columns = node.in(kColumns).shape;
  int64_t elements = 1;
  for (const BlockAxis &axis : axes)
    elements *= axis.size;
  Shape shape = {columns[0], columns[1] / elements};
  for (const BlockAxis &axis : axes)
    shape.push_back(axis.size);
  for (const BlockAxis &axis : axes)
    shape.push_back(axis.positions());
  Tensor x = node.emit.reshape(node.in(kColumns), shape);
  for (const BlockAxis &axis : axes)
    x = putBack(node.emit, x, axis, 2 + static_cast<int64_t>(axes.size()));
  node.result(x);
}

/// Element by element, exact for integers and in double for others.
void evaluate(NodeBuilder &node) {
  const HostTensor &x = *node.in(kColumns).known;
  const std::vector<BlockAxis> axes = axesOf(node);
  Shape shape, blocks, positions;
  for (const BlockAxis &axis : axes) {
    shape.push_back(axis.extent);
    blocks.push_back(axis.size);
    positions.push_back(axis.positions());
  }
  const int64_t elements = extentProduct(blocks, 0, blocks.size());
  const int64_t columns = extentProduct(positions, 0, positions.size());
  const Shape strides = stridesOf(shape);
  const int64_t pixels = extentProduct(shape, 0, shape.size());
  const int64_t images = x.size() / (elements * columns);
  std::vector<double> sums(x.isFloat() ? images * pixels : 0);
  std::vector<uint64_t> whole(x.isFloat() ? 0 : images * pixels);
  for (int64_t flat = 0; flat < x.size(); ++flat) {
    int64_t column = flat % columns, element = flat / columns % elements, pixel = 0;
    bool inside = true;
    for (size_t i = axes.size(); i-- > 0;) {
      const int64_t at = column % positions[i] * axes[i].stride +
                         element % blocks[i] * axes[i].dilation - axes[i].low;
      inside &= at >= 0 && at < axes[i].extent;
      pixel += at * strides[i];
      column /= positions[i];
      element /= blocks[i];
    }
    if (!inside)
      continue;
    pixel += flat / (columns * elements) * pixels;
    if (x.isFloat())
      sums[pixel] += x.floats[flat];
    else
      whole[pixel] += static_cast<uint64_t>(x.ints[flat]);
  }
  shape.insert(shape.begin(), {x.shape[0], x.shape[1] / elements});
  HostTensor out{x.type, shape, {}, {}};
  for (const double sum : sums)
    out.floats.push_back(roundToType(sum, out.type));
  for (const uint64_t sum : whole)
    out.ints.push_back(wrapToType(static_cast<int64_t>(sum), out.type));
  node.result(Tensor::ofKnown(std::move(out)));
}

Requirement listFits(const char *attribute, size_t perAxis, int64_t least) {
  return {fmt::format("attribute '{}' must have {} per spatial axis, in [{}, {}]", attribute,
                      perAxis == 1 ? "one element" : "two elements", least, kMaxElements),
          [attribute, perAxis, least](const NodeView &node) -> std::string {
            if (!node.given(attribute))
              return "";
            const Shape &list = node.integers(attribute);
            const size_t axes = node.knownInts(kImage).size();
            const bool fits = list.size() == perAxis * axes &&
                              std::all_of(list.begin(), list.end(), [least](int64_t value) {
                                return value >= least && value <= kMaxElements;
                              });
            return fits ? "" : fmt::format("{} for {} axes", shapeText(list), axes);
          },
          kShapes};
}

std::vector<Requirement> requirements() {
  return {
      {"inputs 'image_shape' and 'block_shape' must have one element per spatial axis, at least 1 "
       "axis",
       [](const NodeView &node) -> std::string {
         const Shape &image = node.in(kImage).shape, &block = node.in(kBlock).shape;
         return image.size() == 1 && image[0] >= 1 && block == image ? "" : inputShapes(node);
       },
       kShapes},
      {fmt::format("elements of 'image_shape' and 'block_shape' must be in [1, {}]", kMaxElements),
       [](const NodeView &node) -> std::string {
         for (const size_t input : {kImage, kBlock})
           for (const int64_t extent : node.knownInts(input))
             if (extent < 1 || extent > kMaxElements)
               return fmt::format("{}", extent);
         return "";
       },
       kShapes},
      listFits("dilations", 1, 1),
      listFits("pads", 2, 0),
      listFits("strides", 1, 1),
      {"input 'input' must be [batch, channels * elements of a block, number of blocks]",
       [](const NodeView &node) -> std::string {
         Shape block, positions;
         for (const BlockAxis &axis : axesOf(node)) {
           block.push_back(axis.size);
           positions.push_back(axis.positions());
         }
         const int64_t elements = elementCount(block, kMaxElements),
                       columns = elementCount(positions, kMaxElements);
         const Shape &x = node.in(kColumns).shape;
         const bool fits = x.size() == 3 && elements >= 1 && columns >= 1 && x[1] % elements == 0 &&
                           x[1] >= 1 && x[2] == columns;
         return fits ? ""
                     : fmt::format("{} for blocks {} at {} positions", shapeText(x),
                                   shapeText(block), shapeText(positions));
       },
       kShapes},
      {fmt::format("the image must have at most {} elements", kMostFoldedElements),
       [](const NodeView &node) -> std::string {
         Shape image = node.knownInts(kImage);
         image.push_back(node.in(kColumns).shape[0]);
         image.push_back(node.in(kColumns).shape[1]);
         return elementCount(image, kMostFoldedElements) >= 0 ? ""
                                                              : shapeText(node.knownInts(kImage));
       }},
      knownIntegers(),
      {fmt::format("at most {} blocks must overlap along an axis", kMostGroups),
       [](const NodeView &node) -> std::string {
         for (const BlockAxis &axis : axesOf(node))
           if (axis.groups() > kMostGroups)
             return fmt::format("{}", axis.groups());
         return "";
       }}};
}

} // namespace

void addCol2Im(OperatorTable &table) {
  Operator entry;
  entry.name = "Col2Im";
  entry.form = "per axis: pads that place the blocks, maps that add them, transpose, slice";
  entry.inputs = {{"input", Types::Numeric},
                  {"image_shape", Types::Integer, Presence::Required, true},
                  {"block_shape", Types::Integer, Presence::Required, true}};
  entry.outputs = {{"output"}};
  entry.attributes = {{"dilations", AttributeKind::Ints},
                      {"pads", AttributeKind::Ints},
                      {"strides", AttributeKind::Ints}};
  entry.requirements = requirements();
  entry.build = build;
  entry.evaluate = evaluate;
  table.add({18}, std::move(entry));
}

} // namespace sluice::frontend::ops
