#include <filesystem>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "compiler/frontend/onnx/support_table.h"
#include "compiler/frontend/onnx/unsupported.h"
#include "test_model.h"

namespace sluice::frontend::test {
namespace {

TEST(SupportTable, HasTheOperators) {
  std::set<std::string> names;
  for (const SupportRow &row : supportTable())
    names.insert(row.op);
  EXPECT_THAT(
      names,
      testing::ElementsAre(
          "Abs", "Acos", "Acosh", "Add", "AffineGrid", "And", "ArgMax", "ArgMin",
          "ArrayFeatureExtractor", "Asin", "Asinh", "Atan", "Atanh", "Attention", "AveragePool",
          "BatchNormalization", "Bernoulli", "BiasGelu", "Binarizer", "BitCast", "BitShift",
          "BitwiseAnd", "BitwiseNot", "BitwiseOr", "BitwiseXor", "BlackmanWindow", "Cast",
          "CastLike", "Ceil", "Celu", "CenterCropPad", "Clip", "Col2Im", "Compress", "Concat",
          "ConcatFromSequence", "Constant", "ConstantOfShape", "Conv", "ConvInteger",
          "ConvTranspose", "Cos", "Cosh", "CumProd", "CumSum", "DFT", "DeformConv", "DepthToSpace",
          "DequantizeLinear", "Det", "Div", "Dropout", "DynamicQuantizeLSTM",
          "DynamicQuantizeLinear", "DynamicQuantizeMatMul", "Einsum", "Elu",
          "EmbedLayerNormalization", "Equal", "Erf", "Exp", "Expand", "EyeLike", "FastGelu",
          "FeatureVectorizer", "Flatten", "Floor", "FusedConv", "FusedGemm", "FusedMatMul", "GRU",
          "Gather", "GatherElements", "GatherND", "Gelu", "Gemm", "GlobalAveragePool",
          "GlobalLpPool", "GlobalMaxPool", "Greater", "GreaterOrEqual", "GridSample", "GroupNorm",
          "GroupNormalization", "HammingWindow", "HannWindow", "HardSigmoid", "HardSwish",
          "Hardmax", "Identity", "If", "Imputer", "InstanceNormalization", "IsInf", "IsNaN", "LRN",
          "LSTM", "LayerNormalization", "LeakyRelu", "Less", "LessOrEqual", "LinearClassifier",
          "LinearRegressor", "Log", "LogSoftmax", "Loop", "LpNormalization", "LpPool", "MatMul",
          "MatMulInteger", "MatMulIntegerToFloat", "Max", "MaxPool", "MaxRoiPool", "MaxUnpool",
          "Mean", "MeanVarianceNormalization", "MelWeightMatrix", "Min", "Mish", "Mod", "Mul",
          "MultiHeadAttention", "Multinomial", "Neg", "NegativeLogLikelihoodLoss",
          "NonMaxSuppression", "NonZero", "Normalizer", "Not", "OneHot", "Optional",
          "OptionalGetElement", "OptionalHasElement", "Or", "PRelu", "Pad", "Pow", "QAttention",
          "QGemm", "QLinearAdd", "QLinearAveragePool", "QLinearConcat", "QLinearConv",
          "QLinearGlobalAveragePool", "QLinearLeakyRelu", "QLinearMatMul", "QLinearMul",
          "QLinearSigmoid", "QLinearSoftmax", "QuantizeLinear", "QuickGelu", "RMSNormalization",
          "RNN", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Range",
          "Reciprocal", "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax",
          "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum", "ReduceSumSquare", "Relu",
          "Reshape", "Resize", "ReverseSequence", "RoiAlign", "RotaryEmbedding", "Round", "STFT",
          "Scaler", "Scan", "Scatter", "ScatterElements", "ScatterND", "Selu", "SequenceAt",
          "SequenceConstruct", "SequenceEmpty", "SequenceErase", "SequenceInsert", "SequenceLength",
          "SequenceMap", "Shape", "Shrink", "Sigmoid", "Sign", "SimplifiedLayerNormalization",
          "Sin", "Sinh", "Size", "SkipLayerNormalization", "SkipSimplifiedLayerNormalization",
          "Slice", "Softmax", "SoftmaxCrossEntropyLoss", "Softplus", "Softsign", "SpaceToDepth",
          "Split", "SplitToSequence", "Sqrt", "Squeeze", "Sub", "Sum", "Swish", "Tan", "Tanh",
          "TensorScatter", "TfIdfVectorizer", "ThresholdedRelu", "Tile", "TopK", "Transpose",
          "Trilu", "Unique", "Unsqueeze", "Upsample", "Where", "Xor"));
}

/// Those that libonnx knows, and those that are newer than it.
TEST(SupportTable, HasTheOperatorsOfOnnxOrSaysWhyNot) {
  std::vector<std::string> names = operatorNames();
  names.insert(names.end(), {"AffineGrid",
                             "Attention",
                             "BitCast",
                             "BitwiseAnd",
                             "BitwiseNot",
                             "BitwiseOr",
                             "BitwiseXor",
                             "CenterCropPad",
                             "Col2Im",
                             "CumProd",
                             "DeformConv",
                             "Gelu",
                             "GroupNormalization",
                             "ImageDecoder",
                             "Mish",
                             "OptionalGetElement",
                             "RMSNormalization",
                             "ReduceMax",
                             "RegexFullMatch",
                             "RotaryEmbedding",
                             "StringConcat",
                             "StringSplit",
                             "Swish",
                             "TensorScatter"});
  for (const std::string &name : names) {
    const auto why = whyUnsupported(name);
    EXPECT_NE(supportTable(name).empty(), !why) << name;
  }
  ASSERT_TRUE(whyUnsupported("imagedecoder"));
  EXPECT_EQ(whyUnsupported("imagedecoder")->message,
            "operator 'ImageDecoder' is not supported: it decodes image files; the accelerator "
            "computes numbers only");
  EXPECT_FALSE(whyUnsupported("Frobnicate"));
}

TEST(SupportTable, HasOneRowPerMeaning) {
  std::vector<SupportRow> rows = supportTable("Softmax");
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].firstOpset, 1);
  EXPECT_EQ(rows[0].lastOpset, 12);
  EXPECT_EQ(rows[1].firstOpset, 13);
  EXPECT_EQ(rows[1].lastOpset, 26);
  EXPECT_EQ(supportMarkdown({rows[1]}),
            "| operator | opsets | becomes | requires |\n"
            "|---|---|---|---|\n"
            "| Softmax | 13 to 26 | reduce max, map exp(x - max), reduce sum, map e / sum; over "
            "'axis' | inputs: 'input'; outputs: 'output'; attribute 'axis' must be an int (default "
            "-1); input 'input' must be float, float16, bfloat16 or double; attribute 'axis' must "
            "be in [-rank, rank-1] of input 'input' |\n");
}

