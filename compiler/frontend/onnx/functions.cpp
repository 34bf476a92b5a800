// Opset imports, and the inlining of model-local functions.
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "compiler/frontend/onnx/model_graph.h"
#include "compiler/frontend/onnx/source_line.h"
#include "compiler/frontend/onnx/unknown_field.h"

namespace sluice::frontend {
namespace {

constexpr int64_t kMinIr = 3;
constexpr int64_t kMaxIr = 13;
/// Bounds for hostile models, whose functions may call each other.
constexpr size_t kMaxNodes = 100'000;
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
      report.add("E0104", fmt::format("{} imports domain {} in the versions {} and {}", whose,
                                      inQuotes(domain), entry->second, import.version()));
    if (domain.empty() && (import.version() < kMinOpset || import.version() > kMaxOpset))
      report
          .add("E0104", fmt::format("{} uses opset {}, allowed are {} to {}", whose,
                                    import.version(), kMinOpset, kMaxOpset))
          .fixes.push_back(
              fix(fmt::format("export the model with opset {} to {}, or convert it with "
                              "onnx.version_converter",
                              kMinOpset, kMaxOpset)));
  }
  return opsets;
}

/// A function with what its newer fields add.
struct Function {
  const onnx::FunctionProto *proto = nullptr;
  std::string name; ///< for messages
  Opsets opsets;
  std::map<std::string, onnx::AttributeProto> defaults;
};

class Inliner {
public:
  Inliner(const onnx::ModelProto &model, const Opsets &opsets, Report &report)
      : modelOpsets(opsets), report(report) {
    for (const onnx::FunctionProto &proto : model.functions())
      declare(proto);
  }

  ModelGraph run(const onnx::GraphProto &proto) {
    for (int i = 0; i < proto.node_size() && !stopped; ++i) {
      const onnx::NodeProto &node = proto.node(i);
      add(node, {i, node.name(), node.op_type(), sourceLine(node)}, modelOpsets);
    }
    return std::move(graph);
  }

private:
  using Key = std::tuple<std::string, std::string, std::string>;

