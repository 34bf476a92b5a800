#include "compiler/frontend/onnx/cut_types.h"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "compiler/frontend/onnx/host_tensor.h"
#include "compiler/frontend/onnx/import_proto.h"

namespace sluice::frontend {
namespace {

/// Whether a declaration has every extent. What is no tensor is as complete as it gets.
bool isComplete(const onnx::ValueInfoProto &info) {
  if (!info.type().has_tensor_type())
    return true;
  const onnx::TypeProto::Tensor &tensor = info.type().tensor_type();
  return tensor.has_shape() && std::ranges::all_of(tensor.shape().dim(), [](const auto &dim) {
           return dim.has_dim_value() && dim.dim_value() >= 0;
         });
}

} // namespace

onnx::ValueInfoProto declarationOf(const std::string &name, int32_t type, const Shape &shape) {
  onnx::ValueInfoProto info;
  info.set_name(name);
  info.mutable_type()->mutable_tensor_type()->set_elem_type(type);
  auto *dims = info.mutable_type()->mutable_tensor_type()->mutable_shape();
  for (const int64_t extent : shape)
    dims->add_dim()->set_dim_value(extent);
  return info;
}

std::set<std::string> namesOfShapes(const ValueInfos &inputs) {
  std::set<std::string> names;
  for (const onnx::ValueInfoProto &input : inputs) {
    names.insert(input.name());
    for (const auto &dim : input.type().tensor_type().shape().dim())
      names.insert(dim.dim_param());
  }
  return names;
}

int32_t dataTypeOf(format::HostType type) {
  for (int32_t one = onnx::TensorProto::FLOAT; one <= onnx::TensorProto::BFLOAT16; ++one)
    if (hostType(one) == type)
      return one;
  throw std::logic_error("a type of the host that ONNX does not have");
}

std::optional<onnx::ValueInfoProto> CutTypes::of(const std::string &name) {
  const onnx::ValueInfoProto *declared = graph.declared(name);
  if (declared && (graph.isInput(name) || isComplete(*declared)))
    return *declared;
  if (auto found = imported(name))
    return found;
  return declared ? std::optional(*declared) : std::nullopt;
}

std::optional<onnx::ValueInfoProto>
CutTypes::ofInput(const std::string &name, std::vector<std::string> &notes, Report &report) {
  if (auto found = of(name))
    return found;
  if (const auto shape = options.inputShapes.find(name); shape != options.inputShapes.end()) {
    notes.push_back(fmt::format("input {} is taken as float, as the model does not say its type",
                                inQuotes(name)));
    return declarationOf(name, onnx::TensorProto::FLOAT, shape->second);
  }
  reportUnknown(name, report)
      .fixes.push_back(
          fix("give the shape of a float tensor", fmt::format("--input-shape {}=...", name)));
  return std::nullopt;
}

Problem &CutTypes::reportUnknown(const std::string &name, Report &report) {
  Problem &problem = report.add(
      kWrongCut, fmt::format("the model does not say the type and shape of {}", inQuotes(name)));
  problem.notes.push_back("a node in front of it is not supported, so the compiler cannot infer "
                          "them");
  problem.fixes.push_back(
      fix("write the shapes into the model (onnx.shape_inference.infer_shapes)"));
  return problem;
}

/// Imports the nodes in front of a tensor.
std::optional<onnx::ValueInfoProto> CutTypes::imported(const std::string &name) {
  const Reach reach = graph.needs({name}, {});
  const ValueInfos inputs = graph.inputsOf(reach);
  ValueInfos outputs(1);
  outputs.front().set_name(name);
  const std::set<std::string> known = namesOfShapes(inputs);
  onnx::ModelProto front = shell;
  *front.mutable_graph() = partOf(whole, graph, reach.nodes, inputs, outputs, false);
  ImportOptions how;
  how.externalData = options.externalData;
  how.fixedRandom = true;
  for (const auto &[tensor, shape] : options.inputShapes)
    if (known.contains(tensor))
      how.inputShapes[tensor] = shape;
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  const Import import = importProto(context, front, how);
  if (!import.module || import.info.outputs.size() != 1)
    return std::nullopt;
  for (const auto &[tensor, shape] : how.inputShapes)
    used.insert(tensor);
  return declarationOf(name, dataTypeOf(import.info.outputs.front().type),
                       import.info.outputs.front().shape);
}

} // namespace sluice::frontend
