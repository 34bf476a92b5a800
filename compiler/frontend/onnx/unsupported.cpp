#include "compiler/frontend/onnx/unsupported.h"

#include <algorithm>
#include <set>
#include <span>
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
constexpr const char *kOnHost = "cut the model before this node, and compute the rest on the host";
constexpr const char *kControlFlow = "it contains a graph, and its control flow is not supported";
constexpr const char *kStrings = "it works on strings; the accelerator computes numbers only";
constexpr const char *kTraining = "it trains a model; sluice compiles inference only";

/// Why an operator is not in the table, and what to do.
struct Refusal {
  const char *op, *reason, *help;
};

constexpr const char *kPictures = "it decodes image files; the accelerator computes numbers only";
/// Operators of ONNX that the table lacks and libonnx does not know.
constexpr Refusal kNewer[] = {{"ImageDecoder", kPictures, kOnHost},
                              {"RegexFullMatch", kStrings, kOnHost},
                              {"StringConcat", kStrings, kOnHost},
                              {"StringSplit", kStrings, kOnHost}};

constexpr const char *kMaps = "it works on maps; the accelerator computes tensors only";
constexpr const char *kCategories = "it looks up categories";
constexpr const char *kEncode = "encode the categories on the host, before the model";
constexpr const char *kTrees = "it evaluates decision trees";
constexpr const char *kVectors = "it evaluates a support vector machine";
constexpr const char *kTrainAnother = "train a linear model, an MLPClassifier or an MLPRegressor "
                                      "instead, or run this one on the host";
constexpr const char *kWithoutMaps =
    "convert the model with options={'zipmap': False} (skl2onnx), which leaves the maps out";
/// Operators of ai.onnx.ml that the table lacks.
constexpr Refusal kMl[] = {{"CastMap", kMaps, kEncode},
                           {"CategoryMapper", kCategories, kEncode},
                           {"DictVectorizer", kMaps, kEncode},
                           {"LabelEncoder", kCategories, kEncode},
                           {"OneHotEncoder", kCategories, kEncode},
                           {"SVMClassifier", kVectors, kTrainAnother},
                           {"SVMRegressor", kVectors, kTrainAnother},
                           {"TreeEnsemble", kTrees, kTrainAnother},
                           {"TreeEnsembleClassifier", kTrees, kTrainAnother},
                           {"TreeEnsembleRegressor", kTrees, kTrainAnother},
                           {"ZipMap", kMaps, kWithoutMaps}};

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

std::optional<Refusal> refusalIn(std::span<const Refusal> list, const std::string &op) {
  for (const Refusal &one : list)
    if (llvm::StringRef(one.op).equals_insensitive(op))
      return one;
  return std::nullopt;
}

/// An operator of ONNX's own domain that the table lacks, and what is missing.
std::optional<Refusal> refusalOf(const std::string &op) {
  if (const auto newer = refusalIn(kNewer, op))
    return newer;
  const OpSchema *schema = schemaOf(op);
  if (schema && schema->domain().empty() && worksOnStrings(*schema))
    return Refusal{schema->Name().c_str(), kStrings, kOnHost};
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
  problem.code = kUnknownOperator.text;
  problem.reason = NotSupported();
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
  if (isDomain(domain) && node.opset > newestOpset(domain)) {
    report.add("E0202", node.ref,
               fmt::format("operator {} is of version {} of domain {}; sluice supports 1 to {}",
                           inQuotes(node.ref.op), node.opset, inQuotes(domain),
                           newestOpset(domain)));
    return;
  }
  if (auto oldest = operatorTable().oldest(domain, node.ref.op)) {
    report.add("E0202", node.ref,
               fmt::format("operator {} exists since opset {}, but the model uses opset {}",
                           inQuotes(node.ref.op), *oldest, node.opset));
    return;
  }
  if (const auto refusal = domain == kMlDomain ? refusalIn(kMl, node.ref.op) : std::nullopt;
      refusal && refusal->op == node.ref.op) {
    const Problem problem = unsupported(refusal->op, refusal->reason, refusal->help);
    report.add(kUnknownOperator, node.ref, problem.message).fixes = problem.fixes;
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
  report.add(kUnknownOperator, node.ref, problem.message).fixes = std::move(problem.fixes);
}

std::optional<Problem> whyUnsupported(const std::string &op) {
  for (const auto &refusal : {refusalOf(op), refusalIn(kMl, op)})
    if (refusal)
      return unsupported(refusal->op, refusal->reason, refusal->help);
  const OpSchema *schema = schemaOf(op);
  if (!schema || schema->domain().empty() || isDomain(schema->domain()))
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
  for (const Refusal &one : kMl)
    names.insert(one.op);
  return {names.begin(), names.end()};
}

} // namespace sluice::frontend
