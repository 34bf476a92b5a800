#include "compiler/frontend/onnx/importer_bodies.h"

#include <algorithm>

#include <fmt/format.h>

#include "llvm/Support/SaveAndRestore.h"

namespace sluice::frontend {

std::vector<std::optional<Tensor>> Importer::importGraph(const GraphNode &node,
                                                         const onnx::GraphProto &graph,
                                                         std::string_view attribute,
                                                         const std::vector<Tensor> &arguments) {
  std::vector<std::optional<Tensor>> results(graph.output_size());
  const std::set<std::string> inner = namesOf(graph);
  const size_t before = report.count();
  for (const std::string &name : inner)
    if (tensors.contains(name))
      report.add("E0107", node.ref,
                 fmt::format("{} in graph '{}' is already defined outside the graph",
                             inQuotes(name), attribute));
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
  auto &body = read[&graph].nodes;
  if (!body)
    body = inliner->ofBody(graph, node);
  importedInGraphs += static_cast<int64_t>(body->nodes.size());
  std::set<std::string> defined = inner; // by functions too
  std::set<std::string> once;
  for (GraphNode part : body->nodes) {
    part.used.assign(part.proto->output_size(), true);
    part.shared.assign(part.proto->output_size(), true);
    for (const std::string &name : part.proto->input())
      checkUse(name, part.ref, attribute);
    for (const std::string &name : part.proto->output())
      if (!name.empty() && !once.insert(name).second)
        report.add("E0107", part.ref,
                   fmt::format("{} is defined twice in graph '{}'", inQuotes(name), attribute));
    importNode(part);
    std::for_each(part.proto->output().begin(), part.proto->output().end(), add);
    defined.insert(part.proto->output().begin(), part.proto->output().end());
  }
  for (int i = 0; i < graph.output_size(); ++i) {
    checkResult(graph, i, node.ref, attribute);
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

const onnx::GraphProto &Importer::Bodies::graphOf(const std::string &attribute) const {
  for (const onnx::AttributeProto &one : node.proto->attribute())
    if (one.name() == attribute)
      return one.g();
  throw NodeError{}; // an attribute that the entry requires
}

void Importer::Bodies::check(const std::string &attribute) {
  importer.checkUnread(node, graphOf(attribute), attribute);
}

std::vector<Tensor> Importer::Bodies::tensorsOf(const std::string &attribute,
                                                const std::vector<Tensor> &arguments) {
  const size_t before = importer.report.count();
  const mlir::Location where = importer.emitter.where();
  const auto results = importer.importGraph(node, graphOf(attribute), attribute, arguments);
  importer.emitter.setLocation(where);
  std::vector<Tensor> tensors;
  for (const std::optional<Tensor> &result : results)
    if (result)
      tensors.push_back(*result);
  if (importer.report.count() != before || tensors.size() != results.size())
    throw NodeError{};
  return tensors;
}

std::vector<Tensor> Importer::Bodies::import(const std::string &attribute,
                                             const std::vector<Tensor> &arguments) {
  const llvm::SaveAndRestore<int64_t> deeper(importer.depth, importer.depth + 1);
  return tensorsOf(attribute, arguments);
}

std::vector<Tensor> Importer::Bodies::importInPlace(const std::string &attribute) {
  return tensorsOf(attribute, {});
}

} // namespace sluice::frontend
