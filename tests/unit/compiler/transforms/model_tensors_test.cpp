// What has the name of a tensor of the model is that tensor, whatever the rewrites have done.
#include <gtest/gtest.h>

#include "compiler/dialect/sluice/interpret.h"
#include "compiler/dialect/sluice/model_tensor.h"
#include "compiler/transforms/passes.h"
#include "mlir/Pass/PassManager.h"
#include "tests/support/environment.h"
#include "tests/unit/compiler/transforms/random_selections.h"

namespace sluice::ir {
namespace {

using random_selections::Graph;

class ModelTensors : public ::testing::Test {
protected:
  ModelTensors() {
    context.loadDialect<SluiceDialect, mlir::func::FuncDialect, mlir::arith::ArithDialect>();
    registerSluicePasses();
  }

  /// Makes everything that has a name a result of the function too.
  static std::vector<std::string> returnNamed(mlir::func::FuncOp function) {
    std::vector<std::string> names;
    mlir::Operation *end = function.getBody().front().getTerminator();
    llvm::SmallVector<mlir::Value> results(end->getOperands());
    for (mlir::Operation &op : function.getBody().front().without_terminator())
      for (const mlir::Value value : op.getResults())
        if (std::string name = modelTensor(value); !name.empty()) {
          names.push_back(std::move(name));
          results.push_back(value);
        }
    end->setOperands(results);
    function.setType(mlir::FunctionType::get(function.getContext(), function.getArgumentTypes(),
                                             mlir::ValueRange(results).getTypes()));
    return names;
  }

  struct Kept {
    size_t before = 0, after = 0;
  };

  /// Changes random graphs and compares what still has a name with what it should be.
  Kept check(llvm::function_ref<void(Graph &)> change) {
    Kept kept;
    for (uint64_t seed = 0; seed < graphs && !HasFailure(); ++seed) {
      Graph graph(context, seed);
      const std::string given = graph.text();
      change(graph);
      auto function = llvm::cast<mlir::func::FuncOp>(graph.function().getOperation());
      const std::vector<std::string> names = returnNamed(function);
      const reference::Tensors results = interpret(graph.function(), graph.arguments);
      kept.before += graph.names();
      kept.after += names.size();
      for (size_t i = 0; i < names.size(); ++i)
        EXPECT_EQ(results[i + 1], graph.tensor(names[i])) << names[i] << " of seed " << seed << "\n"
                                                          << given << graph.text();
    }
    return kept;
  }

  Kept afterPasses(const std::string &pipeline) {
    mlir::PassManager passes(&context);
    EXPECT_TRUE(mlir::succeeded(mlir::parsePassPipeline("func.func(" + pipeline + ")", passes)));
    return check(
        [&](Graph &graph) { ASSERT_TRUE(mlir::succeeded(passes.run(*graph.module))) << pipeline; });
  }

  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  const uint64_t graphs = sluice::fixtures::fromEnvironment("SLUICE_SELECTION_GRAPHS", 2000) / 4;
};

TEST_F(ModelTensors, AreThemselvesWhereNothingIsDone) {
  const Kept kept = check([](Graph &) {});
  EXPECT_EQ(kept.after, kept.before);
}

TEST_F(ModelTensors, ThatARewriteReplacesNameWhatStandsForThem) {
  for (const std::string &label : viewRewrites(context))
    afterPasses("sluice-simplify-views{only=" + label + "}");
}

TEST_F(ModelTensors, KeepTheirNamesInEveryPass) {
  for (const char *pass :
       {"sluice-expand-reductions", "sluice-centre-variances", "sluice-fold-constants",
        "sluice-slices-before-products", "sluice-fuse-maps", "sluice-maps-before-views",
        "sluice-hoist-scalars", "sluice-remove-dead-code"})
    afterPasses(pass);
}

TEST_F(ModelTensors, KeepTheirNamesInAllPassesTogether) {
  const Kept kept = afterPasses(
      "sluice-expand-reductions,sluice-centre-variances,sluice-simplify-views,sluice-fold-"
      "constants,"
      "sluice-slices-before-products,sluice-fuse-maps,sluice-maps-before-views,sluice-fuse-maps,"
      "sluice-hoist-scalars,sluice-fuse-maps,sluice-fold-constants,sluice-remove-dead-code");
  // What nobody reads is gone, and a merged operation has the name of the last one.
  EXPECT_GT(kept.after, kept.before / 4);
}

} // namespace
} // namespace sluice::ir
