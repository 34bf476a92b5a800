// The phases together, on the digits example and on the shared models.
#include "compiler/pipeline/pipeline.h"

#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/target/core_program.h"
#include "runtime/format/program_file.h"

namespace sluice::pipeline {
namespace {

using testing::HasSubstr;

const std::string kSource = SLUICE_SOURCE;

CompileOptions digits(const std::string &target = "c2b8") {
  CompileOptions options;
  options.modelPath = kSource + "/tools/digits/digits.onnx";
  options.target = target;
  return options;
}

CompileResult compiled(const CompileOptions &options) {
  CompileResult result;
  Problems problems;
  EXPECT_TRUE(compileModel(options, result, problems));
  for (const Problem &problem : problems)
    ADD_FAILURE() << problem.code << ": " << problem.message;
  return result;
}

/// The code of the first problem.
std::string refused(const CompileOptions &options) {
  CompileResult result;
  Problems problems;
  EXPECT_FALSE(compileModel(options, result, problems));
  return problems.empty() ? "" : problems[0].code;
}

class Targets : public testing::TestWithParam<const char *> {};

TEST_P(Targets, TheDigitsExampleCompiles) {
  const CompileResult result = compiled(digits(GetParam()));
  EXPECT_EQ(result.accelerated, result.operators);
  EXPECT_GT(result.operators, 0U);
  EXPECT_GT(result.macs, 0U);
  EXPECT_EQ(result.program.models.at(0).name, "digits");
  EXPECT_FALSE(result.program.sourceMap.empty());
  ASSERT_TRUE(result.cycles);
  EXPECT_LE(result.cycles->contiguous, result.cycles->spaced + 1);
  EXPECT_LE(result.cycles->period, result.cycles->contiguous);
  const uint64_t floor = result.macs / result.peakMacsPerCycle;
  EXPECT_GT(result.cycles->period, floor);
}

TEST_P(Targets, TheSameOptionsGiveTheSameBytes) {
  const CompileOptions options = digits(GetParam());
  EXPECT_EQ(format::write(compiled(options).program), format::write(compiled(options).program));
}

INSTANTIATE_TEST_SUITE_P(All, Targets, testing::Values("c2b8", "c6b32", "c3b64"));

TEST(Pipeline, EveryStageHasItsText) {
  CompileOptions options = digits();
  options.stage = Stage::Graph;
  const std::string graph = compiled(options).text;
  EXPECT_THAT(graph, HasSubstr("sluice.matmul"));
  EXPECT_THAT(graph, testing::Not(HasSubstr("#sluice<[")));
  options.stage = Stage::Layout;
  EXPECT_THAT(compiled(options).text, HasSubstr("#sluice<["));
  options.stage = Stage::Rows;
  EXPECT_THAT(compiled(options).text, HasSubstr("rows.linear %"));
  options.stage = Stage::Plan;
  EXPECT_THAT(compiled(options).text, HasSubstr("stage 1:\n  row "));
  options.stage = Stage::Core;
  const std::string core = compiled(options).text;
  options.stage = Stage::Program;
  EXPECT_EQ(core::disassembleText(compiled(options).program), core);
}

TEST(Pipeline, EffortIsPartOfTheProgram) {
  CompileOptions options = digits();
  const CompileResult usual = compiled(options);
  options.effort = Effort::Fast;
  const CompileResult fast = compiled(options);
  EXPECT_LE(usual.cycles->spaced, fast.cycles->spaced);
  EXPECT_THAT(fast.program.options, HasSubstr("--effort fast"));
}

TEST(Pipeline, EveryTensorHasALayout) {
  const CompileResult result = compiled(digits());
  ASSERT_FALSE(result.tensors.empty());
  EXPECT_TRUE(result.tensors[0].dataDim);
  EXPECT_FALSE(result.tensors[0].why.empty());
}

TEST(Pipeline, ProblemsOfEveryPhase) {
  CompileOptions options = digits();
  options.target = "c9b99";
  EXPECT_EQ(refused(options), "E0515");
  options = digits();
  options.modelPath = kSource + "/no-such-model.onnx";
  EXPECT_THAT(refused(options), HasSubstr("E01"));
  options = digits();
  options.dataDims = {{"no such tensor", 1}};
  EXPECT_THAT(refused(options), HasSubstr("E03"));
}

struct Shared {
  const char *model;
  const char *target;
};
class SharedModels : public testing::TestWithParam<Shared> {};

TEST_P(SharedModels, Compile) {
  CompileOptions options;
  options.modelPath = std::string(SHARED_MODELS "/") + GetParam().model + "/model.onnx";
  options.target = GetParam().target;
  if (!std::filesystem::exists(options.modelPath))
    GTEST_SKIP() << "no folder 'shared' beside the repository";
  const CompileResult result = compiled(options);
  ASSERT_TRUE(result.cycles);
  std::printf("%s on %s: spaced %llu, contiguous %llu, period %llu cycles\n", GetParam().model,
              GetParam().target, static_cast<unsigned long long>(result.cycles->spaced),
              static_cast<unsigned long long>(result.cycles->contiguous),
              static_cast<unsigned long long>(result.cycles->period));
}

INSTANTIATE_TEST_SUITE_P(All, SharedModels,
                         testing::Values(Shared{"acasxu", "c2b8"}, Shared{"acasxu", "c6b32"},
                                         Shared{"go1_policy", "c2b8"},
                                         Shared{"go1_policy", "c6b32"}));

/// Two layers of 128 channels over so many samples.
CompileOptions twoLayers(uint32_t samples) {
  CompileOptions options;
  options.modelPath = testing::TempDir() + fmt::format("two-layers-{}.mlir", samples);
  options.target = "c6b32";
  std::ofstream(options.modelPath) << fmt::format(R"(
func.func @main(%x: tensor<{0}x128xf32> {{sluice.name = "x"}})
    -> (tensor<{0}x128xf32> {{sluice.name = "y"}}) {{
  %v = sluice.constant dense<0.5> : tensor<128x128xf32>
  %w = sluice.constant dense<0.25> : tensor<128x128xf32>
  %a = sluice.matmul %x, %v : (tensor<{0}x128xf32>, tensor<128x128xf32>) -> tensor<{0}x128xf32>
  %b = sluice.map (%l = %a) : (tensor<{0}x128xf32>) -> tensor<{0}x128xf32> {{
    %zero = arith.constant 0.0 : f32
    %m = arith.maximumf %l, %zero : f32
    sluice.yield %m
  }}
  %y = sluice.matmul %b, %w : (tensor<{0}x128xf32>, tensor<128x128xf32>) -> tensor<{0}x128xf32>
  return %y : tensor<{0}x128xf32>
}})",
                                                  samples);
  return options;
}

// As the number of samples says which forms of a model are planned, this is not what
// loops alone cost: that is counted in loops_test.cpp.
TEST(Pipeline, PlanningGrowsByNoMoreThanHalfFromShortToLong) {
  const CompileResult few = compiled(twoLayers(64));
  for (const uint32_t samples : {256, 4096}) {
    const CompileResult many = compiled(twoLayers(samples));
    EXPECT_LE(many.planningWork, few.planningWork * 3 / 2);
    EXPECT_GT(many.planningWork, 0U);
    for (size_t core = 0; core < few.program.cores.size(); ++core)
      EXPECT_LE(many.program.cores[core].instructions.size(),
                few.program.cores[core].instructions.size() * 3 / 2);
    EXPECT_LE(many.program.hostInstructions.size(), few.program.hostInstructions.size() * 3 / 2);
  }
}

} // namespace
} // namespace sluice::pipeline
