// Concat.
#include <fmt/format.h>

#include "compiler/frontend/onnx/ops/common.h"
#include "compiler/frontend/onnx/ops/families.h"

namespace sluice::frontend::ops {

void addConcat(OperatorTable &table) {
  Operator entry;
  entry.name = "Concat";
  entry.form = "concat";
  entry.inputs = {{"inputs", Types::Any, Presence::Variadic}};
  entry.outputs = {{"concat_result"}};
  entry.attributes = {{"axis", AttributeKind::Int, std::nullopt, true}};
  entry.requirements = {sameTypes(),
                        axisInRange("inputs"),
                        {"the input shapes must be equal except along 'axis'",
                         [](const NodeView &node) -> std::string {
                           int64_t axis = node.axis(node.integer("axis"), node.in(0).rank());
                           Shape first = node.in(0).shape;
                           for (size_t i = 1; i < node.inputCount(); ++i) {
                             Shape shape = node.in(i).shape;
                             if (shape.size() == first.size())
                               shape[axis] = first[axis];
                             if (shape != first)
                               return inputShapes(node);
                           }
                           return "";
                         },
                         kShapes}};
  entry.build = [](NodeBuilder &node) {
    std::vector<Tensor> inputs;
    for (size_t i = 0; i < node.inputCount(); ++i)
      inputs.push_back(node.in(i));
    node.result(node.emit.concat(inputs, node.axis(node.integer("axis"), node.in(0).rank())));
  };
  table.add({4, 11, 13}, entry);
  entry.attributes = {{"axis", AttributeKind::Int, int64_t{1}}};
  table.add({1}, entry);
}

} // namespace sluice::frontend::ops
