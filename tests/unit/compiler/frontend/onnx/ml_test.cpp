// Operators of ai.onnx.ml: what is refused, word for word, and what is computed at import.
#include <cmath>

#include <gtest/gtest.h>

#include "one_node.h"

namespace sluice::frontend::test {
namespace {

using onnx::TensorProto;
using Strings = std::vector<std::string>;

void useMl(Model &model, int64_t version = 1) {
  auto *import = model.proto.add_opset_import();
  import->set_domain("ai.onnx.ml");
  import->set_version(version);
  for (onnx::NodeProto &node : *model.graph().mutable_node())
    node.set_domain("ai.onnx.ml");
}

/// A node of ai.onnx.ml over run-time tensors of these shapes.
OneNodeModel learned(const char *op, const std::vector<Ints> &shapes, int64_t version = 1) {
  OneNodeModel one(op, 17);
  useMl(one.model, version);
  for (const Ints &shape : shapes)
    one.input(shape);
  return one;
}

/// The values of a node whose operands are all known.
std::vector<double> valuesOf(OneNodeModel one) {
  one.model.input("unused", {1});
  return evaluateModel(one.model, {{{1}, {0}}}).values;
}

TEST(Ml, KnowsItsVersions) {
  const auto scaler = [](int64_t version) {
    return learned("Scaler", {{1, 2}}, version).with("offset", Floats{1}).with("scale", Floats{2});
  };
  EXPECT_EQ(scaler(1).problem(), "");
  EXPECT_EQ(scaler(5).problem(), "");
  EXPECT_EQ(scaler(6).problem(), "E0202 node 0 (Scaler): operator 'Scaler' is of version 6 of "
                                 "domain 'ai.onnx.ml'; sluice supports 1 to 5");
}

TEST(Ml, NamesOperatorsThatItLacks) {
  struct Lacking {
    const char *op, *reason, *help;
  };
  constexpr const char *kTrain = "train a linear model, an MLPClassifier or an MLPRegressor "
                                 "instead, or run this one on the host";
  constexpr const char *kEncode = "encode the categories on the host, before the model";
  constexpr const char *kMaps = "it works on maps; the accelerator computes tensors only";
  for (const Lacking &one :
       {Lacking{"ZipMap", kMaps,
                "convert the model with options={'zipmap': False} (skl2onnx), which leaves the "
                "maps out"},
        Lacking{"CastMap", kMaps, kEncode}, Lacking{"DictVectorizer", kMaps, kEncode},
        Lacking{"LabelEncoder", "it looks up categories", kEncode},
        Lacking{"CategoryMapper", "it looks up categories", kEncode},
        Lacking{"OneHotEncoder", "it looks up categories", kEncode},
        Lacking{"TreeEnsembleClassifier", "it evaluates decision trees", kTrain},
        Lacking{"TreeEnsembleRegressor", "it evaluates decision trees", kTrain},
        Lacking{"TreeEnsemble", "it evaluates decision trees", kTrain},
        Lacking{"SVMClassifier", "it evaluates a support vector machine", kTrain},
        Lacking{"SVMRegressor", "it evaluates a support vector machine", kTrain}}) {
    const Imported result = import(learned(one.op, {{1, 2}}).model);
    ASSERT_EQ(result.problems.size(), 1U) << one.op;
    EXPECT_EQ(result.problems[0].code, "E0201");
    EXPECT_EQ(result.problems[0].message,
              std::string("operator '") + one.op + "' is not supported: " + one.reason);
    ASSERT_EQ(result.problems[0].fixes.size(), 1U) << one.op;
    EXPECT_EQ(result.problems[0].fixes[0].text, one.help);
  }
  EXPECT_EQ(learned("Frobnicate", {{1, 2}}).problem(),
            "E0201 node 0 (Frobnicate): operator 'Frobnicate' is not supported: `sluice ops` lists "
            "no such operator in domain 'ai.onnx.ml'");
}

TEST(Ml, ChecksScalers) {
  const auto scaler = [](const Floats &offset, const Floats &scale) {
    return learned("Scaler", {{2, 3}}).with("offset", offset).with("scale", scale).problem();
  };
  const std::string sentence = "E0206 attributes 'offset' and 'scale' must have one element, or "
                               "one per position of the last axis, each; found ";
  EXPECT_EQ(scaler({1, 2, 3}, {1, 2, 3}), "");
  EXPECT_EQ(scaler({1}, {1}), "");
  EXPECT_EQ(scaler({1, 2, 3}, {1}), sentence + "3 and 1 for [2 3]");
  EXPECT_EQ(scaler({1, 2}, {1, 2}), sentence + "2 and 2 for [2 3]");
  EXPECT_EQ(learned("Scaler", {{2, 3}}).problem(), sentence + "0 and 0 for [2 3]");
}

TEST(Ml, ChecksNormalizers) {
  EXPECT_EQ(learned("Normalizer", {{2, 3}}).with("norm", "L3").problem(),
            "E0206 attribute 'norm' must be MAX, L1 or L2; found 'L3'");
  EXPECT_EQ(learned("Normalizer", {{1, 2, 3}}).problem(),
            "E0206 input 'X' must be [samples, features] or [features]; found [1 2 3]");
}

TEST(Ml, ChecksImputers) {
  const std::string count =
      "E0206 the attribute 'imputed_value_floats', or 'imputed_value_int64s' for integers, must "
      "have one element, or one per position of the last axis; found ";
  EXPECT_EQ(learned("Imputer", {{2, 3}}).problem(), count + "0 for float [2 3]");
  EXPECT_EQ(learned("Imputer", {{2, 3}}).with("imputed_value_int64s", Ints{1}).problem(),
            count + "0 for float [2 3]");
  EXPECT_EQ(learned("Imputer", {})
                .ints({3}, {1, 2, 3})
                .with("imputed_value_int64s", Ints{1, 2})
                .problem(),
            count + "2 for int64 [3]");
  const auto missing = [](float value) {
    return learned("Imputer", {{2, 3}})
        .with("imputed_value_floats", Floats{0.1F})
        .with("replaced_value_float", value);
  };
  EXPECT_EQ(missing(NAN).problem(), "");
  EXPECT_EQ(missing(-1000).problem(), "");
  EXPECT_EQ(missing(-999).problem(), "E0205 the replaced value, and imputed integers, must be "
                                     "exact in bf16, the format of inputs; found -999");
  EXPECT_EQ(import(missing(-999).model).problems[0].fixes[0].text,
            "mark missing values with NaN or an integer up to 256");
}

/// An operator of integers that the program computes.
Model imputerOf(const char *op, int64_t value, int64_t replaced) {
  Model model(17);
  model.input("x", {1, 3}).output("y");
  model.node(op, {"n"}, {"y"})
      .attribute("imputed_value_int64s", Ints{value})
      .attribute("replaced_value_int64", replaced);
  useMl(model);
  model.node("Cast", {"x"}, {"n"}).attribute("to", int64_t{TensorProto::INT64});
  return model;
}

TEST(Ml, ImputesIntegers) {
  EXPECT_EQ(import(imputerOf("Imputer", 5, -1)).messages(), "");
  for (const auto &[value, replaced] : {std::pair{257, -1}, std::pair{5, 257}})
    EXPECT_EQ(import(imputerOf("Imputer", value, replaced)).messages(),
              "E0205 node 0 (Imputer): Imputer: the replaced value, and imputed integers, must be "
              "exact in bf16, the format of inputs; found 257");
  EXPECT_EQ(valuesOf(learned("Imputer", {})
                         .ints({3}, {1, -1, 1})
                         .with("imputed_value_int64s", Ints{128, 256, 512})
                         .with("replaced_value_int64", int64_t{1})),
            (std::vector<double>{128, -1, 512}));
  EXPECT_EQ(
      valuesOf(learned("Imputer", {}).floats({2}, {0, 3}).with("imputed_value_floats", Floats{7})),
      (std::vector<double>{7, 3}));
}

TEST(Ml, ChecksFeatures) {
  const auto joined = [](const std::vector<Ints> &shapes, const Ints &sizes) {
    return learned("FeatureVectorizer", shapes).with("inputdimensions", sizes).problem();
  };
  const std::string sentence =
      "E0206 inputs must be [samples, features] or [features], of equally many samples, with the "
      "features that 'inputdimensions' has, if given; found ";
  EXPECT_EQ(joined({{2, 3}, {2, 1}}, {3, 1}), "");
  EXPECT_EQ(joined({{3}, {1, 2}}, {3, 2}), "");
  EXPECT_EQ(learned("FeatureVectorizer", {{2, 3}, {2, 1}}).problem(), "");
  EXPECT_EQ(joined({{2, 3}, {3, 1}}, {3, 1}), sentence + "[3 1] for [2 3] and [3 1]");
  EXPECT_EQ(joined({{2, 3}, {2, 1}}, {3, 2}), sentence + "[3 2] for [2 3] and [2 1]");
  EXPECT_EQ(joined({{2, 3}}, {2, 1}), sentence + "[2 1] for [2 3]");
  EXPECT_EQ(joined({{1, 2, 3}}, {6}), sentence + "[6] for [1 2 3]");
  EXPECT_EQ(learned("FeatureVectorizer", {{1, 1}}).ints({1, 1}, {1}).problem(),
            "E0206 all inputs must have the same element type; found float, int64");
}

TEST(Ml, ChecksExtractors) {
  const auto by = [](const Ints &shape, const Ints &indices) {
    return learned("ArrayFeatureExtractor", {shape})
        .ints({static_cast<int64_t>(indices.size())}, indices)
        .problem();
  };
  EXPECT_EQ(by({2, 3}, {0, 2}), "");
  EXPECT_EQ(by({2, 3}, {3}),
            "E0206 the indices must be in [0, extent-1] of the last axis; found 3 for extent 3");
  EXPECT_EQ(by({2, 3}, {-1}),
            "E0206 the indices must be in [0, extent-1] of the last axis; found -1 for extent 3");
  EXPECT_EQ(by({}, {0}),
            "E0206 input 'X' must have rank 1 or more, and 'Y' elements; found [] and [1]");
  EXPECT_EQ(by({2}, {}),
            "E0206 input 'X' must have rank 1 or more, and 'Y' elements; found [2] and [0]");
  EXPECT_EQ(by({1 << 30, 1}, {0, 0}),
            "E0205 the result must have at most 2147483647 elements; found [1073741824 2]");
  EXPECT_EQ(
      valuesOf(learned("ArrayFeatureExtractor", {}).ints({2, 2}, {1, 2, 3, 4}).ints({1}, {1})),
      (std::vector<double>{2, 4}));
}

/// Labels of the largest element of a run-time tensor.
Model labelOf(const Ints &classes, int type = TensorProto::INT64) {
  Model model(17);
  model.input("x", {2, static_cast<int64_t>(classes.size())}).output("y");
  model.ints("c", {static_cast<int64_t>(classes.size())}, classes);
  model.graph().mutable_initializer(0)->set_data_type(type);
  model.node("ArrayFeatureExtractor", {"c", "i"}, {"y"});
  useMl(model);
  model.node("ArgMax", {"x"}, {"i"}).attribute("axis", int64_t{1});
  return model;
}

TEST(Ml, FindsLabels) {
  EXPECT_EQ(import(labelOf({3, 1, 512})).messages(), "");
  const Imported odd = import(labelOf({3, 1, 513}));
  EXPECT_EQ(odd.messages(), "E0205 node 0 (ArrayFeatureExtractor): ArrayFeatureExtractor: "
                            "integers in 'X' must be exact in bf16 if 'Y' is computed at run time; "
                            "found 513");
  EXPECT_EQ(odd.problems[0].fixes[0].text,
            "number classes from 0 when training, or look them up on the host");
  Model model(17);
  model.input("x", {2, 3}).output("y");
  model.node("ArrayFeatureExtractor", {"x", "i"}, {"y"});
  useMl(model);
  model.node("ArgMax", {"x"}, {"i"}).attribute("axis", int64_t{1});
  EXPECT_EQ(import(model).messages(),
            "E0205 node 0 (ArrayFeatureExtractor): ArrayFeatureExtractor: if 'Y' is computed at "
            "run time, 'X' must be known at compile time, with rank 1 and at most 256 elements; "
            "found a run-time tensor [2 3]");
}

/// An initializer of text, as classifiers have it.
TEST(Ml, SaysHowToTrainWithText) {
  Model model = labelOf({0, 1});
  onnx::TensorProto &classes = *model.graph().mutable_initializer(0);
  classes.clear_int64_data();
  classes.clear_raw_data();
  classes.set_data_type(TensorProto::STRING);
  classes.add_string_data("low");
  classes.add_string_data("high");
  const Imported result = import(model);
  ASSERT_EQ(result.messages(), "E0114: initializer 'c' has type string; sluice supports float, "
                               "float16, bfloat16, double, bool and 4- to 64-bit integers");
  ASSERT_EQ(result.problems[0].fixes.size(), 1U);
  EXPECT_EQ(result.problems[0].fixes[0].text,
            "number the classes when training (sklearn.preprocessing.LabelEncoder), or cut the "
            "model before the nodes that read the text");
}

OneNodeModel classifierOf(const Ints &labels, const Floats &coefficients) {
  OneNodeModel one = learned("LinearClassifier", {{2, 3}});
  one.with("coefficients", coefficients);
  return labels.empty() ? one : one.with("classlabels_ints", labels);
}

TEST(Ml, ChecksLinearModels) {
  EXPECT_EQ(learned("LinearRegressor", {{2, 3}}).with("coefficients", Floats{1, 2, 3}).problem(),
            "");
  const std::string counts =
      "E0206 attribute 'coefficients' must have one element per feature and score, and "
      "'intercepts', if given, one per score; found ";
  EXPECT_EQ(learned("LinearRegressor", {{2, 3}}).problem(),
            counts + "0 coefficients and 0 intercepts for [2 3]");
  EXPECT_EQ(learned("LinearRegressor", {{2, 3}}).with("coefficients", Floats{1, 2}).problem(),
            counts + "2 coefficients and 0 intercepts for [2 3]");
  EXPECT_EQ(learned("LinearRegressor", {{3}})
                .with("coefficients", Floats{1, 2, 3})
                .with("intercepts", Floats{1, 2})
                .problem(),
            counts + "3 coefficients and 2 intercepts for [3]");
  EXPECT_EQ(learned("LinearRegressor", {{2, 3}})
                .with("coefficients", Floats{1, 2, 3})
                .with("targets", int64_t{2})
                .problem(),
            "E0206 attribute 'targets' must be the number of scores; found 2 for 1");
  EXPECT_EQ(learned("LinearRegressor", {{1, 2, 3}}).with("coefficients", Floats{1, 2, 3}).problem(),
            "E0206 input 'X' must be [samples, features] or [features]; found [1 2 3]");
  EXPECT_EQ(learned("LinearRegressor", {{3}})
                .with("coefficients", Floats{1, 2, 3})
                .with("post_transform", "SOFTPLUS")
                .problem(),
            "E0206 attribute 'post_transform' must be NONE, SOFTMAX, LOGISTIC, SOFTMAX_ZERO or "
            "PROBIT; found 'SOFTPLUS'");
}

TEST(Ml, ChecksLabels) {
  const Floats two{1, 2, 3, 4, 5, 6};
  EXPECT_EQ(classifierOf({4, 512}, two).problem(), "");
  const std::string counts = "E0205 there must be at least 2 scores, and a label for each, in "
                             "'classlabels_ints' or 'classlabels_strings'; found ";
  EXPECT_EQ(classifierOf({4, 512, 1}, two).problem(),
            counts + "2 scores with 3 integers and 0 strings");
  EXPECT_EQ(classifierOf({0, 1}, {1, 2, 3}).problem(),
            counts + "1 scores with 2 integers and 0 strings");
  EXPECT_EQ(classifierOf({0}, {1, 2, 3}).problem(),
            counts + "1 scores with 1 integers and 0 strings");
  EXPECT_EQ(classifierOf({0, 1}, two).with("classlabels_strings", Strings{"a", "b"}).problem(),
            counts + "2 scores with 2 integers and 2 strings");
  const std::string help =
      "number the classes when training (sklearn.preprocessing.LabelEncoder), or remove this "
      "output from the model and look the label up on the host";
  const OneNodeModel odd = classifierOf({0, 513}, two);
  EXPECT_EQ(odd.problem(), "E0205 output 'Y' may be used if labels are exact in bf16, and at most "
                           "256; found label 513");
  EXPECT_EQ(import(odd.model).problems[0].fixes[0].text, help);
  OneNodeModel text = classifierOf({}, two).with("classlabels_strings", Strings{"a", "b"});
  EXPECT_EQ(text.problem(),
            "E0205 output 'Y' must not be used if labels are strings; found a use of it");
  EXPECT_EQ(import(text.model).problems[0].fixes[0].text, help);
  text.model.graph().mutable_node(0)->add_output("z");
  text.model.graph().mutable_output(0)->set_name("z");
  EXPECT_EQ(import(text.model).messages(), "");
  EXPECT_EQ(classifierOf(Ints(257, 1), Floats(257 * 3, 1)).problem(),
            "E0205 output 'Y' may be used if labels are exact in bf16, and at most 256; found 257 "
            "labels");
}

} // namespace
} // namespace sluice::frontend::test