TEST(SupportTable, SaysWhichOperandsThereAre) {
  const auto requirements = [](const char *op) { return supportTable(op).back().requirements; };
  EXPECT_THAT(requirements("Sum"), testing::Contains("inputs: 'data_0' (one or more)"));
  EXPECT_THAT(requirements("Clip"),
              testing::Contains("inputs: 'input', 'min' (optional), 'max' (optional)"));
  EXPECT_THAT(requirements("Constant"), testing::Contains("no inputs"));
  EXPECT_THAT(requirements("Constant"),
              testing::Contains("attribute 'value_floats' must be a list of floats (optional)"));
  EXPECT_THAT(requirements("Identity"),
              testing::ElementsAre("inputs: 'input' (a tensor, a sequence or an optional)",
                                   "outputs: 'output'"));
  EXPECT_THAT(requirements("Loop"),
              testing::Contains("inputs: 'M' (optional), 'cond' (optional), 'v_initial' (zero "
                                "or more; a tensor, a sequence or an optional)"));
  EXPECT_THAT(requirements("Upsample"),
              testing::ElementsAre(
                  "inputs: 'X', 'scales'", "outputs: 'Y'",
                  "attribute 'mode' must be a string (default 'nearest')",
                  "input 'X' must be float, float16, bfloat16, double, an integer type or bool",
                  "input 'scales' must be float, float16, bfloat16 or double",
                  "input 'scales' must be known at compile time (a constant, or computed from "
                  "constants and shapes)",
                  "attribute 'mode' must be nearest or linear",
                  "integers and bools must be resized with mode 'nearest'",
                  "'scales' must have one element per axis of 'X'",
                  "'scales' must be finite and above 0",
                  "the result must have extents of at least 1 and at most 2147483647 elements"));
}

/// What must be known at import is not called so of its integers alone.
TEST(SupportTable, SaysOnceWhatMustBeKnown) {
  EXPECT_THAT(supportTable("NonZero").back().requirements,
              testing::ElementsAre(
                  "inputs: 'X'", "outputs: 'Y'",
                  "input 'X' must be float, float16, bfloat16, double, an integer type or bool",
                  "input 'X' must be known at compile time (a constant, or computed from constants "
                  "and shapes)"));
  for (const SupportRow &row : supportTable())
    for (const std::string &known : row.requirements) {
      const size_t tail = known.find(" must be known at compile time");
      if (!known.starts_with("input '") || tail == std::string::npos)
        continue;
      for (const std::string &other : row.requirements)
        if (other.starts_with(known.substr(0, tail) + " must be float"))
          EXPECT_EQ(other.find("known at compile time"), std::string::npos)
              << row.op << ": " << other;
    }
}

TEST(SupportTable, IsJson) {
  auto json = nlohmann::json::parse(supportJson(supportTable("Clip")));
  EXPECT_EQ(json["schema"], 1);
  EXPECT_EQ(json["operators"].size(), 4U);
  EXPECT_EQ(json["operators"][1]["opsets"], (Ints{6, 10}));
}

TEST(ErrorPages, ExistForEveryCode) {
  for (int code : {101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111, 112,
                   113, 114, 115, 117, 199, 201, 202, 203, 204, 205, 206}) {
    std::string name = "E0" + std::to_string(code);
    std::string page = readFile(std::string(ERROR_PAGES) + "/" + name + ".md");
    EXPECT_THAT(page, testing::StartsWith("# " + name + ": "));
  }
}

} // namespace
} // namespace sluice::frontend::test
