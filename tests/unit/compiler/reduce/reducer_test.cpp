#include "compiler/reduce/reducer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/compiler/reduce/models.h"

namespace sluice::reduce {
namespace {

using testing::ElementsAre;

/// A laboratory that knows the chain; `shows` says which models show the failure.
Laboratory laboratoryOf(std::function<bool(Case &)> shows, const Facts &facts = factsOfChain()) {
  Laboratory laboratory;
  laboratory.showsFailure = std::move(shows);
  laboratory.survey = [facts](const Case &one) {
    Survey survey{facts, {}};
    for (const Sample &sample : one.samples) {
      Sample &values = survey.values.emplace_back(sample);
      for (const char *name : {"a", "b"})
        values[name] = reference::Tensor({2, 3}, {1, 2, 3, 4, 5, 6});
    }
    return survey;
  };
  return laboratory;
}

Laboratory needs(const std::vector<std::string> &operators, const Facts &facts = factsOfChain()) {
  return laboratoryOf(
      [operators](Case &one) {
        return std::ranges::all_of(operators,
                                   [&](const std::string &op) { return has(one.model, op); });
      },
      facts);
}

constexpr unsigned kMost = 1000;

TEST(Reducer, KeepsTheNodeThatShowsTheFailure) {
  const Laboratory laboratory = needs({"Exp"});
  const onnx::ModelProto small = reduceModel({chain()}, laboratory, kMost).smallest.model;
  EXPECT_THAT(operatorsOf(small), ElementsAre("Exp"));
  ASSERT_EQ(small.graph().input_size(), 1);
  EXPECT_EQ(small.graph().input(0).name(), "a");
  ASSERT_EQ(small.graph().output_size(), 1);
  EXPECT_EQ(small.graph().output(0).name(), "b");
  EXPECT_EQ(small.graph().initializer_size(), 0);
}

TEST(Reducer, TriesTheNodeThatTheFailureNamesFirst) {
  std::vector<std::vector<std::string>> tried;
  const Laboratory laboratory = laboratoryOf([&](Case &one) {
    tried.push_back(operatorsOf(one.model));
    one.nodes = {0};
    return has(one.model, "Tanh");
  });
  onnx::ModelProto model = chain();
  reduceModel({model, {}, {2}}, laboratory, kMost);
  ASSERT_GE(tried.size(), 1U);
  EXPECT_THAT(tried.front(), ElementsAre("Tanh")); // the model as it is was tried before
}

TEST(Reducer, KeepsInitializersThatAreRead) {
  const onnx::ModelProto small = reduceModel({chain()}, needs({"Add"}), kMost).smallest.model;
  EXPECT_THAT(operatorsOf(small), ElementsAre("Add"));
  ASSERT_EQ(small.graph().initializer_size(), 1);
  EXPECT_EQ(small.graph().initializer(0).dims(0), 1);
}

TEST(Reducer, KeepsNodesThatShowTheFailureTogether) {
  const onnx::ModelProto small =
      reduceModel({chain()}, needs({"Relu", "Exp"}), kMost).smallest.model;
  EXPECT_THAT(operatorsOf(small), ElementsAre("Relu", "Exp"));
}

TEST(Reducer, BypassesNodesBetweenThoseThatShowTheFailure) {
  const Laboratory laboratory = laboratoryOf([](Case &one) {
    // y depends on x.
    return has(one.model, "Relu") && has(one.model, "Tanh") &&
           one.model.graph().input_size() == 1 && one.model.graph().input(0).name() == "x";
  });
  const onnx::ModelProto small = reduceModel({chain()}, laboratory, kMost).smallest.model;
  EXPECT_THAT(operatorsOf(small), ElementsAre("Relu", "Tanh"));
  EXPECT_EQ(small.graph().node(1).input(0), small.graph().node(0).output(0));
}

TEST(Reducer, ShrinksExtents) {
  const onnx::ModelProto small = reduceModel({chain()}, needs({"Exp"}), kMost).smallest.model;
  for (const auto &dim : small.graph().input(0).type().tensor_type().shape().dim())
    EXPECT_EQ(dim.dim_value(), 1);
}

TEST(Reducer, GivesNewInputsTheirValues) {
  const Laboratory laboratory = laboratoryOf([](Case &one) {
    return has(one.model, "Exp") && !one.samples.empty() && !one.samples.front().empty();
  });
  Case first{chain(), {{{"x", reference::Tensor({2, 3})}}}, {}};
  const Case small = reduceModel(std::move(first), laboratory, kMost).smallest;
  ASSERT_EQ(small.model.graph().input(0).name(), "a");
  ASSERT_EQ(small.samples.size(), 1U);
  EXPECT_EQ(small.samples[0].at("a"), reference::Tensor({1, 1}, {1}));
}

TEST(Reducer, TriesNoMoreModelsThanItMay) {
  unsigned tried = 0;
  const Laboratory laboratory = laboratoryOf([&](Case &) {
    ++tried;
    return false;
  });
  const Reduced reduced = reduceModel({chain()}, laboratory, 3);
  EXPECT_EQ(tried, 3U);
  EXPECT_EQ(reduced.trials, 3U);
  EXPECT_EQ(reduced.smallest.model.graph().node_size(), 4);
}

TEST(Reducer, EndsWhenItIsStopped) {
  unsigned tried = 0;
  Laboratory laboratory = laboratoryOf([&](Case &one) {
    ++tried;
    return has(one.model, "Exp");
  });
  laboratory.isStopped = [&] { return tried == 2; };
  const Reduced reduced = reduceModel({chain()}, laboratory, kMost);
  EXPECT_EQ(reduced.trials, 2U);
  EXPECT_TRUE(has(reduced.smallest.model, "Exp"));
}

TEST(Reducer, LeavesTensorsOfUnknownShape) {
  const onnx::ModelProto small = reduceModel({chain()}, needs({"Exp"}, {}), kMost).smallest.model;
  EXPECT_THAT(operatorsOf(small), ElementsAre("Relu", "Exp"));
}

} // namespace
} // namespace sluice::reduce
