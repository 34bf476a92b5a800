#include "compiler/reduce/graph_parts.h"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "compiler/frontend/onnx/model_graph.h"
#include "compiler/reduce/inner_graphs.h"

namespace sluice::reduce {
namespace {

using Names = std::set<std::string>;

size_t nodesOf(const onnx::GraphProto &graph) {
  auto count = static_cast<size_t>(graph.node_size());
  for (const onnx::NodeProto &node : graph.node())
    forEachInnerGraph(node, [&](const onnx::GraphProto &inner) { count += nodesOf(inner); });
  return count;
}

template <typename List, typename Keeps> void keepOnly(List &list, Keeps keeps) {
  int kept = 0;
  for (int i = 0; i < list.size(); ++i)
    if (keeps(list.Get(i))) {
      if (kept != i)
        list.SwapElements(kept, i);
      ++kept;
    }
  list.DeleteSubrange(kept, list.size() - kept);
}

/// Removes what no output of the graph depends on. The inputs of a graph in an attribute stay.
void removeUnreadIn(onnx::GraphProto &graph, bool isInner) {
  Names needed;
  for (const onnx::ValueInfoProto &output : graph.output())
    needed.insert(output.name());
  const auto isNeeded = [&](const std::string &name) { return needed.contains(name); };
  std::vector<bool> isKept(static_cast<size_t>(graph.node_size()));
  for (bool more = true; more;) {
    more = false;
    for (int i = graph.node_size() - 1; i >= 0; --i) {
      onnx::NodeProto &node = *graph.mutable_node(i);
      if (isKept[static_cast<size_t>(i)] || std::ranges::none_of(node.output(), isNeeded))
        continue;
      forEachInnerGraph(node, [](onnx::GraphProto &inner) { removeUnreadIn(inner, true); });
      needed.merge(readsOf(node));
      isKept[static_cast<size_t>(i)] = more = true;
    }
  }
  size_t next = 0;
  keepOnly(*graph.mutable_node(), [&](const onnx::NodeProto &) { return isKept[next++]; });
  keepOnly(*graph.mutable_initializer(),
           [&](const onnx::TensorProto &one) { return isNeeded(one.name()); });
  keepOnly(*graph.mutable_sparse_initializer(),
           [&](const onnx::SparseTensorProto &one) { return isNeeded(one.values().name()); });
  if (!isInner)
    keepOnly(*graph.mutable_input(),
             [&](const onnx::ValueInfoProto &one) { return isNeeded(one.name()); });
  graph.clear_value_info();
  graph.clear_quantization_annotation();
}

void addOperators(const google::protobuf::RepeatedPtrField<onnx::NodeProto> &nodes,
                  std::set<std::pair<std::string, std::string>> &operators) {
  for (const onnx::NodeProto &node : nodes) {
    operators.emplace(node.domain(), node.op_type());
    forEachInnerGraph(
        node, [&](const onnx::GraphProto &inner) { addOperators(inner.node(), operators); });
  }
}

void removeUnreadFunctions(onnx::ModelProto &model) {
  std::set<std::pair<std::string, std::string>> operators;
  addOperators(model.graph().node(), operators);
  for (size_t before = 0; before != operators.size();) {
    before = operators.size();
    for (const onnx::FunctionProto &function : model.functions())
      if (operators.contains({function.domain(), function.name()}))
        addOperators(function.node(), operators);
  }
  keepOnly(*model.mutable_functions(), [&](const onnx::FunctionProto &function) {
    return operators.contains({function.domain(), function.name()});
  });
}

/// A model with everything but a graph.
onnx::ModelProto shellOf(const onnx::ModelProto &model) {
  onnx::ModelProto shell;
  shell.set_ir_version(model.ir_version());
  shell.set_producer_name(model.producer_name());
  shell.set_producer_version(model.producer_version());
  *shell.mutable_opset_import() = model.opset_import();
  *shell.mutable_functions() = model.functions();
  shell.mutable_graph()->set_name(model.graph().name());
  return shell;
}

/// Makes a model of some of the nodes.
class PartMaker {
public:
  PartMaker(const onnx::ModelProto &model, const Facts &facts)
      : graph(model.graph()), facts(facts), part(shellOf(model)) {
    for (const onnx::ValueInfoProto &input : graph.input())
      inputs[input.name()] = &input;
    for (const onnx::TensorProto &one : graph.initializer())
      initializers[one.name()] = &one;
    for (const onnx::SparseTensorProto &one : graph.sparse_initializer())
      sparse[one.values().name()] = &one;
  }

