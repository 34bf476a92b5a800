#include "compiler/frontend/onnx/operator.h"

#include <fmt/format.h>

#include "compiler/frontend/onnx/node_view.h"
#include "compiler/frontend/onnx/ops/families.h"

namespace sluice::frontend {
namespace {

std::string valueText(const AttributeValue &value) {
  switch (static_cast<AttributeKind>(value.index())) {
  case AttributeKind::Int:
    return fmt::format("{}", std::get<int64_t>(value));
  case AttributeKind::Float:
    return fmt::format("{}", std::get<float>(value));
  case AttributeKind::String:
    return inQuotes(std::get<std::string>(value));
  case AttributeKind::Ints:
    return shapeText(std::get<std::vector<int64_t>>(value));
  default:
    return "a constant";
  }
}

std::string typesText(Types types) {
  switch (types) {
  case Types::Float:
    return "float, float16, bfloat16 or double";
  case Types::Integer:
    return "int32 or int64";
  case Types::Numeric:
    return "float, float16, bfloat16, double or an integer type";
  case Types::Any:
    return "float, float16, bfloat16, double, an integer type or bool";
  case Types::Sequence:
    return "a sequence whose length is known at compile time";
  case Types::Value:
    break;
  }
  return "";
}

bool accepts(Types types, DataType type) {
  using Proto = onnx::TensorProto;
  switch (types) {
  case Types::Float:
    return isFloatType(type);
  case Types::Integer:
    return type == Proto::INT32 || type == Proto::INT64;
  case Types::Numeric:
    return isFloatType(type) || (isIntegerType(type) && type != Proto::BOOL);
  case Types::Any:
    return isFloatType(type) || isIntegerType(type);
  case Types::Sequence:
  case Types::Value:
    break;
  }
  return false;
}

/// Whether an input that takes `types` takes this value.
bool accepts(Types types, const Tensor &value) {
  if (value.isTensor())
    return accepts(types, value.type);
  return types == Types::Sequence && value.kind == ValueKind::Sequence;
}

/// The inputs of a node that a spec stands for.
std::vector<size_t> instances(const NodeView &node, const InputSpec &spec, size_t index) {
  std::vector<size_t> out;
  size_t last = isList(spec.presence) ? node.inputCount() : index + 1;
  for (size_t i = index; i < last; ++i)
    if (node.has(i))
      out.push_back(i);
  return out;
}

Requirement typeRequirement(const InputSpec &input, size_t index) {
  bool many = isList(input.presence);
  return {fmt::format("{} '{}' must be {}", many ? "inputs" : "input", input.name,
                      typesText(input.types)),
          [input, index](const NodeView &node) -> std::string {
            for (size_t i : instances(node, input, index))
              if (const Tensor &value = node.in(i); !accepts(input.types, value))
                return !value.isTensor()                ? kindText(value)
                       : input.types == Types::Sequence ? "a tensor"
                                                        : dataTypeName(value.type);
            return "";
          }};
}

Requirement knownRequirement(const InputSpec &input, size_t index) {
  return {fmt::format("input '{}' must be known at compile time (a constant, or computed from "
                      "constants and shapes)",
                      input.name),
          [input, index](const NodeView &node) -> std::string {
            for (size_t i : instances(node, input, index))
              if (!node.in(i).known)
                return describe(node.in(i));
            return "";
          }};
}

/// Integers that are computed, exactly.
Requirement integerRequirement(const IntegerRule &rule) {
  const bool isComputed = rule.kind == IntegerRule::Kind::Computed;
  return {isComputed ? fmt::format("integers computed at run time must fit their type and lie in "
                                   "[-{0}, {0}], where bf16 is exact",
                                   kMostExact)
                     : "8-bit integers computed at run time must fit their type",
          [rule, isComputed](const NodeView &node) -> std::string {
            const DataType type = node.in(0).type;
            for (size_t i = 0; i < node.inputCount(); ++i)
              if (node.has(i) && node.in(i).lookup)
                return ""; // what the host does not look up is checked where it is computed
            if (isFloatType(type) || node.allKnown())
              return "";
            const IntegerRange limit = rangeOf(type), range = rule.range(node);
            const bool isOfType = range.isIn(limit) || limit.magnitude() > kMostExact;
            const bool isExact = !isComputed || range.magnitude() <= kMostExact;
            return isOfType && isExact ? ""
                                       : fmt::format("{} {}", dataTypeName(type), rangeText(range));
          },
          kNotSupported,
          "limit the range (Clip, fewer elements), or cast to a floating-point type first, which "
          "rounds results"};
}

} // namespace

std::string describe(const Tensor &tensor) {
  return fmt::format("{} {} {}", tensor.known ? "a constant" : "a run-time tensor",
                     dataTypeName(tensor.type), shapeText(tensor.shape));
}

std::string kindName(AttributeKind kind) {
  static constexpr const char *kNames[] = {
      "an int",         "a float",          "a string",          "a tensor", "a graph",
      "a list of ints", "a list of floats", "a list of strings", "a type",   "a sparse tensor"};
  return kNames[static_cast<size_t>(kind)];
}

std::string sentence(const AttributeSpec &spec) {
  std::string text = fmt::format("attribute '{}' must be {}", spec.name, kindName(spec.kind));
  if (!spec.allowed.empty()) {
    std::vector<std::string> words;
    for (int64_t value : spec.allowed)
      words.push_back(fmt::format("{}", value));
    text = fmt::format("attribute '{}' must be {}", spec.name, alternatives(words));
  }
  if (spec.required)
    return text + " (required)";
  if (spec.byDefault)
    return fmt::format("{} (default {})", text, valueText(*spec.byDefault));
  return text + " (optional)";
}

void OperatorTable::add(const std::vector<int64_t> &since, Operator entry) {
  for (int64_t version : since) {
    entry.since = version;
    operators[{entry.domain, entry.name}].emplace(version, entry);
  }
}

const Operator *OperatorTable::find(const std::string &domain, const std::string &name,
                                    int64_t opset) const {
  auto versions = operators.find({domain, name});
  if (versions == operators.end())
    return nullptr;
  auto after = versions->second.upper_bound(opset);
  return after == versions->second.begin() ? nullptr : &std::prev(after)->second;
}

std::optional<int64_t> OperatorTable::oldest(const std::string &domain,
                                             const std::string &name) const {
  auto versions = operators.find({domain, name});
  if (versions == operators.end())
    return std::nullopt;
  return versions->second.begin()->first;
}

const OperatorTable &operatorTable() {
  static const OperatorTable table = [] {
    OperatorTable out;
    ops::addArithmetic(out);
    ops::addActivations(out);
    ops::addLinear(out);
    ops::addConvolution(out);
    ops::addTransposedConvolution(out);
    ops::addPooling(out);
    ops::addMaxUnpool(out);
    ops::addKnownChoices(out);
    ops::addPadding(out);
    ops::addDepthToSpace(out);
    ops::addCumulative(out);
    ops::addCol2Im(out);
    ops::addCenterCropPad(out);
    ops::addAffineGrid(out);
    ops::addTensorScatter(out);
    ops::addDeformConv(out);
    ops::addMaxRoiPool(out);
    ops::addBitCast(out);
    ops::addEinsum(out);
    ops::addSoftmax(out);
    ops::addReshapes(out);
    ops::addSequences(out);
    ops::addSlices(out);
    ops::addConcat(out);
    ops::addConstants(out);
    ops::addGather(out);
    ops::addFunctions(out);
    ops::addPower(out);
    ops::addTrigonometry(out);
    ops::addVariadic(out);
    ops::addComparisons(out);
    ops::addDropout(out);
    ops::addRandom(out);
    ops::addReductions(out);
    ops::addBatchNormalisation(out);
    ops::addNormalisations(out);
    ops::addAttention(out);
    ops::addRotaryEmbedding(out);
    ops::addMicrosoft(out);
    ops::addMicrosoftNormalisations(out);
    ops::addMicrosoftAttention(out);
    ops::addMlFeatures(out);
    ops::addMlLinear(out);
    ops::addRecurrences(out);
    ops::addScan(out);
    ops::addIf(out);
    ops::addLoop(out);
    ops::addViews(out);
    ops::addIntegers(out);
    ops::addLocalResponse(out);
    ops::addQuantisation(out);
    ops::addQuantisedProducts(out);
    ops::addMicrosoftQuantised(out);
    ops::addMicrosoftQuantisedProducts(out);
    ops::addGatherElements(out);
    ops::addScatter(out);
    ops::addCompress(out);
    ops::addReverseSequence(out);
    ops::addOneHot(out);
    ops::addLosses(out);
    ops::addOrdering(out);
    ops::addResize(out);
    ops::addSignalWindows(out);
    ops::addFourier(out);
    ops::addGridSample(out);
    ops::addRoiAlign(out);
    ops::addDeterminant(out);
    ops::addTfIdf(out);
    ops::addNonMaxSuppression(out);
    ops::addEarlyOpsets(out);
    return out;
  }();
  return table;
}

std::vector<Requirement> allRequirements(const Operator &entry) {
  std::vector<Requirement> out;
  for (size_t i = 0; i < entry.inputs.size(); ++i) {
    if (entry.inputs[i].types != Types::Value)
      out.push_back(typeRequirement(entry.inputs[i], i));
    if (entry.inputs[i].known)
      out.push_back(knownRequirement(entry.inputs[i], i));
  }
  for (size_t i = 0; i < entry.outputs.size(); ++i)
    if (entry.outputs[i].presence == Presence::Refused)
      out.push_back({fmt::format("output '{}' must not be used", entry.outputs[i].name),
                     [i](const NodeView &node) -> std::string {
                       return node.isUsed(i) ? "a use of it" : "";
                     }});
  out.insert(out.end(), entry.requirements.begin(), entry.requirements.end());
  if (entry.integers && entry.integers->kind != IntegerRule::Kind::Selected)
    out.push_back(integerRequirement(*entry.integers));
  return out;
}

} // namespace sluice::frontend
