#include "compiler/reduce/failure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::reduce {
namespace {

Problem layoutProblem(const std::string &message) {
  Problem problem;
  problem.code = "E0302";
  problem.rule = "DD-MM-CONST";
  problem.message = message;
  problem.node = NodeRef{3, "scores", "MatMul"};
  problem.chain = {{{1, "a", "Add"}, "t", {}, {}, ""}, {{3, "scores", "MatMul"}, "u", {}, {}, ""}};
  return problem;
}

TEST(Failure, NamesTheNodesOfAProblem) {
  const Failure failure = failureOf(layoutProblem("operand 0 is an activation"));
  EXPECT_EQ(failure.text(), "E0302 (DD-MM-CONST) at MatMul");
  EXPECT_EQ(failure.name(), "E0302");
  EXPECT_THAT(failure.nodes, testing::ElementsAre(3, 1));
}

TEST(Failure, IsTheSameWithOtherNamesAndNumbers) {
  const Failure one =
      failureOf(layoutProblem("operand 0 't1' has shape [4, 8], allowed: at most 2"));
  const Failure other =
      failureOf(layoutProblem("operand 1 'x y' has shape [1], allowed: at most 17"));
  EXPECT_TRUE(one.isLike(other));
}

TEST(Failure, IsAnotherWithOtherWords) {
  const Failure one = failureOf(layoutProblem("operand 0 is an activation"));
  EXPECT_FALSE(one.isLike(failureOf(layoutProblem("operand 0 is a constant"))));
}

TEST(Failure, IsAnotherWithAnotherCodeRuleOrOperator) {
  const Problem problem = layoutProblem("operand 0 is an activation");
  const Failure failure = failureOf(problem);
  Problem other = problem;
  other.code = "E0301";
  EXPECT_FALSE(failure.isLike(failureOf(other)));
  other = problem;
  other.rule = "DD-PW";
  EXPECT_FALSE(failure.isLike(failureOf(other)));
  other = problem;
  other.node->op = "Gemm";
  EXPECT_FALSE(failure.isLike(failureOf(other)));
}

TEST(Failure, TellsWrongValuesFromStalls) {
  Problem wrong;
  wrong.code = "E0498";
  wrong.reason = WrongProgram();
  wrong.message = "internal error: output 'y' is 2 at [1, 1], the model gives 2.2, allowed 0.01";
  Problem far = wrong;
  far.message = "internal error: output 'z' is inf at [0], the model gives -1e+30, allowed 3e+27";
  Problem stall = wrong;
  stall.message = "internal error: the program stalls: core 0 waits";
  EXPECT_EQ(failureOf(wrong).name(), "wrong");
  EXPECT_EQ(failureOf(wrong).text(), "wrong value");
  EXPECT_TRUE(failureOf(wrong).isLike(failureOf(far)));
  EXPECT_FALSE(failureOf(wrong).isLike(failureOf(stall)));
}

TEST(Failure, IsOfAKindByItsReason) {
  const auto kindOf = [](Reason reason) {
    Problem problem;
    problem.code = "E0302"; // says nothing here
    problem.reason = std::move(reason);
    return failureOf(problem).kind;
  };
  EXPECT_EQ(kindOf(NoLayout()), Failure::Kind::Error);
  EXPECT_EQ(kindOf(WrongOption()), Failure::Kind::Option);
  EXPECT_EQ(kindOf(InternalError()), Failure::Kind::Fault);
  EXPECT_EQ(kindOf(LacksHostMemory()), Failure::Kind::Fault);
  EXPECT_EQ(kindOf(EngineStops()), Failure::Kind::Engines);
  EXPECT_EQ(kindOf(EnginesDiffer()), Failure::Kind::Engines);
  EXPECT_EQ(kindOf(WrongProgram()), Failure::Kind::Wrong);
}

TEST(Failure, IsOfTheKindThatTheUserNames) {
  EXPECT_EQ(kindNamed("E0614"), Failure::Kind::Engines);
  EXPECT_EQ(kindNamed("E0498"), Failure::Kind::Wrong);
  EXPECT_EQ(kindNamed("wrong"), Failure::Kind::Wrong);
  EXPECT_EQ(kindNamed("E0302"), Failure::Kind::Error);
}

TEST(Failure, NamesSignalAndStage) {
  Failure crash;
  crash.kind = Failure::Kind::Crash;
  crash.signal = "SIGSEGV";
  EXPECT_EQ(crash.text(), "SIGSEGV");
  crash.stage = "planning";
  EXPECT_EQ(crash.text(), "SIGSEGV in stage planning");
  EXPECT_EQ(crash.name(), "crash");
  Failure timeout = crash;
  timeout.kind = Failure::Kind::Timeout;
  EXPECT_EQ(timeout.text(), "no end in stage planning");
  EXPECT_EQ(timeout.name(), "timeout");
  EXPECT_FALSE(crash.isLike(timeout));
  Failure later = crash;
  later.stage = "checking";
  EXPECT_FALSE(crash.isLike(later));
}

} // namespace
} // namespace sluice::reduce
