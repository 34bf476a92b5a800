#include "compiler/frontend/onnx/cut_rest.h"

#include <algorithm>
#include <new>
#include <stdexcept>

#include <fmt/format.h>

#include "compiler/frontend/onnx/cut.h"
#include "compiler/frontend/onnx/cut_types.h"
#include "compiler/frontend/onnx/file_bytes.h"
#include "compiler/frontend/onnx/model_file.h"

namespace sluice::frontend {
namespace {

/// Divides what a cut leaves of a model.
class RestMaker {
public:
  RestMaker(onnx::ModelProto &model, const ImportOptions &options,
            const std::vector<ImportedTensor> &results, Report &report)
      : shell(model), options(options), results(results), report(report) {
    whole.Swap(model.mutable_graph());
    graph.emplace(whole);
  }

  Rest run() {
    const size_t found = report.count();
    const std::optional<Part> part = findPart(whole, *graph, options.cut, report);
    if (!part)
      return {};
    const std::set<std::string> compiled(part->outputs.begin(), part->outputs.end());
    std::vector<std::string> named; // inputs of the part that nodes compute
    for (const std::string &name : part->inputs)
      if (!graph->isInput(name))
        named.push_back(name);
    const Reach front = graph->needs(named, {});
    const std::set<std::string> computed = outputsOf(front);
    std::set<std::string> stops = compiled;
    stops.insert(computed.begin(), computed.end());
    std::vector<std::string> wanted;
    for (const onnx::ValueInfoProto &output : whole.output())
      if (!stops.contains(output.name()))
        wanted.push_back(output.name());
    const Reach back = graph->needs(wanted, stops);
    checkInner(*part, back, wanted);

    std::vector<std::string> passed = named; // what `before` computes for others
    const auto pass = [&](const std::string &name) {
      if (computed.contains(name) && std::ranges::find(passed, name) == passed.end())
        passed.push_back(name);
    };
    std::ranges::for_each(back.stops, pass);
    for (const onnx::ValueInfoProto &output : whole.output())
      pass(output.name());

    CutTypes types(shell, whole, *graph, options);
    ValueInfos beforeOutputs, behindInputs, behindOutputs;
    for (const std::string &name : part->outputs)
      if (back.stops.contains(name))
        if (const auto info = ofResult(name))
          behindInputs.push_back(*info);
    for (const std::string &name : passed) {
      const auto info = declarationOfPassed(types, name);
      if (info && back.stops.contains(name))
        behindInputs.push_back(*info);
      if (info)
        beforeOutputs.push_back(*info);
    }
    for (const onnx::ValueInfoProto &input : graph->inputsOf(back))
      behindInputs.push_back(input);
    for (const onnx::ValueInfoProto &output : whole.output())
      if (std::ranges::find(wanted, output.name()) != wanted.end())
        behindOutputs.push_back(output);
    if (report.count() != found)
      return {};
    Rest rest;
    for (const onnx::ValueInfoProto &input : whole.input())
      if (graph->isInput(input.name()))
        rest.inputs.push_back(input.name());
    for (const onnx::ValueInfoProto &output : whole.output())
      rest.outputs.push_back(output.name());
    if (!named.empty())
      rest.before =
          bytesOf(partOf(whole, *graph, front.nodes, graph->inputsOf(front), beforeOutputs, false),
                  "before");
    if (!wanted.empty())
      rest.behind =
          bytesOf(partOf(whole, *graph, back.nodes, behindInputs, behindOutputs, false), "behind");
    return rest;
  }

private:
  /// The tensors that nodes compute, but for constants.
  [[nodiscard]] std::set<std::string> outputsOf(const Reach &reach) const {
    std::set<std::string> names;
    for (size_t n = 0; n < reach.nodes.size(); ++n)
      if (reach.nodes[n] && !graph->isConstantNode(n))
        for (const std::string &name : whole.node(static_cast<int>(n)).output())
          if (!name.empty())
            names.insert(name);
    return names;
  }

  /// Reports the tensors that the rest needs and the part does not output.
  void checkInner(const Part &part, const Reach &back, const std::vector<std::string> &wanted) {
    std::set<std::string> needed(wanted.begin(), wanted.end());
    for (size_t n = 0; n < back.nodes.size(); ++n)
      if (back.nodes[n] && !part.nodes[n])
        needed.insert(graph->reads(n).begin(), graph->reads(n).end());
    for (const std::string &name : part.outputs)
      needed.erase(name); // a node may compute others too
    std::vector<std::string> inner;
    for (const std::string &name : needed)
      if (const auto node = graph->producer(name);
          node && part.nodes[*node] && back.nodes[*node] && !graph->isConstantNode(*node))
        inner.push_back(name);
    std::vector<std::string> all = part.outputs;
    all.insert(all.end(), inner.begin(), inner.end());
    for (const std::string &name : inner)
      report
          .add(kWrongCut,
               fmt::format("the rest of the model needs {}, which the compiled part computes",
                           inQuotes(name)))
          .fixes.push_back(
              fix("list it as an output", fmt::format("--outputs {}", fmt::join(all, ","))));
  }

  std::optional<onnx::ValueInfoProto> ofResult(const std::string &name) {
    const auto found = std::ranges::find(results, name, &ImportedTensor::name);
    if (found != results.end())
      return declarationOf(name, dataTypeOf(found->type), found->shape);
    report.add(kWrongCut, fmt::format("the rest of the model needs {}, which the program does not "
                                      "output",
                                      inQuotes(name)));
    return std::nullopt;
  }

  std::optional<onnx::ValueInfoProto> declarationOfPassed(CutTypes &types,
                                                          const std::string &name) {
    if (auto info = types.of(name))
      return info;
    // A float input whose shape the user gives.
    const auto shape = options.inputShapes.find(name);
    if (shape != options.inputShapes.end())
      return declarationOf(name, onnx::TensorProto::FLOAT, shape->second);
    CutTypes::reportUnknown(name, report);
    return std::nullopt;
  }

  std::string bytesOf(onnx::GraphProto graph, const char *where) {
    onnx::ModelProto model = shell;
    model.mutable_graph()->Swap(&graph);
    return bytesWithWeights(model, options.externalData,
                            fmt::format("the nodes {} the compiled part have", where), report);
  }

  const onnx::ModelProto &shell;
  onnx::GraphProto whole;
  std::optional<CutGraph> graph;
  const ImportOptions &options;
  const std::vector<ImportedTensor> &results;
  Report &report;
};

} // namespace

Rest restOf(const ImportOptions &options, const std::vector<ImportedTensor> &outputs,
            Problems &problems) {
  Report report(problems);
  try {
    const auto model = readModelFile(options.path, report);
    return model ? RestMaker(*model, withDataFolder(options), outputs, report).run() : Rest{};
  } catch (const std::bad_alloc &) {
    report.add("E0103", "the model needs more memory than this machine has");
  } catch (const std::length_error &) {
    report.add("E0103", "the model needs more memory than this machine has");
  }
  return {};
}

} // namespace sluice::frontend
