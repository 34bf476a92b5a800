// Random graphs of selections: the reference evaluator against functions of coordinates that are
// composed beside it, and the rewrites of views, alone and together.
#include <gtest/gtest.h>

#include "compiler/dialect/sluice/interpret.h"
#include "compiler/transforms/passes.h"
#include "mlir/Pass/PassManager.h"
#include "tests/support/environment.h"
#include "tests/unit/compiler/transforms/random_selections.h"

namespace sluice::ir {
namespace {

using random_selections::Graph;

class Selections : public ::testing::Test {
protected:
  Selections() {
    context.loadDialect<SluiceDialect, mlir::func::FuncDialect, mlir::arith::ArithDialect>();
    registerSluicePasses();
  }
  void add(mlir::PassManager &passes, const std::string &options) {
    ASSERT_TRUE(mlir::succeeded(
        mlir::parsePassPipeline("func.func(sluice-simplify-views" + options + ")", passes)));
  }
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  const uint64_t graphs = sluice::fixtures::fromEnvironment("SLUICE_SELECTION_GRAPHS", 2000);
};

TEST_F(Selections, AreWhatTheirCoordinatesSay) {
  for (uint64_t seed = 0; seed < graphs; ++seed) {
    Graph graph(context, seed);
    ASSERT_EQ(interpret(graph.function(), graph.arguments).front(), graph.expected)
        << "seed " << seed << "\n"
        << graph.text();
  }
}

TEST_F(Selections, RewritesTogetherKeepValuesAndReachAFixedPoint) {
  mlir::PassManager passes(&context);
  add(passes, "");
  size_t before = 0, after = 0;
  for (uint64_t seed = 0; seed < graphs; ++seed) {
    Graph graph(context, seed);
    before += graph.operations();
    ASSERT_TRUE(mlir::succeeded(passes.run(*graph.module)));
    after += graph.operations();
    const std::string once = graph.text();
    ASSERT_EQ(interpret(graph.function(), graph.arguments).front(), graph.expected)
        << "seed " << seed << "\n"
        << once;
    ASSERT_TRUE(mlir::succeeded(passes.run(*graph.module)));
    ASSERT_EQ(graph.text(), once) << "seed " << seed;
  }
  EXPECT_LT(after, before);
}

TEST_F(Selections, EachRewriteAloneKeepsValues) {
  const std::vector<std::string> labels = viewRewrites(context);
  EXPECT_GE(labels.size(), 6U);
  for (const std::string &label : labels) {
    mlir::PassManager none(&context), passes(&context);
    add(none, "{only=none}"); // folders, and what nobody reads is gone
    add(passes, "{only=" + label + "}");
    bool applied = false;
    for (uint64_t seed = 0; seed < graphs / 3; ++seed) {
      Graph graph(context, seed);
      ASSERT_TRUE(mlir::succeeded(none.run(*graph.module)));
      const std::string folded = graph.text();
      ASSERT_TRUE(mlir::succeeded(passes.run(*graph.module)));
      applied |= graph.text() != folded;
      ASSERT_EQ(interpret(graph.function(), graph.arguments).front(), graph.expected)
          << label << ", seed " << seed;
    }
    EXPECT_TRUE(applied) << label;
  }
}

} // namespace
} // namespace sluice::ir
