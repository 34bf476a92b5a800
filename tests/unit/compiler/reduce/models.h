// Small models for the tests of reduction.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "compiler/frontend/onnx/onnx_proto.h"
#include "compiler/reduce/facts.h"

namespace sluice::reduce {

inline onnx::NodeProto &addNode(onnx::GraphProto &graph, const std::string &op,
                                const std::vector<std::string> &inputs, const std::string &output) {
  onnx::NodeProto &node = *graph.add_node();
  node.set_op_type(op);
  for (const std::string &input : inputs)
    node.add_input(input);
  node.add_output(output);
  return node;
}

inline onnx::ValueInfoProto floatTensor(const std::string &name,
                                        const std::vector<int64_t> &shape) {
  onnx::ValueInfoProto info;
  info.set_name(name);
  auto *type = info.mutable_type()->mutable_tensor_type();
  type->set_elem_type(onnx::TensorProto::FLOAT);
  for (const int64_t extent : shape)
    type->mutable_shape()->add_dim()->set_dim_value(extent);
  return info;
}

inline void addConstant(onnx::GraphProto &graph, const std::string &name,
                        const std::vector<int64_t> &shape, const std::vector<float> &values) {
  onnx::TensorProto &tensor = *graph.add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(onnx::TensorProto::FLOAT);
  for (const int64_t extent : shape)
    tensor.add_dims(extent);
  for (const float value : values)
    tensor.add_float_data(value);
}

/// x -> Relu -> Exp -> Tanh -> y, beside it x + w -> z.
inline onnx::ModelProto chain() {
  onnx::ModelProto model;
  model.set_ir_version(8);
  model.add_opset_import()->set_version(13);
  onnx::GraphProto &graph = *model.mutable_graph();
  graph.set_name("chain");
  *graph.add_input() = floatTensor("x", {2, 3});
  addConstant(graph, "w", {3}, {1, 2, 3});
  addNode(graph, "Relu", {"x"}, "a");
  addNode(graph, "Exp", {"a"}, "b");
  addNode(graph, "Tanh", {"b"}, "y");
  addNode(graph, "Add", {"x", "w"}, "z");
  *graph.add_output() = floatTensor("y", {2, 3});
  *graph.add_output() = floatTensor("z", {2, 3});
  return model;
}

inline Facts factsOfChain() {
  Facts facts;
  for (const char *name : {"x", "a", "b", "y", "z"})
    facts[name].shape = {2, 3};
  return facts;
}

inline bool has(const onnx::ModelProto &model, const std::string &op) {
  return std::ranges::any_of(model.graph().node(),
                             [&](const auto &node) { return node.op_type() == op; });
}

inline std::vector<std::string> operatorsOf(const onnx::ModelProto &model) {
  std::vector<std::string> names;
  for (const onnx::NodeProto &node : model.graph().node())
    names.push_back(node.op_type());
  return names;
}

} // namespace sluice::reduce
