// The entries of ONNX's own domain are what ONNX says: up to opset 17 every version, input, output,
// attribute and default that libonnx knows, and from 18 on which operators have a new version.
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <onnx/defs/schema.h>

#include "compiler/frontend/onnx/operator.h"
#include "compiler/frontend/onnx/support_table.h"
#include "compiler/frontend/onnx/unsupported.h"

namespace sluice::frontend::test {
namespace {

const std::map<int64_t, const char *> kChanged = {
    {18, "BitwiseAnd BitwiseNot BitwiseOr BitwiseXor CenterCropPad Col2Im GroupNormalization "
         "LpPool Mish OptionalGetElement OptionalHasElement Pad ReduceL1 ReduceL2 ReduceLogSum "
         "ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSumSquare Resize "
         "ScatterElements ScatterND Split"},
    {19, "AveragePool Cast CastLike Constant DeformConv DequantizeLinear Equal Identity If Loop "
         "Pad QuantizeLinear Reshape Resize Scan Shape Size"},
    {20, "AffineGrid ConstantOfShape DFT Gelu GridSample ImageDecoder IsInf IsNaN ReduceMax "
         "ReduceMin RegexFullMatch StringConcat StringSplit"},
    {21, "Cast CastLike Constant ConstantOfShape DequantizeLinear Flatten GroupNormalization "
         "Identity If Loop Pad QLinearMatMul QuantizeLinear Reshape Scan Shape Size Squeeze "
         "Transpose Unsqueeze"},
    {22, "Acos Acosh Asin Asinh Atan Atanh AveragePool Bernoulli Conv ConvTranspose Cos Cosh "
         "DeformConv Det Dropout Elu EyeLike GRU GlobalAveragePool GlobalLpPool GlobalMaxPool "
         "GridSample HardSigmoid HardSwish InstanceNormalization LSTM LpNormalization LpPool "
         "MaxPool MaxRoiPool MaxUnpool Mish Multinomial NegativeLogLikelihoodLoss RNN "
         "RandomNormal RandomNormalLike RandomUniform RandomUniformLike RoiAlign Round Selu Sin "
         "Sinh Softplus Softsign Tan ThresholdedRelu"},
    {23, "Attention Cast CastLike Constant ConstantOfShape DequantizeLinear Flatten Identity If "
         "Loop Pad QuantizeLinear RMSNormalization Reshape RotaryEmbedding Scan Shape Size "
         "Squeeze Transpose Unsqueeze"},
    {24, "Attention Cast CastLike Constant ConstantOfShape DequantizeLinear Flatten Identity If "
         "Loop Pad QuantizeLinear Reshape Scan Shape Size SplitToSequence Squeeze Swish "
         "TensorScatter TopK Transpose Unsqueeze"},
    {25, "Cast CastLike Constant ConstantOfShape DequantizeLinear Flatten Identity If Loop Pad "
         "QuantizeLinear Reshape Scan Shape Size Squeeze Transpose Unsqueeze"},
    {26, "BitCast CumProd"},
};

std::set<std::string> namesOf(const char *list) {
  std::istringstream words(list);
  return {std::istream_iterator<std::string>(words), {}};
}

/// The last opset of libonnx.
constexpr int kLastKnown = 17;

std::string valueOf(const onnx::AttributeProto &value) {
  switch (value.type()) {
  case onnx::AttributeProto::INT:
    return fmt::format("{}", value.i());
  case onnx::AttributeProto::FLOAT:
    return fmt::format("{}", value.f());
  case onnx::AttributeProto::STRING:
    return "'" + value.s() + "'";
  default:
    return value.has_type() ? "some value" : "none";
  }
}

std::string valueOf(const std::optional<AttributeValue> &value) {
  if (!value)
    return "none";
  if (const auto *number = std::get_if<int64_t>(&*value))
    return fmt::format("{}", *number);
  if (const auto *number = std::get_if<float>(&*value))
    return fmt::format("{}", *number);
  if (const auto *text = std::get_if<std::string>(&*value))
    return "'" + *text + "'";
  return "some value";
}

/// "axis int 0, keepdims int 1 required"; of what libonnx has, and of an entry.
std::set<std::string> attributesOf(const onnx::OpSchema &schema) {
  static const std::map<int, AttributeKind> kinds = {
      {onnx::AttributeProto::INT, AttributeKind::Int},
      {onnx::AttributeProto::FLOAT, AttributeKind::Float},
      {onnx::AttributeProto::STRING, AttributeKind::String},
      {onnx::AttributeProto::TENSOR, AttributeKind::Tensor},
      {onnx::AttributeProto::GRAPH, AttributeKind::Graph},
      {onnx::AttributeProto::INTS, AttributeKind::Ints},
      {onnx::AttributeProto::FLOATS, AttributeKind::Floats},
      {onnx::AttributeProto::STRINGS, AttributeKind::Strings},
      {onnx::AttributeProto::TYPE_PROTO, AttributeKind::Type},
      {onnx::AttributeProto::SPARSE_TENSOR, AttributeKind::SparseTensor}};
  std::set<std::string> out;
  for (const auto &[name, attribute] : schema.attributes()) {
    const auto kind = kinds.find(attribute.type);
    out.insert(fmt::format("{} is {}, {} by default{}", name,
                           kind == kinds.end() ? "of no kind" : kindName(kind->second),
                           valueOf(attribute.default_value),
                           attribute.required ? ", required" : ""));
  }
  return out;
}

std::set<std::string> attributesOf(const Operator &entry) {
  std::set<std::string> out;
  for (const AttributeSpec &spec : entry.attributes)
    out.insert(fmt::format("{} is {}, {} by default{}", spec.name, kindName(spec.kind),
                           valueOf(spec.byDefault), spec.required ? ", required" : ""));
  return out;
}

/// "'A', 'B' (optional)".
std::string operandsOf(const std::vector<onnx::OpSchema::FormalParameter> &all, int least) {
  std::string out;
  for (const auto &one : all) {
    const auto option = one.GetOption();
    out += fmt::format("{}'{}'{}", out.empty() ? "" : " ", one.GetName(),
                       option == onnx::OpSchema::Optional     ? " (optional)"
                       : option != onnx::OpSchema::Variadic   ? ""
                       : least < static_cast<int>(all.size()) ? " (zero or more)"
                                                              : " (one or more)");
  }
  return out;
}

template <typename Spec> std::string operandsOf(const std::vector<Spec> &all) {
  std::string out;
  for (const Spec &one : all)
    out += fmt::format("{}'{}'{}", out.empty() ? "" : " ", one.name,
                       one.presence == Presence::Optional    ? " (optional)"
                       : one.presence == Presence::Variadic  ? " (one or more)"
                       : one.presence == Presence::AnyNumber ? " (zero or more)"
                       : one.presence == Presence::Refused   ? " (refused)"
                                                             : "");
  return out;
}

/// Where entries are meant to differ, one a line.
constexpr const char *kOnPurpose = R"(# Outputs and modes of training.
BatchNormalization 1: only ours 'Y' 'mean' (refused) 'var' (refused) 'saved_mean' (refused) 'saved_var' (refused)
BatchNormalization 1: only ours consumed_inputs is a list of ints, none by default
BatchNormalization 1: only ours is_test is an int, none by default, required
BatchNormalization 1: only theirs 'Y' 'mean' (optional) 'var' (optional) 'saved_mean' (optional) 'saved_var' (optional)
BatchNormalization 1: only theirs consumed_inputs is a list of ints, none by default, required
BatchNormalization 1: only theirs is_test is an int, 0 by default
BatchNormalization 6: only ours 'Y' 'mean' (refused) 'var' (refused) 'saved_mean' (refused) 'saved_var' (refused)
BatchNormalization 6: only ours is_test is an int, none by default, required
BatchNormalization 6: only theirs 'Y' 'mean' (optional) 'var' (optional) 'saved_mean' (optional) 'saved_var' (optional)
BatchNormalization 6: only theirs is_test is an int, 0 by default
BatchNormalization 7: only ours 'Y' 'mean' (refused) 'var' (refused) 'saved_mean' (refused) 'saved_var' (refused)
BatchNormalization 7: only theirs 'Y' 'mean' (optional) 'var' (optional) 'saved_mean' (optional) 'saved_var' (optional)
BatchNormalization 9: only ours 'Y' 'mean' (refused) 'var' (refused) 'saved_mean' (refused) 'saved_var' (refused)
BatchNormalization 9: only theirs 'Y' 'mean' (optional) 'var' (optional) 'saved_mean' (optional) 'saved_var' (optional)
Dropout 1: only ours is_test is an int, none by default, required
Dropout 1: only theirs is_test is an int, 0 by default
Dropout 6: only ours is_test is an int, none by default, required
Dropout 6: only theirs is_test is an int, 0 by default
# What ONNX says in words, and older versions that say it otherwise.
Clip 6: only ours max is a float, none by default
Clip 6: only ours min is a float, none by default
Clip 6: only theirs max is a float, 3.4028235e+38 by default
Clip 6: only theirs min is a float, -3.4028235e+38 by default
Concat 1: only ours axis is an int, 1 by default
Concat 1: only theirs axis is an int, none by default
GRU 1: only ours 'Y' (optional) 'Y_h' (optional)
GRU 1: only ours direction is a string, 'forward' by default
GRU 1: only ours linear_before_reset is an int, 0 by default
GRU 1: only theirs 'Y' (optional) 'Y_h'
GRU 1: only theirs direction is a string, 'foward' by default
LpPool 1: only ours kernel_shape is a list of ints, none by default, required
LpPool 1: only theirs kernel_shape is a list of ints, none by default
RNN 14: only ours activations is a list of strings, none by default
RNN 14: only theirs activations is a list of strings, some value by default
RNN 1: only ours activations is a list of strings, none by default
RNN 1: only theirs activations is a list of strings, some value by default
RNN 7: only ours activations is a list of strings, none by default
RNN 7: only theirs activations is a list of strings, some value by default
Reshape 1: only ours shape is a list of ints, none by default, required
Reshape 1: only theirs shape is a list of ints, none by default
SequenceEmpty 11: only ours dtype is an int, 1 by default
SequenceEmpty 11: only theirs dtype is an int, none by default
TopK 10: only ours 'Values' 'Indices' (optional)
TopK 10: only theirs 'Values' 'Indices'
TopK 11: only ours 'Values' 'Indices' (optional)
TopK 11: only theirs 'Values' 'Indices'
TopK 1: only ours 'Values' 'Indices' (optional)
TopK 1: only theirs 'Values' 'Indices'
# Strings.
Constant 12: only theirs value_string is a string, none by default
Constant 12: only theirs value_strings is a list of strings, none by default
Constant 13: only theirs value_string is a string, none by default
Constant 13: only theirs value_strings is a list of strings, none by default
# The axis of a Split is 0 where it is left out.
Split 1: only ours 'outputs' (one or more)
Split 1: only ours axis is an int, 0 by default
Split 1: only theirs 'outputs...' (one or more)
Split 1: only theirs axis is an int, none by default
# What onnxruntime writes into ONNX's domain.
LayerNormalization 1: only ours
SimplifiedLayerNormalization 1: only ours)";

/// Adds "NAME: only ours WHAT" for what only one of them has.
void compare(const std::string &name, const std::set<std::string> &ours,
             const std::set<std::string> &theirs, std::set<std::string> &differences) {
  for (const std::string &one : ours)
    if (!theirs.contains(one))
      differences.insert(name + ": only ours " + one);
  for (const std::string &one : theirs)
    if (!ours.contains(one))
      differences.insert(name + ": only theirs " + one);
}

TEST(OpsetVersions, AreThoseOfLibonnx) {
  std::set<std::string> differences;
  for (const onnx::OpSchema &schema : onnx::OpSchemaRegistry::get_all_schemas_with_history()) {
    const std::string &name = schema.Name();
    if (!schema.domain().empty() || schema.Deprecated() || !operatorTable().oldest("", name))
      continue;
    const std::string version = fmt::format("{} {}", name, schema.since_version());
    const Operator *entry = operatorTable().find("", name, schema.since_version());
    if (entry == nullptr || entry->since != schema.since_version()) {
      differences.insert(version + ": not ours");
      continue;
    }
    compare(version, attributesOf(*entry), attributesOf(schema), differences);
    compare(version, {operandsOf(entry->inputs)}, {operandsOf(schema.inputs(), schema.min_input())},
            differences);
    compare(version, {operandsOf(entry->outputs)},
            {operandsOf(schema.outputs(), schema.min_output())}, differences);
  }
  for (const auto &[key, versions] : operatorTable().entries())
    for (const auto &[since, entry] : versions)
      if (key.first.empty() && since <= kLastKnown) {
        const auto *schema =
            onnx::OpSchemaRegistry::Schema(key.second, static_cast<int>(since), "");
        if (schema == nullptr || schema->since_version() != since)
          differences.insert(fmt::format("{} {}: only ours", key.second, since));
      }
  std::set<std::string> meant, other;
  std::istringstream lines(kOnPurpose);
  for (std::string line; std::getline(lines, line);)
    if (!line.starts_with('#'))
      meant.insert(line);
  compare("now", differences, meant, other);
  EXPECT_EQ(fmt::format("{}", fmt::join(other, "\n")), "");
}

TEST(OpsetVersions, AreThoseOfOnnx) {
  for (const auto &[opset, list] : kChanged) {
    std::set<std::string> wanted, found, differences;
    for (const std::string &name : namesOf(list))
      if (whyUnsupported(name))
        EXPECT_TRUE(supportTable(name).empty()) << name;
      else
        wanted.insert(name);
    for (const auto &[key, versions] : operatorTable().entries())
      if (key.first.empty() && versions.contains(opset))
        found.insert(key.second);
    compare(fmt::format("{}", opset), found, wanted, differences);
    EXPECT_EQ(fmt::format("{}", fmt::join(differences, "\n")), "");
  }
}

} // namespace
} // namespace sluice::frontend::test
