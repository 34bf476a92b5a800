// Data dimensions of random graphs against enumeration of all assignments.
#include <functional>
#include <numeric>

#include <gtest/gtest.h>

#include "compiler/dialect/sluice/dialect.h"
#include "compiler/dialect/sluice/tensors.h"
#include "compiler/layout/system.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "random_graph.h"

namespace sluice::layout {
namespace {

using mlir::Value;

#if __has_feature(address_sanitizer)
constexpr unsigned kGraphs = 1000;
#else
constexpr unsigned kGraphs = 20'000;
#endif

/// The least cost over all assignments that satisfy every step of `active`, by
/// trying all; nothing if there is none. The tuples come from the operations.
std::optional<int64_t> enumerate(const LayoutSystem &layout, llvm::ArrayRef<RelationId> active) {
  std::vector<std::vector<RelationId>> complete(layout.values.size() + 1);
  for (RelationId id : active) {
    VariableId last = 0;
    for (VariableId variable : layout.system.variablesOf(id))
      last = std::max(last, variable);
    complete[last].push_back(id);
  }
  std::vector<int8_t> values(layout.values.size(), -1);
  auto dimOf = [&](Value value) {
    auto found = layout.variables.find(value);
    return found == layout.variables.end() ? ir::kNoDim : values[found->second];
  };
  auto costOf = [&](const Step &step) -> std::optional<int64_t> {
    if (step.kind == Step::Kind::Pin)
      return dimOf(step.value) == step.axis ? std::optional<int64_t>(0) : std::nullopt;
    if (step.kind == Step::Kind::Input) {
      ir::LayoutQuery query;
      return query.rows(ir::carriedShape(step.value), dimOf(step.value));
    }
    std::optional<int64_t> least;
    for (const ir::LayoutTuple &tuple : step.relation) {
      bool fits = tuple.result() == dimOf(step.value);
      for (auto [operand, dim] : llvm::zip_first(step.op->getOperands(), tuple.dims))
        fits &= dim == dimOf(operand);
      if (fits && (!least || tuple.cost < *least))
        least = tuple.cost;
    }
    return least;
  };
  std::optional<int64_t> best;
  std::function<void(size_t, int64_t)> assign = [&](size_t variable, int64_t cost) {
    if (variable == values.size()) {
      if (!best || cost < *best)
        best = cost;
      return;
    }
    const auto rank = ir::carriedShape(layout.values[variable]).size();
    for (size_t dim = 0; dim < rank; ++dim) {
      values[variable] = static_cast<int8_t>(dim);
      int64_t total = cost;
      bool fits = true;
      for (RelationId id : complete[variable]) {
        auto step = costOf(layout.steps[id]);
        fits &= step.has_value();
        total += step.value_or(0);
      }
      if (fits)
        assign(variable + 1, total);
    }
  };
  assign(0, 0);
  return best;
}

/// The chain has no solution, and has one without any of its steps.
void checkReason(const LayoutSystem &layout, const std::vector<RelationId> &all,
                 const Problem &problem, uint64_t budget) {
  const auto solution = layout.system.solve(all, budget);
  const auto chain = layout.system.minimise(solution.reason, 1u << 24);
  const auto assumed = llvm::count_if(
      problem.chain, [](const ChainStep &step) { return step.why.starts_with("assumed: "); });
  EXPECT_EQ(problem.chain.size(), chain.size() + assumed);
  EXPECT_FALSE(enumerate(layout, chain));
  for (RelationId dropped : chain) {
    std::vector<RelationId> rest = chain;
    std::erase(rest, dropped);
    EXPECT_TRUE(enumerate(layout, rest)) << dropped << " is not needed";
  }
}

TEST(DataDimensionProperty, AgreesWithEnumeration) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<ir::SluiceDialect, mlir::func::FuncDialect, mlir::arith::ArithDialect>();
  unsigned solved = 0, refused = 0, verified = 0;
  for (unsigned seed = 0; seed < kGraphs; ++seed) {
    SCOPED_TRACE(seed);
    RandomGraph graph(context, seed);
    auto function = graph.build(1 + static_cast<int>(seed % 3), 1 + static_cast<int>(seed / 3 % 8));
    DataDimensionOptions options;
    options.allowDynamicWeights = seed % 2 == 0;
    options.rewrites = Rewrites::None;
    options.offerRewrites = seed % 8 == 1;
    if (options.offerRewrites) {
      options.tryFlags = [&, plain = options](RepairFlags flags) {
        DataDimensionOptions changed = plain;
        changed.allowDynamicWeights |= flags.dynamicWeights;
        changed.rewrites = flags.rewriteLayout ? Rewrites::Any : Rewrites::None;
        const bool works = inferDataDimensions(function, changed).problems.empty();
        EXPECT_TRUE(works);
        return std::optional(Trial{.compiles = works, .cycles = std::nullopt, .rewrites = {}});
      };
      options.tryCopy = [&](mlir::FunctionOpInterface copy, const DataDimensionOptions &changed) {
        const bool works = inferDataDimensions(copy, changed).problems.empty();
        // What a relation allows the change itself does. To make an input a constant changes
        // other operations, too.
        EXPECT_TRUE(works || copy.getNumArguments() < function.getNumArguments());
        return std::optional(Trial{.compiles = works, .cycles = std::nullopt, .rewrites = {}});
      };
    }
    DataDimensions ignored;
    const LayoutSystem layout(function, options, ignored);
    std::vector<RelationId> all(layout.steps.size());
    std::iota(all.begin(), all.end(), 0);

    const auto expected = enumerate(layout, all);
    const DataDimensions found = inferDataDimensions(function, options);
    ASSERT_EQ(found.problems.empty(), expected.has_value());
    if (expected) {
      ++solved;
      ASSERT_EQ(found.cost, *expected);
      ASSERT_TRUE(found.optimal);
      ASSERT_EQ(found.dims.size(), layout.values.size());
      continue;
    }
    ++refused;
    checkReason(layout, all, found.problems.front(), options.budget);
    for (const Problem &problem : found.problems)
      for (const Fix &fix : problem.fixes) {
        EXPECT_TRUE(!fix.verified || options.tryCopy);
        verified += fix.verified;
      }
    ASSERT_FALSE(testing::Test::HasFailure());
  }
  std::printf("%u graphs: %u with a layout, %u refused\n", kGraphs, solved, refused);
  // The generator must exercise both.
  EXPECT_GT(solved, kGraphs / 8);
  EXPECT_GT(refused, kGraphs / 10);
  EXPECT_GT(verified, kGraphs / 40);
}

} // namespace
} // namespace sluice::layout
