// Opset imports, and the inlining of model-local functions.
#include "compiler/frontend/onnx/functions.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "compiler/frontend/onnx/source_line.h"
#include "compiler/frontend/onnx/unknown_field.h"

namespace sluice::frontend {
namespace {

constexpr int64_t kMinIr = 3;
constexpr int64_t kMaxIr = 13;
/// Bounds for hostile models, whose functions may call each other.
constexpr size_t kMaxInlinedNodes = 100'000;
constexpr size_t kMaxCallDepth = 64;

/// Fields that IR versions after libonnx's added to its messages.
constexpr int kFunctionOverload = 13;
constexpr int kFunctionAttributeDefaults = 11;
constexpr int kNodeOverload = 8;

template <typename Message> std::string overloadOf(const Message &message, int number) {
  auto values = unknownField(message.unknown_fields(), number);
  return values.empty() ? "" : values.back();
}

Opsets readOpsets(const google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto> &imports,
                  std::string_view whose, Report &report) {
  Opsets opsets;
  for (const onnx::OperatorSetIdProto &import : imports) {
    std::string domain = normalDomain(import.domain());
    auto [entry, isNew] = opsets.emplace(domain, import.version());
    if (!isNew && entry->second != import.version())
      report.add("E0104", fmt::format("{} imports domain {} in two versions, {} and {}", whose,
                                      inQuotes(domain), entry->second, import.version()));
    if (domain.empty() && (import.version() < kMinOpset || import.version() > kMaxOpset))
      report
          .add("E0104", fmt::format("{} uses opset {}; sluice supports {} to {}", whose,
                                    import.version(), kMinOpset, kMaxOpset))
          .fixes.push_back(
              fix(fmt::format("export the model with opset {} to {}, or convert it with "
                              "onnx.version_converter",
                              kMinOpset, kMaxOpset)));
  }
  return opsets;
}

/// The nodes of a body are named after the node it belongs to.
std::string bodyName(const NodeRef &owner) {
  return owner.name.empty() ? fmt::format("{}_{}", owner.op, owner.index) : owner.name;
}

NodeRef bodyRef(const NodeRef &owner, const onnx::NodeProto &inner) {
  const std::string line = sourceLine(inner);
  return {owner.index,
          bodyName(owner) + "/" + (inner.name().empty() ? inner.op_type() : inner.name()),
          inner.op_type(), line.empty() ? owner.source : line};
}

} // namespace

FunctionInliner::FunctionInliner(const onnx::ModelProto &model, const Opsets &opsets,
                                 Report &report)
    : modelOpsets(opsets), report(report) {
  for (const onnx::FunctionProto &proto : model.functions())
    declare(proto);
}

ModelGraph FunctionInliner::ofModel(const onnx::GraphProto &proto) {
  graph = {};
  stopped = false;
  for (int i = 0; i < proto.node_size() && !stopped; ++i) {
    const onnx::NodeProto &node = proto.node(i);
    add(node, {i, node.name(), node.op_type(), sourceLine(node)}, modelOpsets);
  }
  return std::move(graph);
}

ModelGraph FunctionInliner::ofBody(const onnx::GraphProto &proto, const GraphNode &owner) {
  graph = {};
  stopped = false;
  active = owner.within;
  for (const onnx::NodeProto &node : proto.node())
    if (!stopped)
      add(node, bodyRef(owner.ref, node), owner.opsets ? *owner.opsets : modelOpsets);
  active.clear();
  return std::move(graph);
}

void FunctionInliner::declare(const onnx::FunctionProto &proto) {
  Function function;
  function.proto = &proto;
  function.name = fmt::format("function {}", inQuotes(proto.name()));
  function.opsets = readOpsets(proto.opset_import(), function.name, report);
  for (const std::string &bytes :
       unknownField(proto.unknown_fields(), kFunctionAttributeDefaults)) {
    onnx::AttributeProto attribute;
    if (!attribute.ParseFromString(bytes))
      report.add("E0113", function.name + " has a malformed attribute default");
    else
      function.defaults[attribute.name()] = attribute;
  }
  Key key{normalDomain(proto.domain()), proto.name(), overloadOf(proto, kFunctionOverload)};
  if (!functions.emplace(std::move(key), std::move(function)).second)
    report.add("E0113", fmt::format("two functions are named {}", inQuotes(proto.name())));
}

void FunctionInliner::add(const onnx::NodeProto &node, NodeRef ref, const Opsets &opsets) {
  if (graph.inlined.size() > kMaxInlinedNodes) {
    stopped = true;
    report.add("E0113", ref,
               fmt::format("inlining the functions produces more than {} nodes", kMaxInlinedNodes));
    return;
  }
  std::string domain = normalDomain(node.domain());
  auto found = functions.find({domain, node.op_type(), overloadOf(node, kNodeOverload)});
  if (found != functions.end()) {
    call(node, ref, found->second);
    return;
  }
  auto version = opsets.find(domain);
  graph.nodes.push_back({&node, std::move(ref), version == opsets.end() ? 0 : version->second});
  graph.nodes.back().opsets = &opsets;
  graph.nodes.back().within = active;
}

void FunctionInliner::call(const onnx::NodeProto &node, const NodeRef &ref,
                           const Function &function) {
  const onnx::FunctionProto &proto = *function.proto;
  const bool callsItself = !active.insert(&proto).second;
  if (callsItself || active.size() > kMaxCallDepth) {
    stopped = true;
    report.add("E0113", ref,
               callsItself
                   ? function.name + " calls itself"
                   : fmt::format("function calls are nested more than {} deep", kMaxCallDepth));
    return;
  }
  if (checkCall(node, ref, function))
    expand(node, ref, function);
  active.erase(&proto);
}

bool FunctionInliner::checkCall(const onnx::NodeProto &node, const NodeRef &ref,
                                const Function &function) {
  const onnx::FunctionProto &proto = *function.proto;
  size_t before = report.count();
  if (node.input_size() > proto.input_size() || node.output_size() > proto.output_size())
    report.add("E0113", ref,
               fmt::format("{} has {} inputs and {} outputs, but the call passes {} and {}",
                           function.name, proto.input_size(), proto.output_size(),
                           node.input_size(), node.output_size()));
  for (const onnx::AttributeProto &attribute : node.attribute()) {
    bool known = function.defaults.count(attribute.name()) != 0;
    for (const std::string &name : proto.attribute())
      known |= name == attribute.name();
    if (!known)
      report.add("E0113", ref,
                 fmt::format("{} has no attribute {}", function.name, inQuotes(attribute.name())));
  }
  return report.count() == before;
}

/// A function's body as a call has it.
class FunctionInliner::Body {
public:
  Body(const onnx::NodeProto &call, const Function &function, std::string prefix)
      : call(call), function(function), prefix(std::move(prefix)) {}

