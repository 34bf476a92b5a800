// A program of rows is what its text says: printed and parsed it plans the same.
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>

#include "compiler/conversion/model/fastest_plan.h"
#include "compiler/conversion/rows/program_ops.h"
#include "compiler/support/problem.h"
#include "tests/support/rows/programs.h"

namespace sluice::conversion {
namespace {

std::string textOf(mlir::Operation *op) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  op->print(stream);
  return llvm::StringRef(text).trim().str(); // without what ends an operation that is in nothing
}

/// The program after its way through text.
rows::Program reread(const rows::Program &program) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  const mlir::OwningOpRef<rows::ProgramOp> made = rows::toOps(context, program);
  EXPECT_TRUE(mlir::succeeded(mlir::verify(*made)));
  const std::string text = textOf(*made);
  mlir::Block block;
  EXPECT_TRUE(mlir::succeeded(mlir::parseSourceString(text, &block, mlir::ParserConfig(&context))));
  if (block.empty())
    return {};
  EXPECT_EQ(textOf(&block.front()), text);
  rows::Program again = rows::fromOps(llvm::cast<rows::ProgramOp>(block.front()));
  // Objects that nothing distinguishes may have another order: then the text settles.
  const mlir::OwningOpRef<rows::ProgramOp> second = rows::toOps(context, again);
  EXPECT_EQ(textOf(*second), text);
  return again;
}

std::vector<plan::Instructions> planned(const rows::Program &program) {
  plan::Plan plan;
  std::vector<Form> forms{program};
  if (!planFastest(forms, {.work = 10'000}, plan).empty())
    return {};
  return plan.lists;
}

TEST(RowsText, RandomLoops) {
  unsigned compared = 0;
  for (uint64_t seed = 0; seed < 24; ++seed) {
    SCOPED_TRACE(seed);
    const rows::Program program = loops::test::randomProgram("c2b8", seed);
    const rows::Program again = reread(program);
    if (seed >= 8)
      continue; // planning takes most of the time
    const auto lists = planned(program);
    EXPECT_EQ(planned(again), lists);
    compared += lists.empty() ? 0 : 1;
  }
  EXPECT_GE(compared, 4U);
}

TEST(RowsText, StraightLines) {
  for (const char *target : {"c2b8", "c3b64"}) {
    const rows::Program program =
        rows::straightLine(plan::test::perceptron(target, {3, 9, 7, 2}, 5));
    const auto lists = planned(program);
    EXPECT_FALSE(lists.empty());
    EXPECT_EQ(planned(reread(program)), lists);
  }
}

TEST(RowsText, TreesOfAForm) {
  rows::Program program = rows::straightLine(plan::test::perceptron("c2b8", {3, 2}, 5));
  EXPECT_EQ(reread(program).variant, "");
  program.variant = "trees of 2 rows per pass";
  EXPECT_EQ(reread(program).variant, "trees of 2 rows per pass");
  EXPECT_FALSE(planned(program).empty()); // though it is no other form's
}

TEST(RowsText, NumbersThatAreNotFinite) {
  rows::Program program = loops::test::denseNetwork("c2b8", 3, {1, 1}, 1);
  rows::Row &row = program.bodies[0].trip.rows.back();
  row.step.alu1 = isa::Alu::Add;
  row.step.rhs1 = isa::Rhs1::Imm;
  row.step.imm1 = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> bias(program.geometry.lanes, -0.0F);
  bias[0] = std::numeric_limits<float>::infinity();
  row.bias = bias;
  const rows::Program again = reread(program);
  const rows::Row &same = again.bodies[0].trip.rows.back();
  EXPECT_EQ(same.step, row.step);
  EXPECT_EQ(same.bias[0], row.bias[0]);
  EXPECT_TRUE(std::signbit(same.bias[1]));
}

} // namespace
} // namespace sluice::conversion
