// ReverseSequence: of lengths that are known at import.
#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "compiler/frontend/onnx/ops/common.h"
#include "compiler/frontend/onnx/ops/families.h"
#include "compiler/frontend/onnx/ops/selecting.h"

namespace sluice::frontend::ops {
namespace {

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
      {"input 'input' must have rank 2 or more, and 'batch_axis' and 'time_axis' must differ",
       [](const NodeView &node) -> std::string {
         return node.in(0).rank() >= 2 && node.integer("batch_axis") != node.integer("time_axis")
                    ? ""
                    : fmt::format("{}, axes {} and {}", shapeText(node.in(0).shape),
                                  node.integer("batch_axis"), node.integer("time_axis"));
       },
       kShapes},
      {"'sequence_lens' must have one element per batch, in [0, extent of 'time_axis']",
       [](const NodeView &node) -> std::string {
         const Shape &shape = node.in(0).shape;
         const int64_t most = shape[node.integer("time_axis")];
         if (node.in(1).shape != Shape{shape[node.integer("batch_axis")]})
           return shapeText(node.in(1).shape) + " for " + shapeText(shape);
         for (const int64_t length : node.knownInts(1))
           if (length < 0 || length > most)
             return fmt::format("{} for extent {}", length, most);
         return "";
       },
       kShapes}};
  entry.build = buildReverseSequence;
  return entry;
}

} // namespace

void addReverseSequence(OperatorTable &table) { table.add({10}, reverseSequence()); }

} // namespace sluice::frontend::ops
