// Verdicts, from problems and from compilations.
#include "compiler/pipeline/verdict.h"

#include <fstream>

#include <gtest/gtest.h>

#include "compiler/dialect/sluice/unrolling.h"
#include "compiler/pipeline/one_way.h"
#include "runtime/format/targets.h"

namespace sluice::pipeline {
namespace {

Problem problemFor(Reason reason) {
  Problem problem;
  problem.code = "E0499"; // says nothing here
  problem.reason = std::move(reason);
  return problem;
}

TEST(Verdict, HasTheFiguresOfEveryMemoryThatIsMissing) {
  const Verdict verdict = verdictOf({problemFor(LacksMemory{"weight blocks", 7, 4, true}),
                                     problemFor(LacksMemory{"inbox rows", 30, 20})});
  const auto *lacks = std::get_if<Lacks>(&verdict);
  ASSERT_TRUE(lacks);
  ASSERT_EQ(lacks->memories.size(), 2U);
  EXPECT_EQ(lacks->memories[0].memory, "weight blocks");
  EXPECT_EQ(lacks->memories[0].needed, 7U);
  EXPECT_EQ(lacks->memories[0].available, 4U);
  EXPECT_TRUE(lacks->memories[0].atLeast);
  EXPECT_EQ(lacks->memories[1].memory, "inbox rows");
}

TEST(Verdict, IsOfAllProblems) {
  const Problem memory = problemFor(LacksMemory{"weight blocks", 7, 4});
  const Problem layout = problemFor(NoLayout()), other = problemFor(Refused());
  EXPECT_TRUE(std::holds_alternative<NoLayout>(verdictOf({layout, layout})));
  EXPECT_TRUE(std::holds_alternative<Rejected>(verdictOf({memory, other})));
  EXPECT_TRUE(std::holds_alternative<Rejected>(verdictOf({memory, layout})));
  EXPECT_TRUE(std::holds_alternative<Rejected>(verdictOf({})));
}

TEST(Verdict, HasTheLengthOfALoop) {
  const Verdict verdict = verdictOf({ir::tooLongToUnroll("100", 3000), problemFor(Refused())});
  const auto *tooLong = std::get_if<TooLong>(&verdict);
  ASSERT_TRUE(tooLong);
  EXPECT_EQ(tooLong->operations, 3000);
  EXPECT_EQ(tooLong->allowed, ir::kMostUnrolledOperations);
}

/// A layer of 32 features in textual IR.
CompileOptions layer() {
  CompileOptions options;
  options.modelPath = testing::TempDir() + "verdict-layer.mlir";
  std::ofstream(options.modelPath) << R"(
func.func @main(%x: tensor<1x32xf32>) -> tensor<1x32xf32> {
  %w = sluice.constant dense<0.5> : tensor<32x32xf32>
  %y = sluice.matmul %x, %w : (tensor<1x32xf32>, tensor<32x32xf32>) -> tensor<1x32xf32>
  return %y : tensor<1x32xf32>
})";
  return options;
}

TEST(Verdict, OfCompilationsOfOneImport) {
  format::Geometry geometry = *format::findPreset("c2b8");
  CompileOptions fits = layer(), lacks = layer();
  fits.geometry = geometry;
  geometry.tables = 1;
  geometry.hostInstructions = 1;
  lacks.geometry = geometry;
  unsigned imports = 0;
  Progress progress([&](const std::string &stage) { imports += stage == "importing"; });
  fits.progress = &progress;
  ImportOnce imported(fits);
  const Compilation first = compileOneWay(fits, imported), second = compileOneWay(lacks, imported);
  ASSERT_TRUE(first.compiles());
  EXPECT_EQ(std::get<Compiles>(first.verdict).cycles, first.result.cycles->spaced);
  EXPECT_GT(first.result.cycles->spaced, 0U);
  ASSERT_TRUE(second.is<Lacks>());
  EXPECT_EQ(std::get<Lacks>(second.verdict).memories[0].memory, "host instructions");
  EXPECT_EQ(std::get<Lacks>(second.verdict).memories[0].available, 1U);
  EXPECT_EQ(second.problems.size(), std::get<Lacks>(second.verdict).memories.size());
  EXPECT_EQ(imports, 1U);
}

} // namespace
} // namespace sluice::pipeline
