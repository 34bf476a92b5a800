#include "compiler/frontend/onnx/importer.h"

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "compiler/dialect/sluice/node.h"
#include "compiler/dialect/sluice/operations.h"
#include "compiler/dialect/sluice/tensors.h"
#include "compiler/frontend/onnx/model_file.h"
#include "compiler/frontend/onnx/tensor_reader.h"
#include "mlir/IR/Iterators.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseSet.h"

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
  if (report.count() == before) { // else nothing is read: the tensors stay known
    eraseUnread(function);
    shareReductions(function);
    finishArrays(function);
  }
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
      readInitializer(tensor, nullptr, *known);
  }
  for (const onnx::SparseTensorProto &tensor : graph.sparse_initializer()) {
    names.insert(tensor.values().name());
    if (isNew)
      readInitializer(tensor.values(), &tensor, *known);
  }
  for (const Tensor &tensor : *known)
    tensors.emplace(tensor.name, tensor);
  return names;
}

void Importer::readInitializer(const onnx::TensorProto &tensor,
                               const onnx::SparseTensorProto *sparse, std::vector<Tensor> &to) {
  std::string name = fmt::format("initializer {}", inQuotes(tensor.name()));
  if (tensor.name().empty())
    report.add("E0105", "an initializer has no name");
  HostTensor value;
  if (auto error = sparse ? readSparse(*sparse, name, external, value)
                          : readTensor(tensor, name, external, value)) {
    Problem &problem = report.add(error->code, error->message);
    if (!sparse && tensor.data_type() == onnx::TensorProto::STRING)
      problem.fixes.push_back(fix("number the classes when training "
                                  "(sklearn.preprocessing.LabelEncoder), or cut the model before "
                                  "the nodes that read the text"));
    return;
  }
  if (value.isFloat())
    info.parameters += value.size();
  to.push_back(Tensor::ofKnown(std::move(value), tensor.name()));
}

/// The tensor at the emitter's place, for names of inputs that are made for it.
static std::string tensorAt(const Emitter &emitter) {
  const auto tensor = emitter.where()->findInstanceOf<mlir::NameLoc>();
  return tensor ? tensor.getName().str() : "a tensor";
}

void Importer::addInputs(const std::vector<ModelInput> &inputs, mlir::func::FuncOp function) {
  for (const ModelInput &input : inputs) {
    if (input.value) {
      tensors.emplace(input.name, Tensor{input.type, input.shape, input.value, {}, input.name});
      info.tensors.push_back({input.name, input.shape, {}, input.type});
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
      info.tensors.push_back({input.name, input.shape, state, input.type});
      continue;
    }
    const auto range = acceptedRange(input.type);
    std::optional<format::Limits> limits;
    if (range)
      limits = {static_cast<int64_t>(range->least), static_cast<int64_t>(range->most)};
    const mlir::Value argument =
        addInput(function, {input.name, input.shape, *hostType(input.type), limits});
    Tensor tensor{input.type, input.shape, nullptr, argument, {}};
    tensor.lookup = arrays.add(input.name, input.type, input.shape, argument);
    if (tensor.lookup)
      tensor.range = tensor.lookup->range();
    tensors.emplace(input.name, std::move(tensor));
    info.tensors.push_back({input.name, input.shape, argument, input.type});
  }
  emitter.setArrays(arrays, [this, function](const Shape &shape, size_t array,
                                             ArrayLookupRef lookup,
                                             std::optional<format::Quantisation> quantised) {
    ImportedTensor input{
        "", shape, format::HostType::BFloat16, std::nullopt, array, std::move(lookup), quantised};
    for (size_t i = 0; i < info.inputs.size() && quantised; ++i)
      if (info.inputs[i].array == array && info.inputs[i].quantised == quantised)
        return mlir::Value(mlir::func::FuncOp(function).getArgument(i));
    input.name = fmt::format("{} for {}", arrays.all()[array].name, tensorAt(emitter));
    setUnique(input.name);
    return addInput(function, std::move(input));
  });
  emitter.setRandom([this, function](const Shape &shape, format::HostType type,
                                     const random::RandomNumbers &numbers) {
    ImportedTensor input{fmt::format("random for {}", tensorAt(emitter)), shape, type};
    input.random = numbers;
    setUnique(input.name);
    return addInput(function, std::move(input));
  });
}

void Importer::setUnique(std::string &name) const {
  while (llvm::any_of(info.inputs, [&](const ImportedTensor &one) { return one.name == name; }))
    name += "'";
}

