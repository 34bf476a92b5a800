// DepthToSpace and SpaceToDepth: blocks of positions as channels.
#include <fmt/format.h>

#include "compiler/frontend/onnx/ops/common.h"
#include "compiler/frontend/onnx/ops/families.h"

namespace sluice::frontend::ops {
namespace {

/// blocksize^2, or nothing if it is no divisor of any extent.
std::optional<int64_t> blockArea(const NodeView &node) {
  const int64_t size = node.integer("blocksize");
  if (size < 1 || size > (int64_t{1} << 30))
    return std::nullopt;
  return size * size;
}

std::string blocks(const NodeView &node) {
  return fmt::format("blocksize {} for {}", node.integer("blocksize"), shapeText(node.in(0).shape));
}

Operator rearrangement(const char *name) {
  Operator entry;
  entry.name = name;
  entry.form = "reshape, transpose, reshape";
  entry.inputs = {{"input", Types::Any}};
  entry.outputs = {{"output"}};
  entry.attributes = {{"blocksize", AttributeKind::Int, std::nullopt, true}};
  entry.requirements = {{"input 'input' must have rank 4: batch, channels, height and width",
                         [](const NodeView &node) -> std::string {
                           return node.in(0).rank() == 4 ? "" : shapeText(node.in(0).shape);
                         },
                         kShapes}};
  return entry;
}

/// [n c b b y x], or with the channels between the block and the positions ("DCR").
void buildDepthToSpace(NodeBuilder &node) {
  const Shape &x = node.in(0).shape;
  const int64_t size = node.integer("blocksize"), channels = x[1] / (size * size);
  const bool columnsFirst = node.given("mode") && node.attribute<std::string>("mode") == "CRD";
  const Tensor split =
      node.emit.reshape(node.in(0), columnsFirst ? Shape{x[0], channels, size, size, x[2], x[3]}
                                                 : Shape{x[0], size, size, channels, x[2], x[3]});
  const Tensor spread =
      node.emit.transpose(split, columnsFirst ? Shape{0, 1, 4, 2, 5, 3} : Shape{0, 3, 4, 1, 5, 2});
  node.result(node.emit.reshape(spread, {x[0], channels, x[2] * size, x[3] * size}));
}

void buildSpaceToDepth(NodeBuilder &node) {
  const Shape &x = node.in(0).shape;
  const int64_t size = node.integer("blocksize"), rows = x[2] / size, columns = x[3] / size;
  const Tensor split = node.emit.reshape(node.in(0), {x[0], x[1], rows, size, columns, size});
  const Tensor gathered = node.emit.transpose(split, {0, 3, 5, 1, 2, 4});
  node.result(node.emit.reshape(gathered, {x[0], x[1] * size * size, rows, columns}));
}

} // namespace

void addDepthToSpace(OperatorTable &table) {
  Operator spread = rearrangement("DepthToSpace");
  spread.requirements.push_back({"the square of attribute 'blocksize' must divide the channels",
                                 [](const NodeView &node) -> std::string {
                                   const std::optional<int64_t> area = blockArea(node);
                                   return area && node.in(0).shape[1] % *area == 0 ? ""
                                                                                   : blocks(node);
                                 },
                                 kShapes});
  spread.build = buildDepthToSpace;
  table.add({1}, spread);
  spread.attributes.push_back({"mode", AttributeKind::String, std::string("DCR")});
  spread.requirements.push_back({"attribute 'mode' must be DCR or CRD",
                                 [](const NodeView &node) -> std::string {
                                   const auto &mode = node.attribute<std::string>("mode");
                                   return mode == "DCR" || mode == "CRD" ? "" : inQuotes(mode);
                                 },
                                 kShapes});
  table.add({11, 13}, spread);
  Operator gathered = rearrangement("SpaceToDepth");
  gathered.requirements.push_back({"attribute 'blocksize' must divide height and width",
                                   [](const NodeView &node) -> std::string {
                                     const int64_t size = node.integer("blocksize");
                                     const Shape &x = node.in(0).shape;
                                     return size >= 1 && x[2] % size == 0 && x[3] % size == 0
                                                ? ""
                                                : blocks(node);
                                   },
                                   kShapes});
  gathered.build = buildSpaceToDepth;
  table.add({1, 13}, gathered);
}

} // namespace sluice::frontend::ops
