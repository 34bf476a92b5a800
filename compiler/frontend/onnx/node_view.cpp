#include "compiler/frontend/onnx/node_view.h"

#include <algorithm>

#include <fmt/format.h>

#include "compiler/frontend/onnx/tensor_reader.h"

namespace sluice::frontend {
namespace {

using AttributeProto = onnx::AttributeProto;

/// The kind an attribute says it has; nothing for kinds no operator here reads.
/// Models of IR version 3 may leave the type out.
std::optional<AttributeKind> kindOf(const AttributeProto &attribute) {
  switch (attribute.type()) {
  case AttributeProto::INT:
    return AttributeKind::Int;
  case AttributeProto::FLOAT:
    return AttributeKind::Float;
  case AttributeProto::STRING:
    return AttributeKind::String;
  case AttributeProto::TENSOR:
    return AttributeKind::Tensor;
  case AttributeProto::GRAPH:
    return AttributeKind::Graph;
  case AttributeProto::INTS:
    return AttributeKind::Ints;
  case AttributeProto::FLOATS:
    return AttributeKind::Floats;
  case AttributeProto::STRINGS:
    return AttributeKind::Strings;
  case AttributeProto::TYPE_PROTO:
    return AttributeKind::Type;
  case AttributeProto::SPARSE_TENSOR:
    return AttributeKind::SparseTensor;
  case AttributeProto::UNDEFINED:
    break;
  default:
    return std::nullopt;
  }
  if (attribute.has_i())
    return AttributeKind::Int;
  if (attribute.has_f())
    return AttributeKind::Float;
  if (attribute.has_s())
    return AttributeKind::String;
  if (attribute.has_t())
    return AttributeKind::Tensor;
  if (attribute.has_sparse_tensor())
    return AttributeKind::SparseTensor;
  if (attribute.has_g())
    return AttributeKind::Graph;
  if (attribute.ints_size())
    return AttributeKind::Ints;
  if (attribute.floats_size())
    return AttributeKind::Floats;
  if (attribute.strings_size())
    return AttributeKind::Strings;
  return std::nullopt;
}

bool isList(AttributeKind kind) {
  return kind == AttributeKind::Ints || kind == AttributeKind::Floats ||
         kind == AttributeKind::Strings;
}

std::string kindText(const AttributeProto &attribute) {
  if (auto kind = kindOf(attribute))
    return kindName(*kind);
  switch (attribute.type()) {
  case AttributeProto::GRAPHS:
    return "a list of graphs";
  case AttributeProto::SPARSE_TENSORS:
    return "a list of sparse tensors";
  default:
    return "no value";
  }
}

/// The value of an attribute of a kind that kindOf gave; a bad tensor is reported and null.
AttributeValue valueOf(const AttributeProto &attribute, AttributeKind kind, const NodeRef &node,
                       const ExternalData &external, Report &report) {
  switch (kind) {
  case AttributeKind::Int:
    return attribute.i();
  case AttributeKind::Float:
    return attribute.f();
  case AttributeKind::String:
    return attribute.s();
  case AttributeKind::Ints:
    return std::vector<int64_t>(attribute.ints().begin(), attribute.ints().end());
  case AttributeKind::Floats:
    return std::vector<float>(attribute.floats().begin(), attribute.floats().end());
  case AttributeKind::Strings:
    return std::vector<std::string>(attribute.strings().begin(), attribute.strings().end());
  case AttributeKind::Graph:
    return &attribute.g();
  case AttributeKind::Type:
    return &attribute.tp();
  case AttributeKind::Tensor:
  case AttributeKind::SparseTensor:
    break;
  }
  auto tensor = std::make_shared<HostTensor>();
  const std::string name = fmt::format("attribute {}", inQuotes(attribute.name()));
  auto error = kind == AttributeKind::Tensor
                   ? readTensor(attribute.t(), name, external, *tensor)
                   : readSparse(attribute.sparse_tensor(), name, external, *tensor);
  if (!error)
    return HostTensorRef(std::move(tensor));
  report.add(error->code, node, error->message);
  return HostTensorRef();
}

std::string knownAttributes(const Operator &entry) {
  if (entry.attributes.empty())
    return fmt::format("{} has none", entry.name);
  std::vector<std::string> names;
  for (const AttributeSpec &spec : entry.attributes)
    names.push_back(fmt::format("'{}'", spec.name));
  return "known attributes: " + fmt::format("{}", fmt::join(names, ", "));
}

/// "2", "1 to 3", "at least 1".
std::string rangeText(int64_t least, std::optional<int64_t> most) {
  if (!most)
    return fmt::format("at least {}", least);
  return least == *most ? fmt::format("{}", least) : fmt::format("{} to {}", least, *most);
}

template <typename Spec>
void checkCount(const char *what, const std::vector<Spec> &specs,
                const google::protobuf::RepeatedPtrField<std::string> &names, const GraphNode &node,
                Report &report) {
  // Trailing empty names are operands left out.
  int given = names.size();
  while (given > 0 && names.Get(given - 1).empty())
    --given;
  int64_t least = 0;
  std::optional<int64_t> most = static_cast<int64_t>(specs.size());
  for (size_t i = 0; i < specs.size(); ++i) {
    if (isList(specs[i].presence))
      most.reset();
    if (specs[i].presence == Presence::Required || specs[i].presence == Presence::Variadic)
      least = static_cast<int64_t>(i) + 1;
  }
  if (given < least || (most && given > *most)) {
    report.add(
        "E0204", node.ref,
        fmt::format("{} has {} {}; expected {}", node.ref.op, given, what, rangeText(least, most)));
    return;
  }
  for (int i = 0; i < given; ++i) {
    const Spec &spec = specs[std::min<size_t>(i, specs.size() - 1)];
    if (names.Get(i).empty() && std::string_view(what) == "inputs" &&
        (spec.presence == Presence::Required || spec.presence == Presence::Variadic))
      report.add("E0204", node.ref,
                 fmt::format("{} leaves out its required input '{}'", node.ref.op, spec.name));
  }
}

} // namespace

bool NodeView::allKnown() const {
  return std::all_of(inputs.begin(), inputs.end(),
                     [](const Tensor *input) { return !input || input->known; });
}

std::map<std::string, AttributeValue> readAttributes(const GraphNode &node, const Operator &entry,
                                                     const ExternalData &external, Report &report) {
  std::map<std::string, AttributeValue> values;
  auto refuse = [&](const AttributeSpec &spec, const std::string &found) {
    report.add("E0203", node.ref,
               fmt::format("{}: {}; found {}", node.ref.op, sentence(spec), found));
  };
  for (const AttributeProto &attribute : node.proto->attribute()) {
    auto spec =
        std::find_if(entry.attributes.begin(), entry.attributes.end(),
                     [&](const AttributeSpec &known) { return known.name == attribute.name(); });
    if (spec == entry.attributes.end()) {
      report.add("E0203", node.ref,
                 fmt::format("attribute {} of {} is not supported in opset {}; {}",
                             inQuotes(attribute.name()), node.ref.op, node.opset,
                             knownAttributes(entry)));
    } else if (!attribute.ref_attr_name().empty()) {
      refuse(*spec, "a reference to a function attribute outside a function");
    } else if (std::optional<AttributeKind> kind = kindOf(attribute);
               kind != spec->kind && !(!kind && attribute.type() == AttributeProto::UNDEFINED &&
                                       isList(spec->kind))) { // an empty list without a type
      refuse(*spec, kindText(attribute));
    } else {
      AttributeValue value = valueOf(attribute, spec->kind, node.ref, external, report);
      if (auto *number = std::get_if<int64_t>(&value);
          number && !spec->allowed.empty() &&
          std::find(spec->allowed.begin(), spec->allowed.end(), *number) == spec->allowed.end())
        refuse(*spec, fmt::format("{}", *number));
      else if (!values.emplace(spec->name, std::move(value)).second)
        report.add("E0203", node.ref,
                   fmt::format("attribute {} is given twice", inQuotes(spec->name)));
    }
  }
  for (const AttributeSpec &spec : entry.attributes) {
    if (values.count(spec.name))
      continue;
    if (spec.byDefault)
      values.emplace(spec.name, *spec.byDefault);
    else if (spec.required &&
             std::none_of(node.proto->attribute().begin(), node.proto->attribute().end(),
                          [&](const AttributeProto &a) { return a.name() == spec.name; }))
      refuse(spec, "none");
  }
  return values;
}

void checkArity(const GraphNode &node, const Operator &entry, Report &report) {
  checkCount("inputs", entry.inputs, node.proto->input(), node, report);
  checkCount("outputs", entry.outputs, node.proto->output(), node, report);
}

} // namespace sluice::frontend
