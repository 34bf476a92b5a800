// The core dialect's text is a faithful form of a program's instructions.
#include "compiler/target/core_program.h"

#include <random>

#include "mlir/IR/Builders.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/conversion/plan/plan.h"
#include "compiler/support/problem.h"
#include "runtime/format/program_file.h"
#include "runtime/format/targets.h"
#include "tests/support/rows/graphs.h"

namespace sluice::core {
namespace {

using testing::HasSubstr;

/// A planned program with all its instructions and its source map.
format::Program plannedProgram(const std::string &target) {
  plan::Plan plan;
  const Problems problems =
      plan::makePlan(plan::test::perceptron(target, {3, 9, 7, 2}, 5), plan::PlanOptions{}, plan);
  EXPECT_TRUE(problems.empty());
  format::Program program = plan.program;
  for (uint32_t list = 0; list < plan.lists.size(); ++list)
    for (const plan::PlannedInstruction &one : plan.lists[list]) {
      auto &words =
          list < program.cores.size() ? program.cores[list].instructions : program.hostInstructions;
      if (!one.nodes.empty())
        program.sourceMap.push_back({list, static_cast<uint32_t>(words.size()), one.nodes});
      words.push_back(*isa::encode(one.instruction));
    }
  return program;
}

/// The program without what the text carries.
format::Program stripped(format::Program program) {
  for (format::CoreImage &core : program.cores)
    core.instructions.clear();
  program.hostInstructions.clear();
  program.sourceMap.clear();
  return program;
}

class Targets : public testing::TestWithParam<const char *> {};

TEST_P(Targets, TextGivesTheSameBytes) {
  const format::Program program = plannedProgram(GetParam());
  const std::string text = disassembleText(program);
  EXPECT_THAT(text, HasSubstr("core.mm(n = ["));
  format::Program again = stripped(program);
  ASSERT_EQ(assembleText(text, again), std::nullopt);
  EXPECT_EQ(format::write(again), format::write(program));
  EXPECT_EQ(disassembleText(again), text);
}

INSTANTIATE_TEST_SUITE_P(All, Targets, testing::Values("c2b8", "c6b32", "c3b64"));

/// Every field of every instruction at random, within its width.
TEST(CoreProgram, EveryFieldSurvives) {
  std::mt19937_64 random(3);
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<CoreDialect>();
  mlir::OpBuilder builder(&context);
  for (unsigned round = 0; round < 200; ++round)
    for (const isa::InstructionInfo &info : isa::instructions()) {
      isa::Words words{};
      words[0] = static_cast<uint64_t>(info.opcode);
      for (const isa::FieldInfo &field : info.fields)
        for (unsigned i = 0; i < field.count; ++i) {
          int64_t value = static_cast<int64_t>(random() >> (64 - field.bits));
          if (field.isSigned && random() % 2 != 0)
            value -= int64_t{1} << field.bits;
          else if (field.isSigned)
            value >>= 1;
          if (!field.enumName.empty())
            value = static_cast<int64_t>(random() % 3);
          isa::setField(words, field, i, value);
        }
      if (!isa::decode(words))
        continue; // an enumeration with fewer values
      const mlir::OwningOpRef<mlir::Operation *> op(
          createInstruction(builder, builder.getUnknownLoc(), words, {}));
      EXPECT_EQ(encode(op.get()), words);
    }
}

TEST(CoreProgram, RefusesWhatIsNotAProgram) {
  format::Program program = plannedProgram("c2b8");
  EXPECT_EQ(assembleText("", program), "the text is not a core.program");
  EXPECT_THAT(*assembleText("core.program", program), HasSubstr("expected"));
  const std::string text = disassembleText(program);
  std::string changed = text;
  changed.replace(changed.find("core.restart"), 12, "core.loop(count = 3)");
  EXPECT_THAT(*assembleText(changed, program), HasSubstr("instruction"));
  format::Program other = program;
  other.geometry.localRows = 100;
  EXPECT_EQ(assembleText(text, other),
            "'core.program' op is for a different machine than the program");
  other = program;
  other.nodes.clear();
  EXPECT_THAT(*assembleText(text, other), HasSubstr("refers to node 0; the program has 0 nodes"));
}

} // namespace
} // namespace sluice::core
