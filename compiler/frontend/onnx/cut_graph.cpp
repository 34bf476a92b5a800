#include "compiler/frontend/onnx/cut_graph.h"

#include <algorithm>

#include "compiler/frontend/onnx/model_graph.h"

namespace sluice::frontend {
namespace {

/// Whether a node of constants gives the same values each time, and may be computed twice. Does
/// not search graphs in attributes or functions.
bool isRepeatable(const onnx::NodeProto &node) {
  static const std::set<std::string> random{"Bernoulli",     "Multinomial",
                                            "RandomNormal",  "RandomNormalLike",
                                            "RandomUniform", "RandomUniformLike"};
  return normalDomain(node.domain()).empty() && !random.contains(node.op_type()) &&
         std::ranges::none_of(node.attribute(), [](const onnx::AttributeProto &one) {
           return one.has_g() || one.graphs_size() > 0;
         });
}

template <typename Element> void add(Element &from, Element *to, bool move) {
  if (move)
    to->Swap(&from);
  else
    *to = from;
}

} // namespace

CutGraph::CutGraph(const onnx::GraphProto &graph) : graph(graph) {
  for (const onnx::TensorProto &tensor : graph.initializer())
    initializers.insert(tensor.name());
  for (const onnx::SparseTensorProto &tensor : graph.sparse_initializer())
    initializers.insert(tensor.values().name());
  for (const onnx::ValueInfoProto &input : graph.input())
    if (!initializers.contains(input.name()))
      inputs.insert(input.name());
  for (const onnx::NodeProto &node : graph.node()) {
    for (const std::string &name : node.output())
      if (!name.empty() && !inputs.contains(name) && !initializers.contains(name))
        producers.emplace(name, read.size());
    std::vector<std::string> &names = read.emplace_back();
    for (const std::string &name : node.input())
      if (!name.empty())
        names.push_back(name);
    forEachInnerName(node, [&](const std::string &name) { names.push_back(name); });
  }
  findConstants();
}

void CutGraph::findConstants() {
  constant.assign(read.size(), true);
  std::unordered_map<std::string, std::vector<size_t>> readers;
  std::vector<size_t> work;
  const auto vary = [&](size_t node) {
    if (constant[node])
      work.push_back(node);
    constant[node] = false;
  };
  for (size_t n = 0; n < read.size(); ++n) {
    for (const std::string &name : read[n])
      readers[name].push_back(n);
    if (!isRepeatable(graph.node(static_cast<int>(n))) ||
        std::ranges::any_of(read[n], [&](const std::string &name) {
          return !producers.contains(name) && !initializers.contains(name);
        }))
      vary(n);
  }
  while (!work.empty()) {
    const size_t node = work.back();
    work.pop_back();
    for (const std::string &name : graph.node(static_cast<int>(node)).output())
      if (producer(name) == node)
        for (const size_t reader : readers[name])
          vary(reader);
  }
}

Reach CutGraph::needs(const std::vector<std::string> &tensors,
                      const std::set<std::string> &stops) const {
  Reach reach;
  reach.nodes.assign(read.size(), false);
  std::vector<size_t> work;
  const auto need = [&](const std::string &name) {
    if (stops.contains(name)) {
      reach.stops.insert(name);
    } else if (isInput(name)) {
      reach.inputs.insert(name);
    } else if (const auto node = producer(name); node && !reach.nodes[*node]) {
      reach.nodes[*node] = true;
      work.push_back(*node);
    }
  };
  std::ranges::for_each(tensors, need);
  while (!work.empty()) {
    const size_t node = work.back();
    work.pop_back();
    std::ranges::for_each(read[node], need);
  }
  return reach;
}

std::optional<size_t> CutGraph::producer(const std::string &tensor) const {
  const auto found = producers.find(tensor);
  return found == producers.end() ? std::nullopt : std::optional(found->second);
}

bool CutGraph::has(const std::string &tensor) const {
  return isInput(tensor) || initializers.contains(tensor) || producers.contains(tensor);
}

bool CutGraph::isConstant(const std::string &tensor) const {
  const auto node = producer(tensor);
  return initializers.contains(tensor) || (node && constant[*node]);
}

std::vector<std::string> CutGraph::names() const {
  std::vector<std::string> names;
  for (const onnx::ValueInfoProto &input : graph.input())
    if (isInput(input.name()))
      names.push_back(input.name());
  for (const onnx::NodeProto &node : graph.node())
    for (const std::string &name : node.output())
      if (!name.empty() && !isConstant(name))
        names.push_back(name);
  return names;
}

ValueInfos CutGraph::inputsOf(const Reach &reach) const {
  ValueInfos reached;
  for (const onnx::ValueInfoProto &input : graph.input())
    if (reach.inputs.contains(input.name()))
      reached.push_back(input);
  return reached;
}

const onnx::ValueInfoProto *CutGraph::declared(const std::string &tensor) const {
  for (const auto *list : {&graph.input(), &graph.output(), &graph.value_info()})
    for (const onnx::ValueInfoProto &info : *list)
      if (info.name() == tensor && info.has_type())
        return &info;
  return nullptr;
}

onnx::GraphProto partOf(onnx::GraphProto &from, const CutGraph &graph,
                        const std::vector<bool> &nodes, const ValueInfos &inputs,
                        const ValueInfos &outputs, bool move) {
  onnx::GraphProto part;
  part.set_name(from.name());
  part.set_doc_string(from.doc_string());
  std::set<std::string> used, border;
  for (const onnx::ValueInfoProto &info : inputs) {
    border.insert(info.name());
    *part.add_input() = info;
  }
  for (const onnx::ValueInfoProto &info : outputs) {
    border.insert(info.name());
    used.insert(info.name());
    *part.add_output() = info;
  }
  for (int i = 0; i < from.node_size(); ++i) {
    if (!nodes[static_cast<size_t>(i)])
      continue;
    const auto &reads = graph.reads(static_cast<size_t>(i));
    used.insert(reads.begin(), reads.end());
    used.insert(from.node(i).output().begin(), from.node(i).output().end());
    add(*from.mutable_node(i), part.add_node(), move);
  }
  // Inputs with an initializer as default value stay both.
  for (const onnx::ValueInfoProto &input : from.input())
    if (used.contains(input.name()) && graph.isConstant(input.name()))
      *part.add_input() = input;
  for (onnx::TensorProto &tensor : *from.mutable_initializer())
    if (used.contains(tensor.name()))
      add(tensor, part.add_initializer(), move);
  for (onnx::SparseTensorProto &tensor : *from.mutable_sparse_initializer())
    if (used.contains(tensor.values().name()))
      add(tensor, part.add_sparse_initializer(), move);
  for (const onnx::ValueInfoProto &info : from.value_info())
    if (used.contains(info.name()) && !border.contains(info.name()))
      *part.add_value_info() = info;
  for (const onnx::TensorAnnotation &one : from.quantization_annotation())
    if (used.contains(one.tensor_name()))
      *part.add_quantization_annotation() = one;
  return part;
}

} // namespace sluice::frontend
