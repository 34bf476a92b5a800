#include "compiler/frontend/onnx/unsupported.h"

#include <algorithm>
#include <set>
#include <string_view>

#include <fmt/format.h>
#include <onnx/defs/schema.h>

#include "llvm/ADT/StringRef.h"

#include "compiler/frontend/onnx/operator.h"

namespace sluice::frontend {
namespace {

using onnx::OpSchema;

constexpr const char *kUnroll =
    "fold it with onnxsim (give the input shapes), or unroll it when exporting";
constexpr const char *kExport =
    "export the model without custom and fused operators, or cut the model before this node";
constexpr const char *kExpress =
    "use operators that `sluice ops` lists, or cut the model before this node";
constexpr const char *kControlFlow = "it contains a graph, and its control flow is not supported";
constexpr const char *kStrings = "it works on strings; the accelerator computes numbers only";
constexpr const char *kTraining = "it trains a model; sluice compiles inference only";

/// Operators of ONNX that the table lacks and libonnx does not know.
struct Refusal {
  const char *op, *reason;
};
constexpr const char *kPictures = "it decodes image files; the accelerator computes numbers only";
constexpr Refusal kNewer[] = {{"ImageDecoder", kPictures},
                              {"RegexFullMatch", kStrings},
                              {"StringConcat", kStrings},
                              {"StringSplit", kStrings}};

bool anyType(const std::vector<OpSchema::FormalParameter> &parameters,
             bool (*is)(std::string_view)) {
  return std::any_of(parameters.begin(), parameters.end(), [&](const auto &parameter) {
    return std::any_of(parameter.GetTypes().begin(), parameter.GetTypes().end(),
                       [&](const std::string *type) { return is(*type); });
  });
}

bool worksOnStrings(const OpSchema &schema) {
  return !schema.inputs().empty() &&
         !anyType(schema.inputs(), [](std::string_view type) { return type != "tensor(string)"; });
}

/// Whether the operators of a domain are for training.
bool isOfTraining(const std::string &domain) { return domain.ends_with(".training"); }

const OpSchema *schemaOf(const std::string &op) {
  static const std::vector<OpSchema> schemas = onnx::OpSchemaRegistry::get_all_schemas();
  const OpSchema *found = nullptr; // ONNX's own before those of other domains
  for (const OpSchema &schema : schemas)
    if (llvm::StringRef(schema.Name()).equals_insensitive(op) &&
        (!found || schema.domain().empty()))
      found = &schema;
  return found;
}

/// An operator of ONNX's own domain that the table lacks, and what is missing.
std::optional<Refusal> refusalOf(const std::string &op) {
  for (const Refusal &one : kNewer)
    if (llvm::StringRef(one.op).equals_insensitive(op))
      return one;
  const OpSchema *schema = schemaOf(op);
  if (schema && schema->domain().empty() && worksOnStrings(*schema))
    return Refusal{schema->Name().c_str(), kStrings};
  return std::nullopt;
}

/// Whether the table has operators of the domain.
bool isDomain(const std::string &domain) {
  const auto &entries = operatorTable().entries();
  return std::any_of(entries.begin(), entries.end(),
                     [&](const auto &entry) { return entry.first.first == domain; });
}

Problem unsupported(const std::string &op, const std::string &missing, const std::string &help) {
  Problem problem;
  problem.code = "E0201";
  problem.message = fmt::format("operator {} is not supported{}{}", inQuotes(op),
                                missing.empty() ? "" : ": ", missing);
  problem.fixes.push_back(fix(help));
  return problem;
}

} // namespace

void reportUnsupported(const GraphNode &node, Report &report) {
  const std::string domain = normalDomain(node.proto->domain());
  if (node.opset == 0) {
    report.add("E0202", node.ref,
               fmt::format("operator {} belongs to domain {}, which the model does not import",
                           inQuotes(node.ref.op), inQuotes(domain)));
    return;
  }
  if (auto oldest = operatorTable().oldest(domain, node.ref.op)) {
    report.add("E0202", node.ref,
               fmt::format("operator {} exists since opset {}, but the model uses opset {}",
                           inQuotes(node.ref.op), *oldest, node.opset));
    return;
  }
  const auto &attributes = node.proto->attribute();
  const bool graphs = std::any_of(attributes.begin(), attributes.end(), [](const auto &one) {
    return one.has_g() || one.graphs_size() != 0;
  });
  std::string missing;
  if (isOfTraining(domain))
    missing = kTraining;
  else if (!domain.empty())
    missing =
        isDomain(domain)
            ? fmt::format("`sluice ops` lists no such operator in domain {}", inQuotes(domain))
            : fmt::format("domain {} is not ONNX's own, and the model has no such function",
                          inQuotes(domain));
  else if (const auto refusal = refusalOf(node.ref.op); refusal && refusal->op == node.ref.op)
    missing = refusal->reason;
  else if (!graphs)
    missing = fmt::format("ONNX has no operator of this name up to opset {}", kMaxOpset);
  if (graphs)
    missing += std::string(missing.empty() ? "" : ": ") + kControlFlow;
  Problem problem = unsupported(node.ref.op, missing,
                                graphs           ? kUnroll
                                : domain.empty() ? kExpress
                                                 : kExport);
  report.add(problem.code, node.ref, problem.message).fixes = std::move(problem.fixes);
}

std::optional<Problem> whyUnsupported(const std::string &op) {
  if (const auto refusal = refusalOf(op))
    return unsupported(refusal->op, refusal->reason,
                       "cut the model before this node, and compute the rest on the host");
  const OpSchema *schema = schemaOf(op);
  if (!schema || schema->domain().empty())
    return std::nullopt;
  const std::string &name = schema->Name();
  if (isOfTraining(schema->domain()))
    return unsupported(name, kTraining, "export the model for inference");
  return unsupported(name, fmt::format("domain '{}' is not ONNX's own", schema->domain()), kExport);
}

std::vector<std::string> operatorNames() {
  std::set<std::string> names;
  for (const auto &[key, versions] : operatorTable().entries())
    names.insert(key.second);
  for (const OpSchema &schema : onnx::OpSchemaRegistry::get_all_schemas())
    names.insert(schema.Name());
  for (const Refusal &one : kNewer)
    names.insert(one.op);
  return {names.begin(), names.end()};
}

} // namespace sluice::frontend