  std::optional<onnx::ModelProto> run(const std::vector<bool> &kept) {
    onnx::GraphProto &made = *part.mutable_graph();
    for (int i = 0; i < graph.node_size(); ++i)
      if (kept[static_cast<size_t>(i)]) {
        *made.add_node() = graph.node(i);
        produced.insert(graph.node(i).output().begin(), graph.node(i).output().end());
      }
    for (const onnx::NodeProto &node : made.node())
      read.merge(readsOf(node));
    for (const std::string &name : read)
      if (!produced.contains(name) && !addSource(name))
        return std::nullopt;
    addOutputs();
    removeUnreadFunctions(part);
    return made.output().empty() ? std::nullopt : std::optional(std::move(part));
  }

private:
  /// Adds where a tensor comes from that no node computes.
  bool addSource(const std::string &name) {
    onnx::GraphProto &made = *part.mutable_graph();
    bool isKnown = false;
    if (const auto found = inputs.find(name); found != inputs.end()) {
      *made.add_input() = *found->second;
      isKnown = true;
    }
    if (const auto found = initializers.find(name); found != initializers.end()) {
      *made.add_initializer() = *found->second;
      isKnown = true;
    } else if (const auto other = sparse.find(name); other != sparse.end()) {
      *made.add_sparse_initializer() = *other->second;
      isKnown = true;
    }
    if (isKnown)
      return true;
    const auto fact = facts.find(name);
    if (fact == facts.end())
      return false;
    if (fact->second.constant) {
      onnx::TensorProto &constant = *made.add_initializer();
      constant = *fact->second.constant;
      constant.set_name(name);
    } else {
      *made.add_input() = declarationOf(name, facts);
    }
    return true;
  }

  /// Keeps outputs that are still computed, and makes results outputs that nobody reads.
  void addOutputs() {
    onnx::GraphProto &made = *part.mutable_graph();
    Names outputs;
    for (const onnx::ValueInfoProto &output : graph.output())
      if (produced.contains(output.name()) && outputs.insert(output.name()).second)
        *made.add_output() = output;
    for (const onnx::NodeProto &node : made.node()) {
      const auto isUsed = [&](const std::string &name) {
        return read.contains(name) || outputs.contains(name);
      };
      const auto first = std::ranges::find_if(
          node.output(), [](const std::string &name) { return !name.empty(); });
      if (first != node.output().end() && std::ranges::none_of(node.output(), isUsed))
        *made.add_output() = declarationOf(*first, facts);
    }
  }