mlir::Value Importer::addInput(mlir::func::FuncOp function, ImportedTensor input) {
  const unsigned index = function.getNumArguments();
  function.insertArgument(index, mlir::RankedTensorType::get(input.shape, builder.getF32Type()),
                          builder.getDictionaryAttr(nameAttribute(input.name)),
                          mlir::NameLoc::get(builder.getStringAttr(input.name)));
  info.inputs.push_back(std::move(input));
  return function.getArgument(index);
}

void Importer::eraseUnread(mlir::func::FuncOp function) {
  llvm::DenseSet<mlir::Value> erased;
  function.walk<mlir::WalkOrder::PostOrder, mlir::ReverseIterator>([&](mlir::Operation *operation) {
    if (!mlir::isOpTriviallyDead(operation))
      return;
    erased.insert(operation->result_begin(), operation->result_end());
    operation->erase();
  });
  std::erase_if(info.tensors, [&](const GraphTensor &one) { return erased.contains(one.value); });
}

void Importer::shareReductions(mlir::func::FuncOp function) {
  llvm::SmallVector<std::pair<ir::ReduceOp, ir::ReduceOp>> pairs; // without and with the axes
  function.walk([&](ir::ReduceOp removing) {
    if (removing.getKeepdims())
      return;
    for (mlir::Operation *user : removing.getInput().getUsers())
      if (auto keeping = llvm::dyn_cast<ir::ReduceOp>(user);
          keeping && keeping.getKeepdims() && keeping.getMonoid() == removing.getMonoid() &&
          keeping.getAxes() == removing.getAxes() && keeping->getBlock() == removing->getBlock()) {
        pairs.emplace_back(removing, keeping);
        return;
      }
  });
  for (auto [removing, keeping] : pairs) {
    if (removing->isBeforeInBlock(keeping))
      keeping->moveBefore(removing);
    const mlir::OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(removing);
    const mlir::Value result =
        builder.create<ir::SqueezeOp>(removing.getLoc(), keeping.getResult(), removing.getAxes());
    for (GraphTensor &tensor : info.tensors)
      if (tensor.value == removing.getResult())
        tensor.value = result;
    removing.getResult().replaceAllUsesWith(result);
    removing.erase();
  }
}

void Importer::finishArrays(mlir::func::FuncOp function) {
  if (llvm::none_of(info.inputs, [](const ImportedTensor &input) {
        return input.isMade() || input.random.has_value();
      })) {
    for (size_t i = 0; i < info.inputs.size(); ++i)
      info.inputs[i].array = i;
    return;
  }
  llvm::DenseSet<mlir::Value> erased;
  const auto isRead = [&](size_t input) { return !function.getArgument(input).use_empty(); };
  std::vector<ImportedTensor> all = std::exchange(info.inputs, {});
  std::vector<bool> isReplaced; // by array: something else is made from it, and read
  for (size_t i = 0; i < all.size(); ++i)
    if (ImportedTensor &input = all[i]; !input.isMade() && !(input.random && !isRead(i))) {
      input.array = info.arrays.size();
      info.arrays.push_back(input);
      isReplaced.push_back(false);
    }
  for (size_t i = 0; i < all.size(); ++i)
    if (all[i].isMade() && isRead(i))
      isReplaced[all[i].array] = true;
  llvm::BitVector unread(function.getNumArguments());
  std::vector<bool> isLimited(info.arrays.size());
  for (size_t i = 0; i < all.size(); ++i) {
    ImportedTensor &input = all[i];
    if (!isRead(i) && (input.isMade() || input.random || isReplaced[input.array])) {
      unread.set(i);
      erased.insert(function.getArgument(i));
      continue;
    }
    ImportedTensor &array = info.arrays[input.array];
    // An array accepts what all tensors accept that are made from it.
    if (array.limits) {
      const format::Limits own =
          input.lookup
              ? format::Limits{input.lookup->first, input.lookup->first + input.lookup->rows() - 1}
              : *input.limits;
      array.limits = isLimited[input.array] ? format::Limits{std::max(array.limits->low, own.low),
                                                             std::min(array.limits->high, own.high)}
                                            : own;
      isLimited[input.array] = true;
    }
    info.inputs.push_back(std::move(input));
  }
  std::erase_if(info.tensors, [&](const GraphTensor &one) { return erased.contains(one.value); });
  function.eraseArguments(unread);
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
