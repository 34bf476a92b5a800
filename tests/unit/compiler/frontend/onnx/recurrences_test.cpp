#include <functional>

#include <gtest/gtest.h>

#include "test_model.h"

namespace sluice::frontend::test {
namespace {

struct Recurrence {
  std::string op = "LSTM";
  Ints x = {3, 2, 4}, w = {1, 20, 4}, r = {1, 20, 5};
  std::optional<Ints> b = std::nullopt, lengths = std::nullopt, h = std::nullopt, c = std::nullopt,
                      p = std::nullopt;
  std::function<void(Node &)> attributes = [](Node &) {};
};

Floats zeros(const Ints &shape) {
  int64_t count = 1;
  for (const int64_t extent : shape)
    count *= extent;
  return Floats(count, 0);
}

Model model(const Recurrence &of, int64_t opset = 14) {
  Model model(opset);
  model.input("x", of.x).output("y");
  Names inputs = {"x", "w", "r"};
  model.floats("w", of.w, zeros(of.w)).floats("r", of.r, zeros(of.r));
  const auto more = [&](const std::string &name, const std::optional<Ints> &shape) {
    inputs.push_back(shape ? name : "");
    if (shape)
      model.floats(name, *shape, zeros(*shape));
  };
  more("b", of.b);
  inputs.push_back(of.lengths ? "lengths" : "");
  if (of.lengths)
    model.ints("lengths", {static_cast<int64_t>(of.lengths->size())}, *of.lengths);
  more("h", of.h);
  if (of.op == "LSTM") {
    more("c", of.c);
    more("p", of.p);
  }
  Node node = model.node(of.op, inputs, {"y"});
  of.attributes(node);
  return model;
}

std::string messages(const Recurrence &of, int64_t opset = 14) {
  return import(model(of, opset)).messages();
}

/// "E0206 node 0 (LSTM): LSTM: " and what follows.
std::string refusal(const std::string &text, const std::string &op = "LSTM") {
  return "E0206 node 0 (" + op + "): " + op + ": " + text;
}

TEST(Recurrences, RefuseShapesThatDisagree) {
  EXPECT_EQ(messages({}), "");
  EXPECT_EQ(messages({.x = {3, 2}}), refusal("inputs 'X', 'W' and 'R' must have rank 3 and no "
                                             "extent 0; found [3 2] and [1 20 4] and [1 20 5]"));
  EXPECT_EQ(messages({.w = {1, 20, 0}}),
            refusal("inputs 'X', 'W' and 'R' must have rank 3 and no extent 0; found [3 2 4] and "
                    "[1 20 0] and [1 20 5]"));
  EXPECT_EQ(messages({.w = {1, 20, 3}}), refusal("input 'W' must be [directions, 4 * hidden size, "
                                                 "input size]; found [1 20 3], expected [1 20 4]"));
  EXPECT_EQ(messages({.r = {1, 15, 5}}),
            refusal("input 'R' must be [directions, 4 * hidden size, hidden size]; found [1 15 5], "
                    "expected [1 20 5]"));
  EXPECT_EQ(messages({.op = "GRU"}), refusal("input 'W' must be [directions, 3 * hidden size, "
                                             "input size]; found [1 20 4], expected [1 15 4]",
                                             "GRU"));
  EXPECT_EQ(messages({.op = "RNN", .w = {1, 5, 4}, .r = {2, 5, 5}}),
            refusal("input 'R' must be [directions, hidden size, hidden size]; found [2 5 5], "
                    "expected [1 5 5]",
                    "RNN"));
  EXPECT_EQ(
      messages({.b = Ints{1, 20}}),
      refusal("input 'B' must be [directions, 8 * hidden size]; found [1 20], expected [1 40]"));
  EXPECT_EQ(messages({.lengths = Ints{3}}),
            refusal("input 'sequence_lens' must be [batch size]; found [1], expected [2]"));
  EXPECT_EQ(
      messages({.lengths = Ints{3, 4}}),
      refusal("every element of input 'sequence_lens' must be in [0, steps]; found 4 for 3 steps"));
  EXPECT_EQ(
      messages({.lengths = Ints{-1, 3}}),
      refusal(
          "every element of input 'sequence_lens' must be in [0, steps]; found -1 for 3 steps"));
  EXPECT_EQ(messages({.h = Ints{1, 5}}),
            refusal("input 'initial_h' must be [directions, batch size, hidden size], with the "
                    "first two exchanged for 'layout' 1; found [1 5], expected [1 2 5]"));
  EXPECT_EQ(messages({.c = Ints{2, 2, 5}}),
            refusal("input 'initial_c' must be of the shape of 'initial_h'; found [2 2 5], "
                    "expected [1 2 5]"));
  EXPECT_EQ(
      messages({.p = Ints{1, 20}}),
      refusal("input 'P' must be [directions, 3 * hidden size]; found [1 20], expected [1 15]"));
  const auto batchFirst = [](Node &node) { node.attribute("layout", int64_t{1}); };
  EXPECT_EQ(messages({.h = Ints{1, 2, 5}, .attributes = batchFirst}),
            refusal("input 'initial_h' must be [directions, batch size, hidden size], with the "
                    "first two exchanged for 'layout' 1; found [1 2 5], expected [3 1 5]"));
}

TEST(Recurrences, RefuseAttributesThatMeanNothing) {
  const auto with = [](const std::string &name, auto value) {
    return messages({.attributes = [&](Node &node) { node.attribute(name, value); }});
  };
  EXPECT_EQ(with("direction", std::string("sideways")),
            refusal("attribute 'direction' must be 'forward', 'reverse' or 'bidirectional'; found "
                    "'sideways'"));
  for (const int64_t size : {-5, 0, 4})
    EXPECT_EQ(with("hidden_size", size),
              refusal("attribute 'hidden_size', if given, must be the last extent of 'R'; found " +
                      std::to_string(size) + " for [1 20 5]"));
  EXPECT_EQ(with("clip", 0.0F), refusal("attribute 'clip', if given, must be above 0; found 0"));
  EXPECT_EQ(
      with("input_forget", int64_t{2}),
      "E0203 node 0 (LSTM): LSTM: attribute 'input_forget' must be 0 or 1 (default 0); found 2");
  EXPECT_EQ(with("layout", int64_t{-1}),
            "E0203 node 0 (LSTM): LSTM: attribute 'layout' must be 0 or 1 (default 0); found -1");
  EXPECT_EQ(messages({.attributes = [](Node &node) { node.attribute("layout", int64_t{1}); }}, 13),
            "E0203 node 0 (LSTM): attribute 'layout' of LSTM is not supported in opset 13; known "
            "attributes: 'activation_alpha', 'activation_beta', 'activations', 'clip', "
            "'direction', 'hidden_size', 'input_forget'");
}

/// The message for `activations` with these numbers.
std::string activations(const Names &names, const Floats &alphas = {}, const Floats &betas = {}) {
  return messages({.attributes = [&](Node &node) {
    onnx::AttributeProto &list = node.attribute("activations");
    list.set_type(onnx::AttributeProto::STRINGS);
    for (const std::string &name : names)
      list.add_strings(name);
    node.attribute("activation_alpha", alphas).attribute("activation_beta", betas);
  }});
}

TEST(Recurrences, RefuseActivationsThatAreNone) {
  const std::string sentence = refusal(
      "attribute 'activations' must have 3 names per direction, out of Relu, Tanh, Sigmoid, "
      "Affine, LeakyRelu, ThresholdedRelu, ScaledTanh, HardSigmoid, Elu, Softsign, Softplus, with "
      "parameters in 'activation_alpha' and 'activation_beta'; found ");
  EXPECT_EQ(activations({"sigmoid", "TANH", "Softsign"}), "");
  EXPECT_EQ(activations({"Sigmoid", "Tanh"}), sentence + "2 names, expected 3");
  EXPECT_EQ(activations({"Sigmoid", "Tanh", "Gelu"}), sentence + "'Gelu'");
  EXPECT_EQ(activations({"Sigmoid", "Tanh", "Affine"}, {2}),
            sentence + "no beta for Affine, which has no default");
  EXPECT_EQ(activations({"Sigmoid", "ScaledTanh", "Affine"}, {2}, {1, 1}),
            sentence + "no alpha for Affine, which has no default");
  EXPECT_EQ(activations({"Sigmoid", "Elu", "Tanh"}, {2, 3}), sentence + "1 alpha too many");
  EXPECT_EQ(activations({"Sigmoid", "Elu", "Tanh"}, {2}, {3}), sentence + "1 beta too many");
}

TEST(Recurrences, NeedTheirWeightsAndLengthsAtImport) {
  Model weights(14);
  weights.input("x", {3, 2, 4})
      .input("w", {1, 5, 4})
      .floats("r", {1, 5, 5}, Floats(25))
      .output("y");
  weights.node("RNN", {"x", "w", "r"}, {"y"});
  EXPECT_EQ(import(weights).messages(),
            "E0205 node 0 (RNN): RNN: input 'W' must be known at compile time (a constant, or "
            "computed from constants and shapes); found a run-time tensor float [1 5 4]");
  Model lengths(14);
  lengths.input("x", {3, 2, 4}).input("lens", {2}).output("y");
  lengths.floats("w", {1, 5, 4}, Floats(20)).floats("r", {1, 5, 5}, Floats(25));
  lengths.node("Cast", {"lens"}, {"whole"}).attribute("to", int64_t{onnx::TensorProto::INT32});
  lengths.node("RNN", {"x", "w", "r", "", "whole"}, {"y"});
  EXPECT_EQ(import(lengths).messages(),
            "E0205 node 1 (RNN): RNN: input 'sequence_lens' must be known at compile time (a "
            "constant, or computed from constants and shapes); found a run-time tensor int32 [2]");
}

/// x [3 2 4] and weights of 5 hidden units, with these scales and zero points of W.
struct QuantisedLstm {
  Ints w = {1, 4, 20}, scales = {1}, zeros = {1};
  int weightType = onnx::TensorProto::INT8, zeroType = onnx::TensorProto::INT8;
  float scale = 0.5F, rScale = 0.5F;
  Ints lengths = {}, r = {1, 5, 20};
  int stateType = onnx::TensorProto::FLOAT;
  std::function<void(Node &)> attributes = [](Node &) {};
};

Model model(const QuantisedLstm &of) {
  Model model(14);
  auto *import = model.proto.add_opset_import();
  import->set_domain("com.microsoft");
  import->set_version(1);
  const auto bytes = [&](const std::string &name, const Ints &shape, int type) {
    onnx::TensorProto &tensor = *model.graph().add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(type);
    for (const int64_t extent : shape)
      tensor.add_dims(extent);
    for (size_t i = 0; i < zeros(shape).size(); ++i)
      tensor.add_int32_data(0);
  };
  model.input("x", {3, 2, 4}).output("y");
  bytes("w", of.w, of.weightType);
  bytes("r", of.r, onnx::TensorProto::INT8);
  bytes("wz", of.zeros, of.zeroType);
  bytes("rz", {1, 20}, onnx::TensorProto::INT8);
  model.floats("ws", of.scales, Floats(zeros(of.scales).size(), of.scale));
  model.floats("rs", {1, 20}, Floats(20, of.rScale));
  if (!of.lengths.empty())
    model.ints("lengths", {2}, of.lengths);
  model.input("h", {1, 2, 5}, of.stateType);
  Node node = model.node(
      "DynamicQuantizeLSTM",
      {"x", "w", "r", "", of.lengths.empty() ? "" : "lengths", "h", "", "", "ws", "wz", "rs", "rz"},
      {"y"});
  node.proto->set_domain("com.microsoft");
  of.attributes(node);
  return model;
}

TEST(Recurrences, CheckQuantisedWeights) {
  const auto messages = [](const QuantisedLstm &of) { return import(model(of)).messages(); };
  const auto refused = [](const std::string &text) { return refusal(text, "DynamicQuantizeLSTM"); };
  EXPECT_EQ(messages({}), "");
  EXPECT_EQ(messages({.scales = {1, 20}, .zeros = {1, 20}}), "");
  EXPECT_EQ(messages({.lengths = {3, 3}}), "");
  EXPECT_EQ(messages({.lengths = {3, 2}}),
            "E0205 node 0 (DynamicQuantizeLSTM): DynamicQuantizeLSTM: every element of input "
            "'sequence_lens' must be the number of steps; found 2 for 3 steps");
  EXPECT_EQ(messages({.w = {1, 20, 4}}),
            refused("input 'W' must be [directions, input size, 4 * hidden size]; found [1 20 4], "
                    "expected [1 4 20]"));
  EXPECT_EQ(
      messages({.attributes = [](Node &node) { node.attribute("hidden_size", int64_t{20}); }}),
      refused("attribute 'hidden_size', if given, must be extent 1 of 'R'; found 20 for [1 5 "
              "20]"));
  const std::string sentence = "scales and zero points must be [directions] or [directions, 4 * "
                               "hidden size], zero points of the type of their weights, int8 or "
                               "uint8; found ";
  EXPECT_EQ(messages({.scales = {20}}), refused(sentence + "float [20] for int8 [1 4 20]"));
  EXPECT_EQ(messages({.zeroType = onnx::TensorProto::UINT8}),
            refused(sentence + "uint8 [1] for int8 [1 4 20]"));
  EXPECT_EQ(messages({.weightType = onnx::TensorProto::INT16}),
            refused(sentence + "float [1] for int16 [1 4 20]"));
  EXPECT_EQ(messages({.scale = 0}),
            refused("every element of input 'W_scale' must be finite and above 0; found 0"));
  EXPECT_EQ(messages({.lengths = {3, 4}}),
            "E0206 node 0 (DynamicQuantizeLSTM): DynamicQuantizeLSTM: every element of input "
            "'sequence_lens' must be in [0, steps]; found 4 for 3 steps");
  EXPECT_EQ(messages({.rScale = -1}),
            "E0206 node 0 (DynamicQuantizeLSTM): DynamicQuantizeLSTM: every element of input "
            "'R_scale' must be finite and above 0; found -1");
  EXPECT_EQ(messages({.r = {1, 5, 24}}),
            "E0206 node 0 (DynamicQuantizeLSTM): DynamicQuantizeLSTM: input 'R' must be "
            "[directions, hidden size, 4 * hidden size]; found [1 5 24], expected [1 5 20]");
  EXPECT_EQ(
      messages({.stateType = onnx::TensorProto::DOUBLE}),
      "E0206 node 0 (DynamicQuantizeLSTM): DynamicQuantizeLSTM: all inputs except 'sequence_lens', "
      "weights and zero points must have the same element type; found float, double, float, float");
}

TEST(Recurrences, AreLoopsOfTheirCells) {
  Model model(14);
  model.input("x", {3, 1, 1}).output("y").output("last");
  model.floats("w", {2, 1, 1}, {1, 1}).floats("r", {2, 1, 1}, {1, 1});
  Node node = model.node("RNN", {"x", "w", "r"}, {"y", "last"});
  node.attribute("direction", std::string("bidirectional")).attribute("clip", 4.0F);
  onnx::AttributeProto &list = node.attribute("activations");
  list.set_type(onnx::AttributeProto::STRINGS);
  list.add_strings("Relu");
  list.add_strings("LeakyRelu");
  const Imported imported = import(model);
  EXPECT_EQ(imported.messages(), "");
  const auto results = evaluate(imported, {{{3, 1, 1}, {1, 2, -5}}});
  // Sums of what came before in each direction, within 4; below 0 they become 0 and a hundredth.
  const double bottom = 0.01F * -4.0;
  EXPECT_EQ(results[0].shape, (Ints{3, 2, 1, 1}));
  EXPECT_EQ(results[0].values, (std::vector<double>{1, 3 + bottom, 3, 2 + bottom, 0, bottom}));
  EXPECT_EQ(results[1].values, (std::vector<double>{0, 3 + bottom}));
  const std::string text = imported.text();
  EXPECT_NE(text.find("sluice.loop 3 carry"), std::string::npos) << text;
  EXPECT_NE(text.find("axis 0 reversed"), std::string::npos) << text;
}

} // namespace
} // namespace sluice::frontend::test
