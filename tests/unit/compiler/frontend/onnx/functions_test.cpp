#include <google/protobuf/unknown_field_set.h>
#include <gtest/gtest.h>

#include "test_model.h"

namespace sluice::frontend::test {
namespace {

using Doubles = std::vector<double>;

/// A model that calls function my.domain.Scale on x.
Model callModel() {
  Model model;
  auto *import = model.proto.add_opset_import();
  import->set_domain("my.domain");
  import->set_version(1);
  model.input("x", {2}).output("y");
  model.node("Scale", {"x"}, {"y"}).name("call").proto->set_domain("my.domain");
  return model;
}

onnx::FunctionProto &function(Model &model, const std::string &name, const Names &inputs,
                              const Names &outputs) {
  onnx::FunctionProto &out = *model.proto.add_functions();
  out.set_domain("my.domain");
  out.set_name(name);
  for (const std::string &input : inputs)
    out.add_input(input);
  for (const std::string &output : outputs)
    out.add_output(output);
  auto *import = out.add_opset_import();
  import->set_domain("");
  import->set_version(13);
  auto *own = out.add_opset_import();
  own->set_domain("my.domain");
  own->set_version(1);
  return out;
}

/// Scale(a) = LeakyRelu(a, alpha = slope) + a
onnx::FunctionProto &scale(Model &model) {
  onnx::FunctionProto &out = function(model, "Scale", {"a"}, {"b"});
  out.add_attribute("slope");
  onnx::AttributeProto &alpha = addNode(out, "LeakyRelu", {"a"}, {"t"}).attribute("alpha");
  alpha.set_type(onnx::AttributeProto::FLOAT);
  alpha.set_ref_attr_name("slope");
  addNode(out, "Add", {"t", "a"}, {"b"});
  return out;
}

TEST(Functions, AreInlined) {
  Model model = callModel();
  scale(model);
  EXPECT_EQ(evaluateModel(model, {{{2}, {-100, 1}}}).values[1], 2);
  Node(model.graph().mutable_node(0)).attribute("slope", 0.5F);
  EXPECT_EQ(evaluateModel(model, {{{2}, {-100, 1}}}).values, (Doubles{-150, 2}));
}

TEST(Functions, MayCallFunctionsAndBeCalledTwice) {
  Model model = callModel();
  onnx::FunctionProto &outer = function(model, "Scale", {"a"}, {"b"});
  addNode(outer, "Twice", {"a"}, {"t"}).proto->set_domain("my.domain");
  addNode(outer, "Twice", {"t"}, {"b"}).proto->set_domain("my.domain");
  onnx::FunctionProto &inner = function(model, "Twice", {"a"}, {"b"});
  addNode(inner, "Identity", {"a"}, {"t"});
  addNode(inner, "Add", {"a", "t"}, {"b"});
  EXPECT_EQ(evaluateModel(model, {{{2}, {1, 3}}}).values, (Doubles{4, 12}));
}

TEST(Functions, MayReturnTheirInput) {
  Model model = callModel();
  function(model, "Scale", {"a"}, {"a"});
  EXPECT_EQ(evaluateModel(model, {{{2}, {1, 3}}}).values, (Doubles{1, 3}));
}

TEST(Functions, HaveAttributeDefaults) {
  Model model = callModel();
  onnx::FunctionProto &proto = scale(model);
  proto.clear_attribute();
  onnx::AttributeProto slope; // field 11 of FunctionProto, newer than libonnx
  slope.set_name("slope");
  slope.set_type(onnx::AttributeProto::FLOAT);
  slope.set_f(0.25F);
  proto.mutable_unknown_fields()->AddLengthDelimited(11, slope.SerializeAsString());
  EXPECT_EQ(evaluateModel(model, {{{2}, {-4, 1}}}).values, (Doubles{-5, 2}));
  proto.mutable_unknown_fields()->AddLengthDelimited(11, "\xFF");
  EXPECT_EQ(import(model).messages(), "E0113: function 'Scale' has a malformed attribute default");
}

TEST(Functions, AreToldApartByOverload) {
  Model model = callModel();
  scale(model);
  onnx::FunctionProto &other = function(model, "Scale", {"a"}, {"b"});
  addNode(other, "Neg", {"a"}, {"b"});
  other.mutable_unknown_fields()->AddLengthDelimited(13, "negative");
  model.graph().mutable_node(0)->mutable_unknown_fields()->AddLengthDelimited(8, "negative");
  EXPECT_EQ(evaluateModel(model, {{{2}, {-4, 1}}}).values, (Doubles{4, -1}));
}

TEST(Functions, ProblemsNameTheCallAndTheNode) {
  Model model = callModel();
  onnx::FunctionProto &proto = function(model, "Scale", {"a"}, {"b"});
  addNode(proto, "Frobnicate", {"a"}, {"b"}).name("inner");
  EXPECT_EQ(import(model).messages(),
            "E0201 node 0 'call/inner' (Frobnicate): operator 'Frobnicate' is not supported: ONNX "
            "has no operator of this name up to opset 26");
}

TEST(Functions, MustBeWellFormed) {
  Model model = callModel();
  scale(model);
  scale(model);
  Node call(model.graph().mutable_node(0));
  call.attribute("gain", 1.0F);
  call.proto->add_input("x");
  EXPECT_EQ(import(model).messages(),
            "E0113: two functions are named 'Scale'\n"
            "E0113 node 0 'call' (Scale): function 'Scale' has 1 inputs and 1 outputs, but the "
            "call passes 2 and 1\n"
            "E0113 node 0 'call' (Scale): function 'Scale' has no attribute 'gain'\n"
            "E0110: no graph input, initializer or node defines graph output 'y'");
}

TEST(Functions, MayNotRecurse) {
  Model model = callModel();
  onnx::FunctionProto &proto = function(model, "Scale", {"a"}, {"b"});
  addNode(proto, "Scale", {"a"}, {"b"}).proto->set_domain("my.domain");
  std::string messages = import(model).messages();
  EXPECT_EQ(messages.substr(0, messages.find('\n')),
            "E0113 node 0 'call/Scale' (Scale): function 'Scale' calls itself");
}

TEST(Functions, MayNotExplode) {
  Model model = callModel();
  for (int level = 0; level < 30; ++level) {
    std::string name = level == 0 ? "Scale" : "F" + std::to_string(level);
    onnx::FunctionProto &proto = function(model, name, {"a"}, {"b"});
    std::string next = "F" + std::to_string(level + 1);
    addNode(proto, level == 29 ? "Relu" : next, {"a"}, {"t"})
        .proto->set_domain(level == 29 ? "" : "my.domain");
    addNode(proto, level == 29 ? "Relu" : next, {"t"}, {"b"})
        .proto->set_domain(level == 29 ? "" : "my.domain");
  }
  std::string messages = import(model).messages();
  EXPECT_NE(messages.find("inlining the functions produces more than 100000 nodes"),
            std::string::npos)
      << messages.substr(0, 1000);
}

} // namespace
} // namespace sluice::frontend::test
