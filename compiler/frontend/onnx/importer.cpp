#include "compiler/frontend/onnx/importer.h"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "compiler/dialect/sluice/node.h"
#include "compiler/dialect/sluice/operations.h"
#include "compiler/dialect/sluice/tensors.h"
#include "compiler/frontend/onnx/model_file.h"
#include "compiler/frontend/onnx/tensor_reader.h"
#include "mlir/IR/Verifier.h"

namespace sluice::frontend {

mlir::OwningOpRef<mlir::ModuleOp> Importer::run(const onnx::ModelProto &model) {
  const onnx::GraphProto &graph = model.graph();
  size_t before = report.count();
  info.name = graph.name();
  info.irVersion = model.ir_version();
  for (int i = 0; i < graph.node_size(); ++i)
    info.nodes.push_back({i, graph.node(i).name(), graph.node(i).op_type()});

  checkNames(graph, report);
  if (report.count() != before)
    return nullptr; // messages would repeat the names
  opsets = checkVersions(model, report);
  if (auto version = opsets.find(""); version != opsets.end())
    info.opset = version->second;
  bool knownVersions = report.count() == before;
  inliner.emplace(model, opsets, report);
  ModelGraph nodes = inliner->ofModel(graph);
  checkAndSort(graph, nodes, report);
  std::set<std::string> initializers = readInitializers(graph);
  names = namesOf(graph);
  for (const GraphNode &node : nodes.nodes) // of functions too
    names.insert(node.proto->output().begin(), node.proto->output().end());

  auto location = builder.getUnknownLoc();
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(location);
  builder.setInsertionPointToEnd(module->getBody());
  auto function =
      builder.create<mlir::func::FuncOp>(location, "main", builder.getFunctionType({}, {}));
  mlir::Block &body = *function.addEntryBlock();
  builder.setInsertionPointToEnd(&body);
  emitter.setConstants(body);
  const ResolvedInputs inputs = resolveInputs(graph, initializers, options, report);
  noteEmpty(inputs.empty);
  addInputs(inputs.inputs, function);
  if (knownVersions) // without them no operator means anything
    for (const GraphNode &node : nodes.nodes)
      importNode(node);
  addOutputs(graph, inputs.replaced, function);
  blameReplaced(inputs.replaced, before);
  noteCautions();
  if (report.count() != before)
    return nullptr;
  if (mlir::failed(mlir::verify(*module)))
    throw std::logic_error("the imported module fails verification");
  return module;
}

std::set<std::string> Importer::readInitializers(const onnx::GraphProto &graph) {
  auto &known = read[&graph].initializers;
  const bool isNew = !known.has_value();
  if (isNew)
    known.emplace();
  std::set<std::string> names;
  for (const onnx::TensorProto &tensor : graph.initializer()) {
    names.insert(tensor.name());
    if (isNew)
      readInitializer(tensor, *known);
  }
  for (const onnx::SparseTensorProto &tensor : graph.sparse_initializer()) {
    names.insert(tensor.values().name());
    if (isNew)
      report.add("E0114",
                 fmt::format("initializer {} is sparse; only dense initializers are supported",
                             inQuotes(tensor.values().name())));
  }
  for (const Tensor &tensor : *known)
    tensors.emplace(tensor.name, tensor);
  return names;
}

void Importer::readInitializer(const onnx::TensorProto &tensor, std::vector<Tensor> &to) {
  std::string name = fmt::format("initializer {}", inQuotes(tensor.name()));
  if (tensor.name().empty())
    report.add("E0105", "an initializer has no name");
  HostTensor value;
  if (auto error = readTensor(tensor, name, external, value)) {
    report.add(error->code, error->message);
    return;
  }
  if (value.isFloat())
    info.parameters += value.size();
  to.push_back(Tensor::ofKnown(std::move(value), tensor.name()));
}

void Importer::addInputs(const std::vector<ModelInput> &inputs, mlir::func::FuncOp function) {
  for (const ModelInput &input : inputs) {
    if (input.value) {
      tensors.emplace(input.name, Tensor{input.type, input.shape, input.value, {}, input.name});
      info.tensors.push_back({input.name, input.shape, {}});
      continue;
    }
    auto type = mlir::RankedTensorType::get(input.shape, builder.getF32Type());
    auto location = mlir::NameLoc::get(builder.getStringAttr(input.name));
    if (isState(input.name)) {
      if (isIntegerType(input.type))
        report
            .add("E0114", fmt::format("state input {} has type {}; sluice supports states of type "
                                      "float, float16, bfloat16 and double",
                                      inQuotes(input.name), dataTypeName(input.type)))
            .fixes.push_back(fix("keep the state as float, and cast it where the model needs "
                                 "integers"));
      const mlir::Value state = builder.create<ir::StateOp>(location, type, nullptr);
      states[input.name] = state;
      tensors.emplace(input.name, Tensor{input.type, input.shape, nullptr, state, {}});
      info.tensors.push_back({input.name, input.shape, state});
      continue;
    }
    const auto range = acceptedRange(input.type);
    std::optional<format::Limits> limits;
    if (range)
      limits = {static_cast<int64_t>(range->least), static_cast<int64_t>(range->most)};
    info.inputs.push_back({input.name, input.shape, *hostType(input.type), limits});
    unsigned index = function.getNumArguments();
    function.insertArgument(index, type, builder.getDictionaryAttr(nameAttribute(input.name)),
                            location);
    Tensor tensor{input.type, input.shape, nullptr, function.getArgument(index), {}};
    tensor.range = range;
    tensors.emplace(input.name, std::move(tensor));
    info.tensors.push_back({input.name, input.shape, function.getArgument(index)});
  }
}

void Importer::noteEmpty(const std::vector<EmptyInput> &inputs) {
  std::vector<Fix> fixes;
  for (const EmptyInput &input : inputs) {
    const std::string name = inQuotes(input.name);
    info.notes.push_back(fmt::format("input {} has shape {}, which has no elements; it is left out",
                                     name, shapeText(input.shape)));
    fixes.push_back(fix(fmt::format("give input {} elements", name), input.flag));
  }
  emitter.setFixesForEmpty(std::move(fixes));
}

bool Importer::isState(const std::string &input) const {
  return std::ranges::any_of(options.states, [&](const auto &pair) { return pair.first == input; });
}

mlir::NamedAttribute Importer::nameAttribute(const std::string &name) {
  return builder.getNamedAttr(ir::kNameAttr, builder.getStringAttr(name));
}

} // namespace sluice::frontend
