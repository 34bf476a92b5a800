// If: the nodes of the branch that its condition chooses, in its place.
#include <fmt/format.h>

#include "compiler/frontend/onnx/ops/common.h"
#include "compiler/frontend/onnx/ops/families.h"

namespace sluice::frontend::ops {
namespace {

constexpr const char *kThen = "then_branch", *kElse = "else_branch";

std::optional<bool> conditionOf(const NodeView &node) {
  return node.in(0).type == onnx::TensorProto::BOOL ? truthOf(node.in(0)) : std::nullopt;
}

} // namespace

void addIf(OperatorTable &table) {
  Operator entry;
  entry.name = "If";
  entry.form = "the branch that the condition selects";
  entry.inputs = {{"cond", Types::Any}};
  entry.outputs = {{"outputs", Presence::Variadic}};
  entry.attributes = {{kThen, AttributeKind::Graph, std::nullopt, true},
                      {kElse, AttributeKind::Graph, std::nullopt, true}};
  entry.requirements = {
      {"input 'cond' must be one bool known at compile time (a constant, or from constants and "
       "shapes)",
       [](const NodeView &node) -> std::string {
         const Tensor &condition = node.in(0);
         return conditionOf(node)
                    ? ""
                    : fmt::format("{} {} {}", condition.known ? "a constant" : "a run-time tensor",
                                  dataTypeName(condition.type), shapeText(condition.shape));
       },
       kNotSupported,
       "fold it with onnxsim (give the input shapes), or bind the input that it depends on "
       "(--bind)"},
      {"'then_branch' and 'else_branch' must have as many outputs as the node",
       [](const NodeView &node) -> std::string {
         const auto outputs = static_cast<int>(node.outputCount());
         const int ofThen = node.graph(kThen).output_size(),
                   ofElse = node.graph(kElse).output_size();
         return ofThen == outputs && ofElse == outputs
                    ? ""
                    : fmt::format("{} and {} outputs for {}", ofThen, ofElse, outputs);
       },
       kShapes}};
  entry.build = [](NodeBuilder &node) {
    const bool isThen = *conditionOf(node);
    node.bodies.check(isThen ? kElse : kThen); // which may not be supported, but is valid
    const auto results = node.bodies.importInPlace(isThen ? kThen : kElse);
    for (size_t i = 0; i < results.size(); ++i)
      node.result(i, results[i]);
  };
  table.add({1, 11, 13, 16, 19, 21, 23, 24, 25}, std::move(entry));
}

} // namespace sluice::frontend::ops
