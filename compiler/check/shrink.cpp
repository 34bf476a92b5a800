#include "compiler/check/shrink.h"

#include <algorithm>
#include <optional>
#include <set>

namespace sluice::check {
namespace {

using Names = std::set<std::string>;

void addNamesRead(const onnx::GraphProto &graph, Names &names);

/// What a node reads, the graphs in its attributes included.
void addNamesRead(const onnx::NodeProto &node, Names &names) {
  names.insert(node.input().begin(), node.input().end());
  for (const onnx::AttributeProto &attribute : node.attribute()) {
    if (attribute.has_g())
      addNamesRead(attribute.g(), names);
    for (const onnx::GraphProto &graph : attribute.graphs())
      addNamesRead(graph, names);
  }
}

void addNamesRead(const onnx::GraphProto &graph, Names &names) {
  for (const onnx::NodeProto &node : graph.node())
    addNamesRead(node, names);
  for (const onnx::ValueInfoProto &output : graph.output())
    names.insert(output.name());
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

/// Removes what no output depends on. The list of nodes is in the order of execution or not.
void removeUnread(onnx::GraphProto &graph) {
  Names needed;
  for (const onnx::ValueInfoProto &output : graph.output())
    needed.insert(output.name());
  std::vector<bool> isKept(static_cast<size_t>(graph.node_size()));
  for (bool more = true; more;) {
    more = false;
    for (int i = 0; i < graph.node_size(); ++i) {
      const onnx::NodeProto &node = graph.node(i);
      const auto isNeeded = [&](const std::string &name) { return needed.contains(name); };
      if (isKept[static_cast<size_t>(i)] || std::ranges::none_of(node.output(), isNeeded))
        continue;
      addNamesRead(node, needed);
      isKept[static_cast<size_t>(i)] = more = true;
    }
  }
  size_t next = 0;
  keepOnly(*graph.mutable_node(), [&](const onnx::NodeProto &) { return isKept[next++]; });
  keepOnly(*graph.mutable_initializer(),
           [&](const onnx::TensorProto &one) { return needed.contains(one.name()); });
  keepOnly(*graph.mutable_input(),
           [&](const onnx::ValueInfoProto &one) { return needed.contains(one.name()); });
  graph.clear_value_info();
}

onnx::ValueInfoProto floatTensor(const std::string &name, const std::vector<int64_t> &shape) {
  onnx::ValueInfoProto value;
  value.set_name(name);
  auto *type = value.mutable_type()->mutable_tensor_type();
  type->set_elem_type(onnx::TensorProto::FLOAT);
  type->mutable_shape();
  for (const int64_t extent : shape)
    type->mutable_shape()->add_dim()->set_dim_value(extent);
  return value;
}

class Shrinker {
public:
  Shrinker(onnx::ModelProto model, const TensorShapes &shapes, const ShowsFault &showsFault,
           unsigned tries)
      : model(std::move(model)), shapes(shapes), showsFault(showsFault), left(tries) {}

  onnx::ModelProto run() {
    for (bool smaller = true; smaller && left > 0;)
      smaller = dropOutputs() || endEarlier() || beginLater();
    return std::move(model);
  }

private:
  /// Takes over a changed copy if it is smaller and shows the fault.
  bool take(onnx::ModelProto changed) {
    removeUnread(*changed.mutable_graph());
    const onnx::GraphProto &graph = changed.graph();
    const bool isSmaller = graph.node_size() < model.graph().node_size() ||
                           (graph.node_size() == model.graph().node_size() &&
                            graph.output_size() < model.graph().output_size());
    if (!isSmaller || graph.node_size() == 0 || graph.input_size() == 0 || left == 0)
      return false;
    --left;
    if (!showsFault(changed))
      return false;
    model = std::move(changed);
    return true;
  }

  bool dropOutputs() {
    for (int i = 0; i < model.graph().output_size() && model.graph().output_size() > 1; ++i) {
      onnx::ModelProto changed = model;
      changed.mutable_graph()->mutable_output()->DeleteSubrange(i, 1);
      if (take(std::move(changed)))
        return true;
    }
    return false;
  }

  /// Makes a tensor in the middle the only output: the earliest that shows the fault.
  bool endEarlier() {
    for (int i = 0; i + 1 < model.graph().node_size(); ++i)
      for (const std::string &name : model.graph().node(i).output()) {
        const auto shape = shapes.find(name);
        if (shape == shapes.end())
          continue;
        onnx::ModelProto changed = model;
        changed.mutable_graph()->clear_output();
        *changed.mutable_graph()->add_output() = floatTensor(name, shape->second);
        if (take(std::move(changed)))
          return true;
      }
    return false;
  }

  /// Makes what a node gives an input: of the latest node that can be left out.
  bool beginLater() {
    for (int i = model.graph().node_size() - 1; i >= 0; --i) {
      onnx::ModelProto changed = model;
      onnx::GraphProto &graph = *changed.mutable_graph();
      const onnx::NodeProto node = graph.node(i);
      Names outputs;
      for (const onnx::ValueInfoProto &output : graph.output())
        outputs.insert(output.name());
      const bool canLeave = std::ranges::all_of(node.output(), [&](const std::string &name) {
        return name.empty() || (shapes.contains(name) && !outputs.contains(name));
      });
      if (!canLeave)
        continue;
      for (const std::string &name : node.output())
        if (!name.empty())
          *graph.add_input() = floatTensor(name, shapes.at(name));
      graph.mutable_node()->DeleteSubrange(i, 1);
      if (take(std::move(changed)))
        return true;
    }
    return false;
  }

  onnx::ModelProto model;
  const TensorShapes &shapes;
  const ShowsFault &showsFault;
  unsigned left;
};

} // namespace

onnx::ModelProto shrink(onnx::ModelProto model, const TensorShapes &shapes,
                        const ShowsFault &showsFault, unsigned tries) {
  return Shrinker(std::move(model), shapes, showsFault, tries).run();
}

} // namespace sluice::check