  std::map<std::string, std::string> names; ///< of the body -> of the graph

  /// Renames what a node reads and defines, graphs in its attributes included. References to
  /// the function's attributes become the call's values; one to an attribute that is not given
  /// and has no default disappears.
  void adapt(onnx::NodeProto &node) {
    for (auto *list : {node.mutable_input(), node.mutable_output()})
      for (std::string &name : *list)
        rename(name);
    google::protobuf::RepeatedPtrField<onnx::AttributeProto> attributes;
    attributes.Swap(node.mutable_attribute());
    for (onnx::AttributeProto &attribute : attributes) {
      if (attribute.ref_attr_name().empty()) {
        if (attribute.has_g())
          adapt(*attribute.mutable_g());
        for (onnx::GraphProto &graph : *attribute.mutable_graphs())
          adapt(graph);
        *node.add_attribute() = attribute;
      } else if (const onnx::AttributeProto *value = valueOf(attribute.ref_attr_name())) {
        onnx::AttributeProto &bound = *node.add_attribute();
        bound = *value;
        bound.set_name(attribute.name());
      }
    }
  }

private:
  void adapt(onnx::GraphProto &graph) {
    for (auto *values : {graph.mutable_input(), graph.mutable_output()})
      for (onnx::ValueInfoProto &value : *values)
        rename(*value.mutable_name());
    for (onnx::TensorProto &tensor : *graph.mutable_initializer())
      rename(*tensor.mutable_name());
    for (onnx::SparseTensorProto &tensor : *graph.mutable_sparse_initializer())
      rename(*tensor.mutable_values()->mutable_name());
    for (onnx::NodeProto &node : *graph.mutable_node())
      adapt(node);
  }

  void rename(std::string &name) {
    if (!name.empty())
      name = names.emplace(name, prefix + name).first->second;
  }

  const onnx::AttributeProto *valueOf(const std::string &attribute) const {
    for (const onnx::AttributeProto &given : call.attribute())
      if (given.name() == attribute)
        return &given;
    const auto byDefault = function.defaults.find(attribute);
    return byDefault == function.defaults.end() ? nullptr : &byDefault->second;
  }

  const onnx::NodeProto &call;
  const Function &function;
  std::string prefix;
};

void FunctionInliner::expand(const onnx::NodeProto &node, const NodeRef &ref,
                             const Function &function) {
  const onnx::FunctionProto &proto = *function.proto;
  Body body(node, function, fmt::format("{}#{}/", bodyName(ref), ++calls));
  for (int i = 0; i < proto.input_size(); ++i)
    body.names[proto.input(i)] = i < node.input_size() ? node.input(i) : "";
  for (int i = 0; i < proto.output_size(); ++i) {
    if (i >= node.output_size() || node.output(i).empty())
      continue;
    auto [entry, isNew] = body.names.emplace(proto.output(i), node.output(i));
    if (!isNew)
      addIdentity(entry->second, node.output(i), ref, function);
  }
  for (const onnx::NodeProto &inner : proto.node()) {
    onnx::NodeProto &copy = graph.inlined.emplace_back(inner);
    body.adapt(copy);
    add(copy, bodyRef(ref, inner), function.opsets);
    if (stopped)
      return;
  }
}

/// An output of the function that is one of its inputs.
void FunctionInliner::addIdentity(const std::string &from, const std::string &to,
                                  const NodeRef &ref, const Function &function) {
  onnx::NodeProto &identity = graph.inlined.emplace_back();
  identity.set_op_type("Identity");
  identity.add_input(from);
  identity.add_output(to);
  auto version = function.opsets.find("");
  graph.nodes.push_back({&identity,
                         {ref.index, ref.name, "Identity", ref.source},
                         version == function.opsets.end() ? kMaxOpset : version->second});
}

int64_t newestOpset(const std::string &domain) {
  return domain.empty() ? kMaxOpset : domain == kMlDomain ? 5 : 1;
}

std::string normalDomain(const std::string &domain) { return domain == "ai.onnx" ? "" : domain; }

Opsets checkVersions(const onnx::ModelProto &model, Report &report) {
  if (model.ir_version() < kMinIr || model.ir_version() > kMaxIr)
    report.add("E0104", fmt::format("the model has IR version {}; sluice supports {} to {}",
                                    model.ir_version(), kMinIr, kMaxIr));
  Opsets opsets = readOpsets(model.opset_import(), "the model", report);
  if (opsets.empty())
    report.add("E0102",
               "the model imports no opset; the file is truncated, or older than ONNX 1.0");
  return opsets;
}

} // namespace sluice::frontend
