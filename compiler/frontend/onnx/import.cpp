#include "compiler/frontend/onnx/import.h"

#include <algorithm>
#include <filesystem>
#include <new>
#include <stdexcept>
#include <unordered_map>

#include <fmt/format.h>

#include "compiler/dialect/sluice/dialect.h"
#include "compiler/dialect/sluice/node.h"
#include "compiler/dialect/sluice/operations.h"
#include "compiler/dialect/sluice/tensors.h"
#include "compiler/frontend/onnx/functions.h"
#include "compiler/frontend/onnx/import_proto.h"
#include "compiler/frontend/onnx/model_file.h"
#include "compiler/frontend/onnx/model_io.h"
#include "compiler/frontend/onnx/node_view.h"
#include "compiler/frontend/onnx/tensor_reader.h"
#include "compiler/frontend/onnx/unsupported.h"
#include "compiler/support/suggestion.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"

namespace sluice::frontend {
namespace {

class Importer {
public:
  Importer(mlir::MLIRContext &context, const ImportOptions &options, ImportedModel &info,
           Problems &problems)
      : context(context), options(options), info(info), problems(problems), report(problems),
        external(options.externalData), builder(&context), emitter(builder) {}

  mlir::OwningOpRef<mlir::ModuleOp> run(const onnx::ModelProto &model) {
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
    addInputs(inputs.inputs, function);
    if (knownVersions) // without them no operator means anything
      for (const GraphNode &node : nodes.nodes)
        importNode(node);
    addOutputs(graph, inputs.replaced, function);
    blameReplaced(inputs.replaced, before);
    noteRandomNodes();
    if (report.count() != before)
      return nullptr;
    if (mlir::failed(mlir::verify(*module)))
      throw std::logic_error("the imported module does not verify");
    return module;
  }

private:
  /// A graph of the model as far as it is read: once, though a body may be imported often.
  struct ReadGraph {
    std::optional<std::vector<Tensor>> initializers;
    std::optional<ModelGraph> nodes; ///< of a body
  };

  /// Defines the initializers of a graph; their names.
  std::set<std::string> readInitializers(const onnx::GraphProto &graph) {
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
        report.add("E0114", fmt::format("initializer {} is sparse, only dense ones are supported",
                                        inQuotes(tensor.values().name())));
    }
    for (const Tensor &tensor : *known)
      tensors.emplace(tensor.name, tensor);
    return names;
  }

  [[nodiscard]] bool isState(const std::string &input) const {
    return std::ranges::any_of(options.states,
                               [&](const auto &pair) { return pair.first == input; });
  }

