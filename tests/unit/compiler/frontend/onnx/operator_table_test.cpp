// Nothing of a node is read past, for every version of every operator: what its
// entry does not declare is an error.
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
      EXPECT_THAT(one.messages(), HasSubstr("requires: " + sentence(spec) + "; found a"));
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
        EXPECT_THAT(one.messages(), HasSubstr("requires: " + sentence(spec) + "; found 77"));
      }
  });
  EXPECT_GT(attributes, 20U);
}

TEST(OperatorTable, RefusesUndeclaredInputsAndOutputs) {
  forEveryEntry([](const Operator &entry) {
    if (entry.inputs.empty() || !isList(entry.inputs.back().presence)) {
      EXPECT_THAT(OneNode(entry, 1, 0).messages(),
                  HasSubstr("E0204 node 0 (" + entry.name + "): " + entry.name + " has " +
                            std::to_string(entry.inputs.size() + 1) + " inputs, allowed: "));
    }
    if (!isList(entry.outputs.back().presence)) {
      EXPECT_THAT(OneNode(entry, 0, 1).messages(),
                  HasSubstr(std::to_string(entry.outputs.size() + 1) + " outputs, allowed: "));
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

} // namespace
} // namespace sluice::frontend::test