  const onnx::GraphProto &graph;
  const Facts &facts;
  onnx::ModelProto part;
  std::map<std::string, const onnx::ValueInfoProto *> inputs;
  std::map<std::string, const onnx::TensorProto *> initializers;
  std::map<std::string, const onnx::SparseTensorProto *> sparse;
  Names produced, read;
};

/// The value of a `Constant` node, if it is a tensor of numbers.
std::optional<onnx::TensorProto> valueOf(const onnx::NodeProto &node) {
  if (node.op_type() != "Constant" || !node.domain().empty() || node.attribute_size() != 1 ||
      node.output_size() != 1)
    return std::nullopt;
  const onnx::AttributeProto &attribute = node.attribute(0);
  onnx::TensorProto value;
  if (attribute.name() == "value" && attribute.has_t()) {
    value = attribute.t();
  } else if (attribute.name() == "value_float" || attribute.name() == "value_floats") {
    value.set_data_type(onnx::TensorProto::FLOAT);
    *value.mutable_float_data() = attribute.floats();
    if (attribute.name() == "value_float")
      value.add_float_data(attribute.f());
    else
      value.add_dims(attribute.floats_size());
  } else if (attribute.name() == "value_int" || attribute.name() == "value_ints") {
    value.set_data_type(onnx::TensorProto::INT64);
    *value.mutable_int64_data() = attribute.ints();
    if (attribute.name() == "value_int")
      value.add_int64_data(attribute.i());
    else
      value.add_dims(attribute.ints_size());
  } else {
    return std::nullopt;
  }
  value.set_name(node.output(0));
  return value;
}

} // namespace

size_t countNodes(const onnx::ModelProto &model) { return nodesOf(model.graph()); }

std::set<std::string> readsOf(const onnx::NodeProto &node) {
  Names names;
  for (const std::string &name : node.input())
    if (!name.empty())
      names.insert(name);
  frontend::forEachInnerName(node, [&](const std::string &name) { names.insert(name); });
  return names;
}

std::vector<std::vector<size_t>> producersOf(const onnx::GraphProto &graph) {
  std::map<std::string, size_t> producers;
  for (int i = 0; i < graph.node_size(); ++i)
    for (const std::string &name : graph.node(i).output())
      if (!name.empty())
        producers.emplace(name, i);
  std::vector<std::vector<size_t>> before(static_cast<size_t>(graph.node_size()));
  for (size_t i = 0; i < before.size(); ++i)
    for (const std::string &name : readsOf(graph.node(static_cast<int>(i))))
      if (const auto found = producers.find(name); found != producers.end())
        before[i].push_back(found->second);
  return before;
}

void sortNodes(onnx::GraphProto &graph) {
  const std::vector<std::vector<size_t>> before = producersOf(graph);
  std::vector<bool> isDone(before.size());
  std::vector<size_t> order;
  for (bool more = true; more;) {
    more = false;
    for (size_t i = 0; i < before.size(); ++i)
      if (!isDone[i] && std::ranges::all_of(before[i], [&](size_t one) { return isDone[one]; })) {
        isDone[i] = more = true;
        order.push_back(i);
      }
  }
  if (order.size() != before.size() || std::ranges::is_sorted(order))
    return;
  onnx::GraphProto sorted;
  for (const size_t i : order)
    sorted.add_node()->Swap(graph.mutable_node(static_cast<int>(i)));
  graph.mutable_node()->Swap(sorted.mutable_node());
}

onnx::ValueInfoProto declarationOf(const std::string &name, const Facts &facts) {
  onnx::ValueInfoProto info;
  info.set_name(name);
  const auto fact = facts.find(name);
  if (fact == facts.end())
    return info;
  auto *type = info.mutable_type()->mutable_tensor_type();
  type->set_elem_type(fact->second.type);
  type->mutable_shape();
  for (const int64_t extent : fact->second.shape)
    type->mutable_shape()->add_dim()->set_dim_value(extent);
  return info;
}

std::optional<onnx::ModelProto> partOf(const onnx::ModelProto &model, const std::vector<bool> &kept,
                                       const Facts &facts) {
  return PartMaker(model, facts).run(kept);
}

void removeUnread(onnx::ModelProto &model) {
  removeUnreadIn(*model.mutable_graph(), false);
  removeUnreadFunctions(model);
}

void constantsToInitializers(onnx::GraphProto &graph) {
  for (const onnx::NodeProto &node : graph.node())
    if (auto value = valueOf(node))
      *graph.add_initializer() = std::move(*value);
  keepOnly(*graph.mutable_node(), [](const onnx::NodeProto &node) { return !valueOf(node); });
}

} // namespace sluice::reduce
