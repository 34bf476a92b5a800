// Graphs that are not imported, as the branch that an If does not take: what makes a model invalid
// whatever it computes is said of them too, what is merely not supported is not.
#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "compiler/frontend/onnx/importer.h"
#include "compiler/frontend/onnx/node_view.h"
#include "compiler/frontend/onnx/tensor_reader.h"
#include "compiler/frontend/onnx/unsupported.h"

namespace sluice::frontend {

void Importer::checkUse(const std::string &name, const NodeRef &user, std::string_view attribute) {
  if (!name.empty() && !names.contains(name))
    report.add(
        "E0108", user,
        fmt::format("{} is used in graph '{}' before it is defined", inQuotes(name), attribute));
}

void Importer::checkResult(const onnx::GraphProto &graph, int number, const NodeRef &node,
                           std::string_view attribute) {
  const std::string &name = graph.output(number).name();
  checkUse(name, node, attribute);
  if (name.empty())
    report.add("E0108", node,
               fmt::format("output {} of graph '{}' has no name, so nothing defines it", number,
                           attribute));
}

void Importer::checkUnread(const GraphNode &node, const onnx::GraphProto &graph,
                           std::string_view attribute) {
  if (read[&graph].isChecked)
    return;
  read[&graph].isChecked = true;
  std::set<std::string> own;
  std::vector<std::string> added; // names that are none of the graph around
  const auto add = [&](const std::string &name, const NodeRef &where) {
    if (name.empty())
      return;
    if (!own.insert(name).second)
      report.add("E0107", where,
                 fmt::format("{} is defined twice in graph '{}'", inQuotes(name), attribute));
    else if (tensors.contains(name))
      report.add("E0107", where,
                 fmt::format("{} in graph '{}' is already defined outside the graph",
                             inQuotes(name), attribute));
    if (names.insert(name).second)
      added.push_back(name);
  };
  for (const onnx::ValueInfoProto &input : graph.input())
    add(input.name(), node.ref);
  for (const onnx::TensorProto &tensor : graph.initializer()) {
    add(tensor.name(), node.ref);
    HostTensor unused;
    if (tensor.data_location() == onnx::TensorProto::EXTERNAL)
      continue;
    const auto error = readTensor(tensor, fmt::format("initializer {}", inQuotes(tensor.name())),
                                  external, unused);
    if (error && error->malformed)
      report.add(error->code, error->message);
  }
  for (const onnx::SparseTensorProto &tensor : graph.sparse_initializer())
    add(tensor.values().name(), node.ref);
  auto &body = read[&graph].nodes;
  if (!body)
    body = inliner->ofBody(graph, node);
  for (const GraphNode &part : body->nodes) {
    for (const std::string &name : part.proto->input())
      checkUse(name, part.ref, attribute);
    checkUnread(part);
    for (const std::string &name : part.proto->output())
      add(name, part.ref);
  }
  for (int i = 0; i < graph.output_size(); ++i)
    checkResult(graph, i, node.ref, attribute);
  for (const std::string &name : added)
    names.erase(name);
}

void Importer::checkUnread(const GraphNode &node) {
  const std::string domain = normalDomain(node.proto->domain());
  const OperatorTable &table = operatorTable();
  if (const Operator *entry =
          node.opset == 0 ? nullptr : table.find(domain, node.ref.op, node.opset))
    checkArity(node, *entry, report);
  else if (domain.empty() && !table.oldest(domain, node.ref.op) && !whyUnsupported(node.ref.op))
    reportUnsupported(node, report); // ONNX has none of that name
  for (const onnx::AttributeProto &attribute : node.proto->attribute()) {
    if (attribute.has_g())
      checkUnread(node, attribute.g(), attribute.name());
    for (const onnx::GraphProto &graph : attribute.graphs())
      checkUnread(node, graph, attribute.name());
  }
}

} // namespace sluice::frontend
