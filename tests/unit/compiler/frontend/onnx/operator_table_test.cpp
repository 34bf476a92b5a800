// Nothing of a node is read past, for every version of every operator: what its
// entry does not declare is an error.
#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/frontend/onnx/operator.h"
#include "test_model.h"

namespace sluice::frontend::test {
namespace {

using testing::HasSubstr;

constexpr int64_t kOldestOpset = 1;

/// A model of one node with every input the entry can take, all at run time.
struct OneNode {
  explicit OneNode(const Operator &entry, size_t extraInputs = 0, size_t extraOutputs = 0)
      : model(std::max(entry.since, kOldestOpset)),
        node(model.node(entry.name, inputs(entry, extraInputs), outputs(entry, extraOutputs))) {
    node.proto->set_domain(entry.domain);
    if (entry.domain.empty())
      return;
    onnx::OperatorSetIdProto *import = model.proto.add_opset_import();
    import->set_domain(entry.domain);
    import->set_version(entry.since);
  }

  Names inputs(const Operator &entry, size_t extra) {
    model.input("x", {1});
    return Names(entry.inputs.size() + extra, "x");
  }
  Names outputs(const Operator &entry, size_t extra) {
    Names names;
    for (size_t i = 0; i < entry.outputs.size() + extra; ++i)
      names.push_back("y" + std::to_string(i));
    model.output(names[0]);
    return names;
  }
  std::string messages() { return import(model).messages(); }