  void readInitializer(const onnx::TensorProto &tensor, std::vector<Tensor> &to) {
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

  mlir::NamedAttribute nameAttribute(const std::string &name) {
    return builder.getNamedAttr(ir::kNameAttr, builder.getStringAttr(name));
  }

  void addInputs(const std::vector<ModelInput> &inputs, mlir::func::FuncOp function) {
    for (const ModelInput &input : inputs) {
      if (input.value) {
        tensors.emplace(input.name, Tensor{input.type, input.shape, input.value, {}, input.name});
        info.tensors.push_back({input.name, input.shape, {}});
        continue;
      }
      auto type = mlir::RankedTensorType::get(input.shape, builder.getF32Type());
      auto location = mlir::NameLoc::get(builder.getStringAttr(input.name));
      if (isState(input.name)) {
        const mlir::Value state = builder.create<ir::StateOp>(location, type, nullptr);
        states[input.name] = state;
        tensors.emplace(input.name, Tensor{input.type, input.shape, nullptr, state, {}});
        info.tensors.push_back({input.name, input.shape, state});
        continue;
      }
      info.inputs.push_back({input.name, input.shape, *hostType(input.type)});
      unsigned index = function.getNumArguments();
      function.insertArgument(index, type, builder.getDictionaryAttr(nameAttribute(input.name)),
                              location);
      tensors.emplace(input.name,
                      Tensor{input.type, input.shape, nullptr, function.getArgument(index), {}});
      info.tensors.push_back({input.name, input.shape, function.getArgument(index)});
    }
  }

  /// Imports one node. If it cannot be, its outputs stay undefined, and the
  /// nodes that need them are only checked as far as that goes.
  void importNode(const GraphNode &node) {
    if (choosesABranch(node)) {
      if (node.proto->input(0).empty()) {
        report.add("E0204", node.ref, "If leaves out its input 'cond', which is required");
        return;
      }
      const auto condition = tensors.find(node.proto->input(0));
      if (condition == tensors.end())
        return;
      if (const auto value = truthOf(condition->second);
          value && condition->second.type == onnx::TensorProto::BOOL) {
        importBranch(node, *value ? "then_branch" : "else_branch");
        return;
      }
    }
    const Operator *entry = findOperator(node);
    if (!entry)
      return;
    size_t before = report.count();
    std::map<std::string, AttributeValue> attributes =
        readAttributes(node, *entry, external, report);
    checkArity(node, *entry, report);
    std::vector<const Tensor *> inputs;
    for (const std::string &name : node.proto->input()) {
      auto found = name.empty() ? tensors.end() : tensors.find(name);
      if (!name.empty() && found == tensors.end())
        return;
      inputs.push_back(found == tensors.end() ? nullptr : &found->second);
    }
    if (report.count() != before)
      return;
    while (!inputs.empty() && !inputs.back())
      inputs.pop_back(); // named by an empty string is left out
    NodeView view(node, std::move(inputs), std::move(attributes));
    for (const Requirement &requirement : requirementsOf(*entry)) {
      std::string found = requirement.violation(view);
      if (found.empty())
        continue;
      report.add(
          requirement.code, node.ref,
          fmt::format("{} requires: {}; found {}", node.ref.op, requirement.sentence, found));
      return;
    }
    try {
      build(node, *entry, std::move(view));
    } catch (const NodeError &error) {
      if (!error.code.empty())
        report.add(error.code, node.ref, fmt::format("{}: {}", node.ref.op, error.message)).fixes =
            error.fixes;
    }
  }

  /// Whether the node is an If that its branch could replace.
  static bool choosesABranch(const GraphNode &node) {
    return node.ref.op == "If" && normalDomain(node.proto->domain()).empty() &&
           node.proto->input_size() == 1;
  }

  /// Imports the nodes of a branch in the place of their If.
  void importBranch(const GraphNode &node, std::string_view attribute) {
    const onnx::GraphProto *branch = nullptr;
    for (const onnx::AttributeProto &one : node.proto->attribute())
      if (one.name() == attribute && one.has_g())
        branch = &one.g();
    if (!branch || branch->output_size() != node.proto->output_size()) {
      report.add("E0206", node.ref,
                 fmt::format("If requires: attribute '{}' is a graph with as many outputs as the "
                             "node",
                             attribute));
      return;
    }
    std::vector<std::optional<Tensor>> results = importGraph(node, *branch, attribute, {});
    for (int i = 0; i < branch->output_size(); ++i)
      if (results[i] && !node.proto->output(i).empty())
        define(node.proto->output(i), std::move(*results[i]));
  }

  /// Imports the nodes of a graph in an attribute of `node`, whose inputs are the arguments.
  /// By output, what could be imported.
  std::vector<std::optional<Tensor>> importGraph(const GraphNode &node,
                                                 const onnx::GraphProto &graph,
                                                 std::string_view attribute,
                                                 const std::vector<Tensor> &arguments) {
    std::vector<std::optional<Tensor>> results(graph.output_size());
    const std::set<std::string> inner = namesOf(graph);
    const size_t before = report.count();
    for (const std::string &name : inner)
      if (tensors.contains(name))
        report.add("E0107", node.ref,
                   fmt::format("{} of the graph '{}' is already defined outside", inQuotes(name),
                               attribute));
    if (report.count() != before)
      return results;
    std::vector<std::string> added; // names that are none of the graph around
    const auto add = [&](const std::string &name) {
      if (names.insert(name).second)
        added.push_back(name);
    };
    for (const std::string &name : readInitializers(graph))
      add(name);
    for (size_t i = 0; i < arguments.size(); ++i) {
      const std::string &name = graph.input(static_cast<int>(i)).name();
      tensors.emplace(name, arguments[i]);
      add(name);
    }
    const auto checkUse = [&](const std::string &name, const NodeRef &user) {
      if (!name.empty() && !names.contains(name))
        report.add("E0108", user,
                   fmt::format("{} is used in the graph '{}' before anything defines it",
                               inQuotes(name), attribute));
    };
    auto &body = read[&graph].nodes;
    if (!body)
      body = inliner->ofBody(graph, node);
    importedInGraphs += static_cast<int64_t>(body->nodes.size());
    std::set<std::string> defined = inner; // by functions too
    for (GraphNode part : body->nodes) {
      part.used.assign(part.proto->output_size(), true);
      for (const std::string &name : part.proto->input())
        checkUse(name, part.ref);
      importNode(part);
      std::for_each(part.proto->output().begin(), part.proto->output().end(), add);
      defined.insert(part.proto->output().begin(), part.proto->output().end());
    }
    for (int i = 0; i < graph.output_size(); ++i) {
      checkUse(graph.output(i).name(), node.ref);
      if (graph.output(i).name().empty())
        report.add("E0108", node.ref,
                   fmt::format("output {} of the graph '{}' has no name, so nothing defines it", i,
                               attribute));
      if (const auto found = tensors.find(graph.output(i).name()); found != tensors.end())
        results[i] = found->second;
    }
    // The graph may name its results like those of the node.
    for (const std::string &name : defined)
      tensors.erase(name);
    for (const std::string &name : added)
      names.erase(name);
    return results;
  }

  /// The graphs of one node, for its entry.
  class Bodies final : public BodyImporter {
  public:
    Bodies(Importer &importer, const GraphNode &node) : importer(importer), node(node) {}

    std::vector<Tensor> import(const std::string &attribute,
                               const std::vector<Tensor> &arguments) override {
      const size_t before = importer.report.count();
      const mlir::Location where = importer.emitter.where();
      const onnx::GraphProto *graph = nullptr;
      for (const onnx::AttributeProto &one : node.proto->attribute())
        if (one.name() == attribute)
          graph = &one.g();
      if (!graph) // an attribute that the entry requires
        throw NodeError{};
      ++importer.depth;
      const auto results = importer.importGraph(node, *graph, attribute, arguments);
      --importer.depth;
      importer.emitter.setLocation(where);
      std::vector<Tensor> tensors;
      for (const std::optional<Tensor> &result : results)
        if (result)
          tensors.push_back(*result);
      if (importer.report.count() != before || tensors.size() != results.size())
        throw NodeError{};
      return tensors;
    }
    int64_t nodes() const override { return importer.importedInGraphs; }

  private:
    Importer &importer;
    const GraphNode &node;
  };

  void build(const GraphNode &node, const Operator &entry, NodeView view) {
    Bodies bodies(*this, node);
    const Unseeded unseeded = !options.fixedRandom ? Unseeded::Refused
                              : depth == 0         ? Unseeded::Fixed
                                                   : Unseeded::RefusedInLoop;
    NodeBuilder target(std::move(view), emitter, bodies, unseeded);
    std::string name = node.proto->output_size() ? node.proto->output(0) : "";
    emitter.setLocation(
        ir::nodeLoc(&context, node.ref, mlir::NameLoc::get(builder.getStringAttr(name))));
    if (entry.evaluate && target.allKnown())
      entry.evaluate(target);
    else
      entry.build(target);
    if (target.isRandom)
      noteRandom(nodeText(node.ref));
    for (int i = 0; i < node.proto->output_size(); ++i)
      if (target.wants(i) && target.results[i])
        define(node.proto->output(i), std::move(*target.results[i]));
  }

  void define(const std::string &output, Tensor tensor) {
    if (tensor.known)
      tensor.name = output;
    if (depth == 0 && tensor.isTensor()) // those of a body are as many as there are trips
      info.tensors.push_back({output, tensor.shape, tensor.value});
    tensors.emplace(output, std::move(tensor));
  }

  const Operator *findOperator(const GraphNode &node) {
    std::string domain = normalDomain(node.proto->domain());
    const OperatorTable &table = operatorTable();
    const Operator *entry = node.opset == 0 ? nullptr : table.find(domain, node.ref.op, node.opset);
    if (!entry)
      reportUnsupported(node, report);
    return entry;
  }

  const std::vector<Requirement> &requirementsOf(const Operator &entry) {
    auto [found, isNew] = requirements.try_emplace(&entry);
    if (isNew)
      found->second = allRequirements(entry);
    return found->second;
  }

  /// Whether the pairs of --state name an input and an output each, and none twice.
  void checkStates(const onnx::GraphProto &graph) {
    std::set<std::string> seen, outputs;
    std::vector<std::string> inputNames, outputNames;
    for (const onnx::ValueInfoProto &input : graph.input())
      inputNames.push_back(input.name());
    for (const onnx::ValueInfoProto &output : graph.output())
      outputNames.push_back(output.name());
    const auto check = [&](const std::string &name, const char *what,
                           const std::vector<std::string> &known, std::set<std::string> &before) {
      if (std::ranges::find(known, name) == known.end())
        report.add("E0119", fmt::format("no {} of the model is called {}", what, inQuotes(name)))
            .fixes = suggestion(name, known);
      else if (!before.insert(name).second)
        report.add("E0119", fmt::format("{} {} is in two states", what, inQuotes(name)));
    };
    for (const auto &[input, output] : options.states) {
      check(input, "input", inputNames, seen);
      check(output, "output", outputNames, outputs);
    }
    if (!options.states.empty() && outputs.size() == outputNames.size())
      report.add("E0119", "every output of the model is a state, so that nothing is computed for "
                          "the host");
  }

  /// Keeps the output as a state if it is one.
  bool keep(const std::string &output, const Tensor &tensor) {
    const auto pair =
        std::ranges::find(options.states, output, &std::pair<std::string, std::string>::second);
    if (pair == options.states.end())
      return false;
    const auto state = states.find(pair->first);
    if (state == states.end())
      return true; // reported where the input was lost
    const auto shape = ir::shapeOf(state->second);
    if (!llvm::equal(shape, tensor.shape)) {
      report.add("E0119",
                 fmt::format("output {} is {} and cannot become input {}, which is {}",
                             inQuotes(output), shapeText(tensor.shape), inQuotes(pair->first),
                             shapeText({shape.begin(), shape.end()})));
      return true;
    }
    emitter.setLocation(mlir::NameLoc::get(builder.getStringAttr(output)));
    const mlir::Value value = emitter.value(asFloats(tensor));
    builder.create<ir::KeepOp>(emitter.where(), value.getType(), value, state->second);
    return true;
  }

  void addOutputs(const onnx::GraphProto &graph, const std::vector<Replaced> &replaced,
                  mlir::func::FuncOp function) {
    llvm::SmallVector<mlir::Value> values;
    llvm::SmallVector<mlir::Attribute> names;
    const bool complete = report.count() == 0; // so that every output is defined
    checkStates(graph);
    for (const onnx::ValueInfoProto &output : graph.output()) {
      auto found = tensors.find(output.name());
      if (found == tensors.end()) {
        if (complete)
          throw std::logic_error(fmt::format("nothing defines output {}", inQuotes(output.name())));
        continue; // reported where it was lost
      }
      const Tensor &tensor = found->second;
      size_t before = report.count();
      checkOutput(graph, output, tensor, replaced, report, info.notes);
      if (report.count() != before)
        continue;
      if (keep(output.name(), tensor))
        continue;
      info.outputs.push_back(
          {output.name(), tensor.shape, hostType(tensor.type).value_or(format::HostType::Float32)});
      emitter.setLocation(mlir::NameLoc::get(builder.getStringAttr(output.name())));
      values.push_back(emitter.value(asFloats(tensor)));
      names.push_back(builder.getDictionaryAttr(nameAttribute(output.name())));
    }
    builder.create<mlir::func::ReturnOp>(builder.getUnknownLoc(), values);
    function.setType(
        builder.getFunctionType(function.getArgumentTypes(), mlir::ValueRange(values).getTypes()));
    function.setResAttrsAttr(builder.getArrayAttr(names));
  }

  /// Once, though bodies are imported for every trip.
  void noteRandom(const std::string &node) {
    if (std::ranges::find(randomNodes, node) == randomNodes.end())
      randomNodes.push_back(node);
  }

  /// A program has one field of random numbers for all inferences.
  void noteRandomNodes() {
    constexpr size_t kNamed = 3;
    if (randomNodes.empty())
      return;
    const size_t named = std::min(kNamed, randomNodes.size());
    std::string text =
        fmt::format("every inference has the same random numbers: {}",
                    fmt::join(randomNodes.begin(), randomNodes.begin() + named, ", "));
    if (named < randomNodes.size())
      text += fmt::format(" and {} more", randomNodes.size() - named);
    info.notes.push_back(std::move(text));
  }

  /// Extents that the user replaced are noted; what contradicts itself with them, from
  /// problem `before` on, is a problem of theirs.
  void blameReplaced(const std::vector<Replaced> &replaced, size_t before) {
    std::vector<std::string> texts;
    for (const Replaced &one : replaced)
      texts.push_back(one.text());
    info.notes.insert(info.notes.end(), texts.begin(), texts.end());
    const auto follows = [](const Problem &one) {
      return one.code == "E0206" || one.code == "E0115";
    };
    const auto first =
        std::find_if(problems.begin() + static_cast<ptrdiff_t>(before), problems.end(), follows);
    if (replaced.empty() || first == problems.end())
      return;
    Problem blamed;
    blamed.code = "E0112";
    blamed.message = fmt::format("{}, which the model does not allow", fmt::join(texts, ", "));
    for (auto one = first; one != problems.end(); ++one)
      if (follows(*one))
        blamed.notes.push_back(one->node ? fmt::format("{}: {}", nodeText(*one->node), one->message)
                                         : one->message);
    blamed.fixes.push_back(fix("give the extents of the model, or export it with a free batch"));
    *first = std::move(blamed);
    problems.erase(std::remove_if(std::next(first), problems.end(), follows), problems.end());
  }

  mlir::MLIRContext &context;
  const ImportOptions &options;
  ImportedModel &info;
  Problems &problems;
  Report report;
  ExternalData external;
  Opsets opsets; ///< of the model
  std::optional<FunctionInliner> inliner;
  mlir::OpBuilder builder;
  Emitter emitter;
  std::unordered_map<std::string, Tensor> tensors; ///< by ONNX name
  std::map<std::string, mlir::Value> states;       ///< by name of the input
  /// What the graph, and the branch that is imported, define; of it, `tensors` lacks what
  /// could not be imported.
  std::set<std::string> names;
  std::map<const Operator *, std::vector<Requirement>> requirements;
  std::map<const onnx::GraphProto *, ReadGraph> read;
  std::vector<std::string> randomNodes;
  int64_t importedInGraphs = 0; ///< nodes of bodies and branches
  int64_t depth = 0;            ///< of bodies around the node that is imported
};

/// Runs `body`; what it throws becomes a problem.
template <typename Body> mlir::OwningOpRef<mlir::ModuleOp> guarded(Problems &problems, Body body) {
  Report report(problems);
  try {
    return body();
  } catch (const std::bad_alloc &) {
    report.add("E0103", "the model needs more memory than this machine has");
  } catch (const std::length_error &) {
    report.add("E0103", "the model needs more memory than this machine has");
  } catch (const std::exception &error) {
    report.add("E0199", fmt::format("internal error of the importer: {}", error.what()));
  }
  return nullptr;
}

} // namespace

mlir::OwningOpRef<mlir::ModuleOp> importProto(mlir::MLIRContext &context,
                                              const onnx::ModelProto &model,
                                              const ImportOptions &options, ImportedModel &info,
                                              Problems &problems) {
  context.loadDialect<ir::SluiceDialect, mlir::func::FuncDialect>();
  return guarded(problems, [&] { return Importer(context, options, info, problems).run(model); });
}

mlir::OwningOpRef<mlir::ModuleOp> importModel(mlir::MLIRContext &context,
                                              const ImportOptions &options, ImportedModel &info,
                                              Problems &problems) {
  return guarded(problems, [&]() -> mlir::OwningOpRef<mlir::ModuleOp> {
    Report report(problems);
    std::unique_ptr<onnx::ModelProto> model = readModelFile(options.path, report);
    if (!model)
      return nullptr;
    ImportOptions resolved = options;
    if (resolved.externalData.empty() && options.path != "-") {
      std::filesystem::path folder = std::filesystem::path(options.path).parent_path();
      resolved.externalData = folder.empty() ? "." : folder.string();
    }
    return importProto(context, *model, resolved, info, problems);
  });
}

} // namespace sluice::frontend
