#include "compiler/reduce/trial.h"

#include <csignal>
#include <fstream>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "compiler/reduce/memory_file.h"
#include "compiler/reduce/survey.h"
#include "tests/unit/compiler/reduce/models.h"

namespace sluice::reduce {
namespace {

using testing::ElementsAre;

TrialSetup setupOf() {
  TrialSetup setup;
  setup.compile.target = "c2b8";
  setup.compile.measure = false;
  setup.compile.check.emplace();
  return setup;
}

std::vector<std::string> textsOf(const Outcome &outcome) {
  std::vector<std::string> texts;
  for (const Failure &one : outcome.failures)
    texts.push_back(one.text());
  return texts;
}

TEST(Trial, OfAModelThatCompiles) {
  const Outcome outcome = tryModel(chain(), {}, setupOf());
  EXPECT_THAT(textsOf(outcome), ElementsAre());
  EXPECT_FALSE(outcome.isInterrupted);
}

TEST(Trial, NamesTheProblemAndItsNode) {
  onnx::ModelProto model = chain();
  model.mutable_graph()->mutable_node(1)->set_op_type("Expp");
  const Outcome outcome = tryModel(model, {}, setupOf());
  EXPECT_THAT(textsOf(outcome), ElementsAre("E0201 at Expp"));
  EXPECT_THAT(outcome.failures.front().nodes, ElementsAre(1));
}

TEST(Trial, NamesASignalAndTheStage) {
  TrialSetup setup = setupOf();
  setup.examine = [](const format::Program &,
                     const std::vector<Sample> &) -> std::optional<Problem> {
    std::raise(SIGFPE);
    return std::nullopt;
  };
  EXPECT_THAT(textsOf(tryModel(chain(), {}, setup)), ElementsAre("SIGFPE in stage checking"));
}

TEST(Trial, EndsAModelThatDoesNotEnd) {
  TrialSetup setup = setupOf();
  setup.timeout = std::chrono::seconds(1);
  setup.examine = [](const format::Program &,
                     const std::vector<Sample> &) -> std::optional<Problem> {
    for (;;)
      pause();
  };
  EXPECT_THAT(textsOf(tryModel(chain(), {}, setup)), ElementsAre("no end in stage checking"));
}

TEST(Trial, GivesAnExceptionACode) {
  TrialSetup setup = setupOf();
  setup.examine = [](const format::Program &,
                     const std::vector<Sample> &) -> std::optional<Problem> {
    throw std::logic_error("no such thing");
  };
  const Outcome outcome = tryModel(chain(), {}, setup);
  ASSERT_THAT(textsOf(outcome), ElementsAre("E0611"));
  EXPECT_EQ(outcome.failures.front().message, "no such thing");
}

TEST(Trial, EndsWithoutAFailureIfTheUserStopsIt) {
  const std::atomic<bool> stop = true;
  TrialSetup setup = setupOf();
  setup.stop = &stop;
  const Outcome outcome = tryModel(chain(), {}, setup);
  EXPECT_TRUE(outcome.isInterrupted);
  EXPECT_THAT(textsOf(outcome), ElementsAre());
}

TEST(Trial, LeavesOutFlagsOfOtherTensors) {
  pipeline::CompileOptions options;
  options.inputShapes = {{"x", {2, 3}}, {"gone", {1}}};
  options.states = {{"x", "y"}, {"x", "gone"}, {"gone", "y"}};
  options.dataDims = {{"b", 1}, {"gone", 0}};
  options.corePartition = {{"fc", {0}}, {"gone", {1}}};
  options.streaming.inputs = {{"gone", 1, 1}};
  options.streaming.delay = 3;
  onnx::ModelProto model = chain();
  model.mutable_graph()->mutable_node(0)->set_name("fc");
  const pipeline::CompileOptions kept = optionsFor(options, model);
  EXPECT_EQ(kept.inputShapes.size(), 1U);
  EXPECT_THAT(kept.states, ElementsAre(std::pair<std::string, std::string>("x", "y")));
  EXPECT_THAT(kept.dataDims, ElementsAre(std::pair<std::string, int64_t>("b", 1)));
  EXPECT_EQ(kept.corePartition.size(), 1U);
  EXPECT_TRUE(kept.streaming.inputs.empty());
  EXPECT_EQ(kept.streaming.delay, 0);
}

TEST(Trial, NamesSignals) {
  EXPECT_EQ(signalName(SIGSEGV), "SIGSEGV");
  EXPECT_EQ(signalName(SIGRTMIN), "signal " + std::to_string(SIGRTMIN));
}

TEST(Survey, KnowsShapesAndValues) {
  const Survey found =
      survey(chain(), {{{"x", reference::Tensor({2, 3}, {-1, 0, 1, 2, 3, 4})}}}, setupOf());
  EXPECT_EQ(found.facts.at("b").shape, (std::vector<int64_t>{2, 3}));
  ASSERT_EQ(found.values.size(), 1U);
  EXPECT_EQ(found.values[0].at("a"), reference::Tensor({2, 3}, {0, 0, 1, 2, 3, 4}));
  EXPECT_EQ(found.values[0].at("x").values.front(), -1);
}

TEST(Survey, KnowsShapesInFrontOfAProblem) {
  onnx::ModelProto model = chain();
  model.mutable_graph()->mutable_node(2)->set_op_type("Tanhh");
  EXPECT_EQ(survey(model, {}, setupOf()).facts.at("b").shape, (std::vector<int64_t>{2, 3}));
}

TEST(Survey, KnowsTheInputsOfTheUser) {
  const auto inputs = inputsOf(chain(), setupOf());
  ASSERT_EQ(inputs.size(), 1U);
  EXPECT_EQ(inputs[0].name, "x");
  EXPECT_EQ(inputs[0].shape, (std::vector<int64_t>{2, 3}));
}

TEST(MemoryFile, HasItsContent) {
  const MemoryFile file("some bytes");
  std::ifstream stream(file.path());
  std::string content;
  std::getline(stream, content);
  EXPECT_EQ(content, "some bytes");
}

} // namespace
} // namespace sluice::reduce