  Model model;
  Node node;
};

/// Gives an attribute a value of a kind.
void give(Node &node, const std::string &name, AttributeKind kind) {
  switch (kind) {
  case AttributeKind::Int:
    node.attribute(name, int64_t{0});
    break;
  case AttributeKind::Float:
    node.attribute(name, 0.5F);
    break;
  case AttributeKind::Ints:
    node.attribute(name, Ints{0});
    break;
  default:
    node.attribute(name, std::string("text"));
  }
}

template <typename Check> size_t forEveryEntry(Check check) {
  size_t count = 0;
  for (const auto &[key, versions] : operatorTable().entries())
    for (const auto &[since, entry] : versions) {
      SCOPED_TRACE(key.second + " " + std::to_string(since));
      check(entry);
      ++count;
    }
  return count;
}

TEST(OperatorTable, RefusesUndeclaredAttributes) {
  const size_t entries = forEveryEntry([](const Operator &entry) {
    OneNode one(entry);
    one.node.attribute("undeclared", int64_t{1});
    EXPECT_THAT(one.messages(),
                HasSubstr("E0203 node 0 (" + entry.name + "): attribute 'undeclared' of " +
                          entry.name + " is not supported"));
  });
  EXPECT_GT(entries, 150U);
}

TEST(OperatorTable, RefusesAttributesOfAnotherKind) {
  size_t attributes = 0;
  forEveryEntry([&](const Operator &entry) {
    for (const AttributeSpec &spec : entry.attributes) {
      ++attributes;
      OneNode one(entry);
      give(one.node, spec.name,
           spec.kind == AttributeKind::Float ? AttributeKind::Int : AttributeKind::Float);
      EXPECT_THAT(one.messages(), HasSubstr(": " + sentence(spec) + "; found a"));
    }
  });
  EXPECT_GT(attributes, 100U);
}

TEST(OperatorTable, RefusesValuesThatAreNotAllowed) {
  size_t attributes = 0;
  forEveryEntry([&](const Operator &entry) {
    for (const AttributeSpec &spec : entry.attributes)
      if (!spec.allowed.empty()) {
        ++attributes;
        OneNode one(entry);
        one.node.attribute(spec.name, int64_t{77});
        EXPECT_THAT(one.messages(), HasSubstr(": " + sentence(spec) + "; found 77"));
      }
  });
  EXPECT_GT(attributes, 20U);
}

TEST(OperatorTable, RefusesUndeclaredInputsAndOutputs) {
  forEveryEntry([](const Operator &entry) {
    if (entry.inputs.empty() || !isList(entry.inputs.back().presence)) {
      EXPECT_THAT(OneNode(entry, 1, 0).messages(),
                  HasSubstr("E0204 node 0 (" + entry.name + "): " + entry.name + " has " +
                            std::to_string(entry.inputs.size() + 1) + " inputs; expected "));
    }
    if (!isList(entry.outputs.back().presence)) {
      EXPECT_THAT(OneNode(entry, 0, 1).messages(),
                  HasSubstr(std::to_string(entry.outputs.size() + 1) + " outputs; expected "));
    }
  });
}

/// An input whose value the import needs cannot be a run-time tensor.
TEST(OperatorTable, RefusesRunTimeTensorsWhereValuesAreNeeded) {
  size_t inputs = 0;
  forEveryEntry([&](const Operator &entry) {
    if (std::none_of(entry.inputs.begin(), entry.inputs.end(),
                     [](const InputSpec &input) { return input.known; }))
      return;
    ++inputs;
    EXPECT_NE(OneNode(entry).messages(), "");
  });
  EXPECT_GT(inputs, 20U);
}

/// The first opset with sequences, where the entry is in force there, and else its own.
int64_t opsetOf(const Operator &entry) {
  constexpr int64_t kSequences = 11;
  const bool isThere =
      !entry.domain.empty() || operatorTable().find("", entry.name, kSequences) == &entry;
  return isThere ? kSequences : std::max(entry.since, kOldestOpset);
}

/// A model with a tensor of every kind: 'f', 'd', 'n' and 'b' are known (float, double, int64 and
/// bool), 'x' and 'r' are not (float and int64), 's' is a sequence.
Model tensorsOfEveryKind(const Operator &entry) {
  Model model(opsetOf(entry));
  model.input("x", {1}).floats("f", {1}, {1}).ints("n", {1}, {1}).output("y0");
  model.ints("f2", {2}, {1, 1}).ints("b", {1}, {1}).floats("d", {1}, {1});
  for (onnx::TensorProto &tensor : *model.graph().mutable_initializer()) {
    if (tensor.name() == "b" || tensor.name() == "f2") {
      tensor.clear_int64_data();
      tensor.set_data_type(tensor.name() == "b" ? onnx::TensorProto::BOOL
                                                : onnx::TensorProto::INT32);
      for (int64_t i = 0; i < tensor.dims(0); ++i)
        tensor.add_int32_data(1);
    } else if (tensor.name() == "d") {
      tensor.clear_float_data();
      tensor.set_data_type(onnx::TensorProto::DOUBLE);
      tensor.add_double_data(1);
    }
  }
  model.node("ArgMax", {"x"}, {"r"});
  if (!entry.domain.empty()) {
    onnx::OperatorSetIdProto *import = model.proto.add_opset_import();
    import->set_domain(entry.domain);
    import->set_version(entry.since);
  }
  if (opsetOf(entry) >= 11)
    model.node("SequenceEmpty", {}, {"s"});
  return model;
}

/// Attributes that the node must have, of values that they may have.
void giveRequired(const Node &node, const Operator &entry) {
  for (const AttributeSpec &spec : entry.attributes) {
    if (!spec.required)
      continue;
    onnx::AttributeProto &one = Node(node).attribute(spec.name);
    one.set_i(spec.allowed.empty() ? 0 : spec.allowed[0]);
    static constexpr onnx::AttributeProto::AttributeType kTypes[] = {
        onnx::AttributeProto::INT,       onnx::AttributeProto::FLOAT,
        onnx::AttributeProto::STRING,    onnx::AttributeProto::TENSOR,
        onnx::AttributeProto::GRAPH,     onnx::AttributeProto::INTS,
        onnx::AttributeProto::FLOATS,    onnx::AttributeProto::STRINGS,
        onnx::AttributeProto::TYPE_PROTO};
    one.set_type(kTypes[static_cast<size_t>(spec.kind)]);
    if (spec.kind == AttributeKind::Graph)
      one.mutable_g();
    if (spec.kind == AttributeKind::Tensor) {
      one.mutable_t()->set_data_type(onnx::TensorProto::FLOAT);
      one.mutable_t()->add_float_data(1);
    }
  }
}

/// What the import says of a node of these inputs.
std::string messagesOf(const Operator &entry, const Names &inputs, Names outputs = {"y0"}) {
  for (size_t i = outputs.size(); i < entry.outputs.size(); ++i)
    outputs.push_back(entry.outputs[i].presence == Presence::Required ? "y" + std::to_string(i)
                                                                      : "");
  Model model = tensorsOfEveryKind(entry);
  Node node = model.node(entry.name, inputs, outputs);
  node.proto->set_domain(entry.domain);
  giveRequired(node, entry);
  for (size_t i = 1; i < outputs.size(); ++i)
    if (!outputs[i].empty())
      model.output(outputs[i]);
  return import(model).messages();
}

/// One of the tensors that an input takes, and is known.
std::string taken(const InputSpec &input) {
  return input.types == Types::Integer ? "n" : input.types == Types::Sequence ? "s" : "f";
}

Names takenBy(const Operator &entry) {
  Names names;
  for (const InputSpec &input : entry.inputs)
    names.push_back(taken(input));
  return names;
}

/// Every input of every operator with a tensor of another type or that is not known, and every
/// output that cannot be had: the condition in the words of the support table.
TEST(OperatorTable, RefusesOperandsOfOtherKinds) {
  size_t conditions = 0;
  forEveryEntry([&](const Operator &entry) {
    const bool hasSequences = opsetOf(entry) >= 11;
    const std::vector<Requirement> requirements = allRequirements(entry);
    size_t next = 0;
    const auto expect = [&](const Names &inputs, const Names &outputs = {"y0"}) {
      ++conditions;
      EXPECT_THAT(messagesOf(entry, inputs, outputs),
                  HasSubstr(": " + requirements[next].sentence + "; found "));
    };
    for (size_t i = 0; i < entry.inputs.size(); ++i) {
      const InputSpec &input = entry.inputs[i];
      Names names = takenBy(entry);
      names[i] = input.types == Types::Float || input.types == Types::Numeric ? "b"
                 : input.types == Types::Any                                  ? "s"
                                                                              : "f";
      if (input.types != Types::Any ? input.types != Types::Value : hasSequences)
        expect(names);
      next += input.types != Types::Value ? 1 : 0;
      if (!input.known)
        continue;
      names[i] = input.types == Types::Integer ? "r" : "x";
      expect(names);
      ++next;
    }
    Names outputs;
    for (size_t i = 0; i < entry.outputs.size(); ++i) {
      outputs.push_back("y" + std::to_string(i));
      if (entry.outputs[i].presence != Presence::Refused)
        continue;
      expect(takenBy(entry), outputs);
      outputs.back().clear();
      ++next;
    }
  });
  EXPECT_GT(conditions, 500U);
}

/// Operands that fit each of its inputs alone but not each other: of other element types, and of
/// shapes that do not broadcast. Whether a node takes that is its own affair.
TEST(OperatorTable, TakesOrRefusesOperandsThatDoNotFitEachOther) {
  const auto isReadable = [](const std::string &messages) {
    return messages.empty() || messages.starts_with("E0");
  };
  forEveryEntry([&](const Operator &entry) {
    for (const char *other : {"d", "n", "b", "f2", "x"})
      for (const char *first : {"f", "n", "b"}) {
        Names names = takenBy(entry);
        for (size_t i = 0; i < names.size(); ++i)
          if (entry.inputs[i].types != Types::Sequence)
            names[i] = i == 0 ? first : other;
        if (!names.empty() && isList(entry.inputs.back().presence))
          names.emplace_back(other);
        EXPECT_TRUE(isReadable(messagesOf(entry, names)));
      }
  });
}

} // namespace
} // namespace sluice::frontend::test