  void declare(const onnx::FunctionProto &proto) {
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

  void add(const onnx::NodeProto &node, NodeRef ref, const Opsets &opsets) {
    if (graph.nodes.size() >= kMaxNodes) {
      stopped = true;
      report.add("E0113", ref,
                 fmt::format("inlining functions gives more than {} nodes", kMaxNodes));
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
    graph.nodes.back().inlined = !active.empty();
  }

  void call(const onnx::NodeProto &node, const NodeRef &ref, const Function &function) {
    const onnx::FunctionProto &proto = *function.proto;
    if (!active.insert(&proto).second || active.size() > kMaxCallDepth) {
      stopped = true;
      report.add("E0113", ref, function.name + " calls itself");
      return;
    }
    if (checkCall(node, ref, function))
      expand(node, ref, function);
    active.erase(&proto);
  }

  bool checkCall(const onnx::NodeProto &node, const NodeRef &ref, const Function &function) {
    const onnx::FunctionProto &proto = *function.proto;
    size_t before = report.count();
    if (node.input_size() > proto.input_size() || node.output_size() > proto.output_size())
      report.add("E0113", ref,
                 fmt::format("{} takes {} inputs and gives {} outputs, called with {} and {}",
                             function.name, proto.input_size(), proto.output_size(),
                             node.input_size(), node.output_size()));
    for (const onnx::AttributeProto &attribute : node.attribute()) {
      bool known = function.defaults.count(attribute.name()) != 0;
      for (const std::string &name : proto.attribute())
        known |= name == attribute.name();
      if (!known)
        report.add(
            "E0113", ref,
            fmt::format("{} has no attribute {}", function.name, inQuotes(attribute.name())));
    }
    return report.count() == before;
  }

  void expand(const onnx::NodeProto &node, const NodeRef &ref, const Function &function) {
    const onnx::FunctionProto &proto = *function.proto;
    std::string caller = ref.name.empty() ? fmt::format("{}_{}", ref.op, ref.index) : ref.name;
    std::string prefix = fmt::format("{}#{}/", caller, ++calls);
    std::map<std::string, std::string> names; // of the body -> of the graph
    for (int i = 0; i < proto.input_size(); ++i)
      names[proto.input(i)] = i < node.input_size() ? node.input(i) : "";
    for (int i = 0; i < proto.output_size(); ++i) {
      if (i >= node.output_size() || node.output(i).empty())
        continue;
      auto [entry, isNew] = names.emplace(proto.output(i), node.output(i));
      if (!isNew)
        addIdentity(entry->second, node.output(i), ref, function);
    }
    auto renamed = [&](const std::string &name) {
      return name.empty() ? name : names.emplace(name, prefix + name).first->second;
    };
    for (const onnx::NodeProto &inner : proto.node()) {
      const std::string line = sourceLine(inner);
      onnx::NodeProto copy = inner;
      for (std::string &name : *copy.mutable_input())
        name = renamed(name);
      for (std::string &name : *copy.mutable_output())
        name = renamed(name);
      bindAttributes(inner, node, function, copy);
      graph.inlined.push_back(std::move(copy));
      add(graph.inlined.back(),
          {ref.index, caller + "/" + (inner.name().empty() ? inner.op_type() : inner.name()),
           inner.op_type(), line.empty() ? ref.source : line},
          function.opsets);
      if (stopped)
        return;
    }
  }

  /// An output of the function that is one of its inputs.
  void addIdentity(const std::string &from, const std::string &to, const NodeRef &ref,
                   const Function &function) {
    onnx::NodeProto &identity = graph.inlined.emplace_back();
    identity.set_op_type("Identity");
    identity.add_input(from);
    identity.add_output(to);
    auto version = function.opsets.find("");
    graph.nodes.push_back({&identity,
                           {ref.index, ref.name, "Identity", ref.source},
                           version == function.opsets.end() ? kMaxOpset : version->second});
  }

  /// Replaces references to the function's attributes by the call's values; a
  /// reference to one that is not given and has no default disappears.
  static void bindAttributes(const onnx::NodeProto &inner, const onnx::NodeProto &node,
                             const Function &function, onnx::NodeProto &copy) {
    copy.clear_attribute();
    for (const onnx::AttributeProto &attribute : inner.attribute()) {
      if (attribute.ref_attr_name().empty()) {
        *copy.add_attribute() = attribute;
        continue;
      }
      const onnx::AttributeProto *value = nullptr;
      auto byDefault = function.defaults.find(attribute.ref_attr_name());
      if (byDefault != function.defaults.end())
        value = &byDefault->second;
      for (const onnx::AttributeProto &given : node.attribute())
        if (given.name() == attribute.ref_attr_name())
          value = &given;
      if (!value)
        continue;
      onnx::AttributeProto &bound = *copy.add_attribute();
      bound = *value;
      bound.set_name(attribute.name());
    }
  }

  const Opsets &modelOpsets;
  Report &report;
  std::map<Key, Function> functions;
  std::set<const onnx::FunctionProto *> active;
  ModelGraph graph;
  size_t calls = 0;
  bool stopped = false;
};

} // namespace

std::string normalDomain(const std::string &domain) { return domain == "ai.onnx" ? "" : domain; }

Opsets checkVersions(const onnx::ModelProto &model, Report &report) {
  if (model.ir_version() < kMinIr || model.ir_version() > kMaxIr)
    report.add("E0104", fmt::format("the model has IR version {}, allowed are {} to {}",
                                    model.ir_version(), kMinIr, kMaxIr));
  Opsets opsets = readOpsets(model.opset_import(), "the model", report);
  if (opsets.empty())
    report.add("E0102",
               "the model imports no operator set: the file is cut, or older than ONNX 1.0");
  return opsets;
}

ModelGraph inlineFunctions(const onnx::ModelProto &model, const Opsets &opsets, Report &report) {
  return Inliner(model, opsets, report).run(model.graph());
}

} // namespace sluice::frontend
