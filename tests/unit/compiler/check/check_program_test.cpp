// Programs against models, the wrong ones among them.
#include "compiler/check/check_program.h"

#include <fstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/pipeline/pipeline.h"

namespace sluice::check {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

/// Compiles textual IR and checks nothing.
pipeline::CompileResult compiled(const std::string &text, const std::string &name,
                                 const std::vector<streaming::StreamedInput> &streamed = {}) {
  const std::string path = testing::TempDir() + name + ".mlir";
  std::ofstream(path) << text;
  pipeline::CompileOptions options;
  options.modelPath = path;
  options.target = "c2b8";
  options.streaming.inputs = streamed;
  options.check.emplace();
  pipeline::CompileResult result;
  Problems problems;
  EXPECT_TRUE(pipeline::compileModel(options, result, problems));
  for (const Problem &problem : problems)
    ADD_FAILURE() << problem.code << ": " << problem.message;
  return result;
}

/// y = x * factor + 1, after tanh if `isCurved`.
std::string scaled(const std::string &factor, bool isCurved = false) {
  return "func.func @main(%x: tensor<2x8xf32>) -> (tensor<2x8xf32> {sluice.name = \"y\"}) {\n"
         "  %h = sluice.map (%a = %x) : (tensor<2x8xf32>) -> tensor<2x8xf32> {\n"
         "    %c = arith.constant " +
         factor + " : f32\n    %0 = arith.mulf %a, %c : f32\n" +
         (isCurved ? "    %1 = math.tanh %0 : f32\n    sluice.yield %1\n"
                   : "    sluice.yield %0\n") +
         "  }\n  %y = sluice.map (%a = %h) : (tensor<2x8xf32>) -> tensor<2x8xf32> {\n"
         "    %c = arith.constant 1.0 : f32\n    %0 = arith.addf %a, %c : f32\n"
         "    sluice.yield %0\n  }\n  return %y : tensor<2x8xf32>\n}\n";
}

std::string running(bool isReset) {
  return std::string("func.func @main(%x: tensor<1x8xf32>) -> (tensor<1x8xf32> {sluice.name = "
                     "\"y\"}) {\n") +
         "  %s = sluice.state" + (isReset ? " initial dense<1.0> : tensor<1x8xf32>" : "") +
         " : tensor<1x8xf32>\n"
         "  %n = sluice.map (%a = %s, %b = %x) : (tensor<1x8xf32>, tensor<1x8xf32>) -> "
         "tensor<1x8xf32> {\n    %c = arith.constant 0.5 : f32\n    %0 = arith.mulf %a, %c : f32\n"
         "    %1 = arith.addf %0, %b : f32\n    sluice.yield %1\n  }\n"
         "  %k = sluice.keep %n in %s : (tensor<1x8xf32>, tensor<1x8xf32>) -> tensor<1x8xf32>\n"
         "  return %k : tensor<1x8xf32>\n}\n";
}

TEST(CheckProgram, AcceptsWhatTheModelComputes) {
  const auto result = compiled(scaled("0.3", true), "right");
  ASSERT_TRUE(result.checked);
  EXPECT_FALSE(result.checked->problem);
  EXPECT_EQ(result.checked->inputs, 7U);
  EXPECT_EQ(result.checked->steps, 0U);
  EXPECT_EQ(result.checked->elements, 7U * 16);
  EXPECT_LT(result.checked->largestError, 0.02);
}

TEST(CheckProgram, RunsAsManyInputsAsItIsTold) {
  const auto result = compiled(scaled("0.3"), "counted");
  Options options;
  options.inputs = 12;
  EXPECT_EQ(checkProgram(*result.oracle, result.program, nullptr, options, nullptr).inputs, 12U);
}

TEST(CheckProgram, RunsGivenInputsFirst) {
  const auto model = compiled(scaled("0.3"), "given"), other = compiled(scaled("0.25"), "other");
  Options options;
  options.inputs = 1;
  options.given = {{reference::Tensor({2, 8})}};
  // Zeros do not tell the two apart.
  EXPECT_FALSE(checkProgram(*model.oracle, other.program, nullptr, options, nullptr).problem);
  options.given.front().front().values[9] = 1;
  const Outcome outcome = checkProgram(*model.oracle, other.program, nullptr, options, nullptr);
  ASSERT_TRUE(outcome.problem);
  EXPECT_THAT(outcome.problem->notes, Contains("with inputs: data set 0"));
  EXPECT_EQ(outcome.evidence.steps.front(), options.given.front());
}

TEST(CheckProgram, NamesTheOutputThatDiffers) {
  const auto model = compiled(scaled("0.3"), "model"), other = compiled(scaled("0.25"), "program");
  Options options;
  options.inputs = 1;
  options.given = {{reference::Tensor({2, 8})}};
  options.given.front().front().values[9] = 4;
  const Outcome outcome = checkProgram(*model.oracle, other.program, nullptr, options, nullptr);
  ASSERT_TRUE(outcome.problem);
  EXPECT_EQ(outcome.problem->code, "E0498");
  EXPECT_EQ(outcome.problem->message,
            "internal error: output 'y' is 2 at [1, 1], the model gives 2.2, allowed 0.0375");
  EXPECT_THAT(outcome.problem->notes,
              ElementsAre("with inputs: data set 0",
                          "1 of 16 elements of the output are beyond their bounds"));
  EXPECT_THAT(outcome.evidence.names, ElementsAre("x"));
}

TEST(CheckProgram, RunsStatesForSomeStepsAndAReset) {
  const auto result = compiled(running(false), "state");
  ASSERT_TRUE(result.checked);
  EXPECT_EQ(result.checked->steps, 8U);
  EXPECT_FALSE(result.checked->problem);
  const auto other = compiled(running(true), "initial");
  EXPECT_FALSE(other.checked->problem);
  const Outcome outcome = checkProgram(*result.oracle, other.program, nullptr, Options(), nullptr);
  ASSERT_TRUE(outcome.problem);
  EXPECT_THAT(outcome.problem->message, HasSubstr("output 'y' is "));
}

TEST(CheckProgram, NoticesAStateThatAResetDoesNotClear) {
  auto result = compiled(running(false), "kept");
  result.program.state.places.clear(); // so a reset writes nothing
  const Outcome outcome = checkProgram(*result.oracle, result.program, nullptr, Options(), nullptr);
  ASSERT_TRUE(outcome.problem);
  EXPECT_THAT(
      outcome.problem->message,
      testing::MatchesRegex(
          "internal error: output 'y' is .* at \\[0, .\\] behind a reset, and .* at first"));
}

TEST(CheckProgram, NamesTheTensorThatAResetDoesNotClear) {
  auto result =
      compiled("func.func @main(%x: tensor<1x8xf32>) -> tensor<1xf32> {\n"
               "  %s = sluice.state : tensor<1x8xf32>\n"
               "  %n = sluice.map (%a = %s, %b = %x) : (tensor<1x8xf32>, tensor<1x8xf32>) "
               "-> tensor<1x8xf32> {\n    %c = arith.constant 0.5 : f32\n"
               "    %0 = arith.mulf %a, %c : f32\n    %1 = arith.addf %0, %b : f32\n"
               "    sluice.yield %1\n  }\n"
               "  %k = sluice.keep %n in %s : (tensor<1x8xf32>, tensor<1x8xf32>) -> "
               "tensor<1x8xf32>\n"
               "  %y = sluice.reduce max %k axes [1] : (tensor<1x8xf32>) -> "
               "tensor<1xf32>\n  return %y : tensor<1xf32>\n}\n",
               "keptbefore");
  result.program.state.places.clear();
  const Outcome outcome = checkProgram(*result.oracle, result.program, nullptr, Options(), nullptr);
  ASSERT_TRUE(outcome.problem);
  EXPECT_THAT(outcome.problem->message, HasSubstr(" behind a reset, and "));
  EXPECT_THAT(outcome.problem->notes, Contains("the first tensor that differs is 'n'"));
  ASSERT_TRUE(outcome.problem->node);
  EXPECT_EQ(outcome.problem->node->name, "n");
}

TEST(CheckProgram, ComparesStreamsWithTheWholeSequence) {
  // The mean of a position and the one before.
  const auto means = [](const std::string &weight) {
    return "func.func @main(%x: tensor<1x8x12xf32> {sluice.name = \"x\"}) -> "
           "(tensor<1x8x12xf32> {sluice.name = \"y\"}) {\n"
           "  %v = sluice.window %x axes [2] sizes [2] counts [12] starts [-1] strides [1] "
           "dilations "
           "[1] value 0.0 : (tensor<1x8x12xf32>) -> tensor<1x8x12x2xf32>\n"
           "  %m = sluice.reduce mean %v axes [3] : (tensor<1x8x12x2xf32>) -> tensor<1x8x12xf32>\n"
           "  %y = sluice.map (%a = %m) : (tensor<1x8x12xf32>) -> tensor<1x8x12xf32> {\n"
           "    %c = arith.constant " +
           weight +
           " : f32\n    %0 = arith.mulf %a, %c : f32\n"
           "    sluice.yield %0\n  }\n  return %y : tensor<1x8x12xf32>\n}\n";
  };
  const auto result = compiled(means("0.5"), "stream", {{"x", 2, 1}});
  ASSERT_TRUE(result.checked);
  EXPECT_EQ(result.checked->steps, 8U);
  EXPECT_EQ(result.checked->elements % (8 * 8), 0U);
  EXPECT_FALSE(result.checked->problem);
  const auto other = compiled(means("0.625"), "otherstream", {{"x", 2, 1}});
  EXPECT_TRUE(checkProgram(*result.oracle, other.program, result.streamed.get(), Options(), nullptr)
                  .problem);
}

} // namespace
} // namespace sluice::check
