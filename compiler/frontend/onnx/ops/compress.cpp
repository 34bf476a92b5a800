// Compress: the places along an axis for which a condition that is known at import is true.
#include <fmt/format.h>

#include "compiler/frontend/onnx/ops/common.h"
#include "compiler/frontend/onnx/ops/families.h"
#include "compiler/frontend/onnx/ops/indices.h"
#include "compiler/frontend/onnx/ops/selecting.h"

namespace sluice::frontend::ops {
namespace {

std::optional<int64_t> compressedAxis(const NodeView &node) {
  if (!node.given("axis"))
    return std::nullopt;
  return indexedAxis(node);
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
  entry.form = "slices, then concat; without 'axis' of the flattened elements";
  entry.inputs = {{"input", Types::Any}, {"condition", Types::Any, Presence::Required, true}};
  entry.outputs = {{"output"}};
  entry.attributes = {{"axis", AttributeKind::Int}};
  entry.requirements = {
      {"attribute 'axis', if given, must be in [-rank, rank-1] of input 'input'",
       [](const NodeView &node) -> std::string {
         return node.given("axis") ? axesProblem({node.integer("axis")}, node.in(0).rank()) : "";
       },
       kShapes},
      {"input 'condition' must be a bool vector, no longer than the axis, with at least one true "
       "element",
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
       kShapes}};
  entry.build = [](NodeBuilder &node) {
    const auto axis = compressedAxis(node);
    const Tensor x =
        axis ? node.in(0)
             : node.emit.reshape(node.in(0), {elementCount(node.in(0).shape, kMaxElements)});
    node.result(gathered(node.emit, x, truePlaces(node), axis.value_or(0)));
  };
  return entry;
}

} // namespace

void addCompress(OperatorTable &table) { table.add({9, 11}, compress()); }

} // namespace sluice::frontend::ops
