#include "compiler/layout/data_dimension.h"

#include <numeric>

#include "compiler/dialect/sluice/node.h"
#include "compiler/layout/fixes.h"
#include "compiler/layout/rewrite.h"
#include "compiler/layout/system.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace sluice::layout {
namespace {

/// Revisions spent on making one chain minimal.
constexpr uint64_t kChainBudget = 5'000'000;

/// Steps of a chain that a person can follow.
constexpr size_t kMaxChain = 100;

/// Returns the operand whose reason explains the result of a pointwise operation inside of a node,
/// such as the product of a Gemm before its bias; null if an operand comes from another node.
Value operandInside(Operation *op, const DataDimensions &result) {
  Value inside;
  for (const Value operand : op->getOperands()) {
    if (!result.dims.contains(operand)) // a constant
      continue;
    Operation *const from = operand.getDefiningOp();
    if (!from || ir::nodeOf(from->getLoc()).index < 0 ||
        ir::nodeOf(from->getLoc()).index != ir::nodeOf(op->getLoc()).index)
      return nullptr;
    if (!inside)
      inside = operand;
  }
  return inside;
}

void record(const LayoutSystem &layout, const std::vector<RelationId> &active,
            const RelationSystem::Solution &solution, DataDimensions &result) {
  std::vector<Domain> chosen;
  for (int8_t value : solution.values)
    chosen.push_back(Domain{1} << value);
  const auto forced = layout.system.propagate(active);
  for (auto [variable, value] : llvm::enumerate(layout.values)) {
    const bool settled = layout.dim(value, *forced).has_value();
    result.dims[value] = {solution.values[variable],
                          settled ? "the only data dimension that its uses allow"
                                  : "chosen for the lowest cost; ties take the innermost axis"};
  }
  for (const Step &step : layout.steps) {
    std::string &why = result.dims[step.value].why;
    if (step.kind == Step::Kind::Operation) {
      const ir::LayoutTuple *const tuple = layout.tuple(step, chosen);
      const Value inside = tuple->rule == "DD-PW" ? operandInside(step.op, result) : nullptr;
      why = inside ? result.dims[inside].why : tuple->why.str();
      if (tuple->writes > 0)
        result.dynamic.push_back(ir::nodeOf(step.op->getLoc()));
    } else if (step.kind == Step::Kind::Pin)
      why = step.origin();
  }
  result.cost = solution.cost;
  result.optimal = solution.optimal;
}

/// Finds rewrites that resolve all conflicts.
bool rewrite(const LayoutSystem &layout, const std::vector<Conflict> &conflicts,
             const DataDimensionOptions &options, DataDimensions &result) {
  std::vector<RelationId> all(layout.steps.size()), chains;
  std::iota(all.begin(), all.end(), 0);
  for (const Conflict &conflict : conflicts)
    llvm::append_range(chains, conflict.chain);
  auto rewrites = findRewrites(layout, all, chains, options.rewrites, options.budget);
  if (!rewrites)
    return false;
  result.rewrites = std::move(*rewrites);
  for (const Step &step : layout.steps)
    if (step.kind == Step::Kind::Pin && !step.name.empty())
      result.pinned.emplace_back(step.name, step.value);
  return true;
}

/// Whether rewrites resolve a conflict, if nothing else is blamed.
bool isRewritable(const LayoutSystem &layout, llvm::ArrayRef<RelationId> others,
                  const Conflict &conflict, const DataDimensionOptions &options) {
  std::vector<RelationId> active(others.begin(), others.end());
  active.insert(llvm::upper_bound(active, conflict.blamed()), conflict.blamed());
  return findRewrites(layout, active, conflict.chain, options.rewrites, options.budget).has_value();
}

/// Leaves out the conflicts that rewrites resolve, one by one, if others are left.
void dropRewritable(const LayoutSystem &layout, llvm::ArrayRef<RelationId> others,
                    const DataDimensionOptions &options, std::vector<Conflict> &conflicts) {
  std::vector<Conflict> left;
  llvm::copy_if(conflicts, std::back_inserter(left), [&](const Conflict &conflict) {
    return !isRewritable(layout, others, conflict, options);
  });
  if (!left.empty())
    conflicts = std::move(left);
}

/// What a search for conflicts finds.
struct Found {
  std::vector<Conflict> conflicts;
  std::vector<RelationId> active;    ///< all relations but those that are blamed
  RelationSystem::Solution solution; ///< of the active ones
};

/// Finds conflicts that do not depend on each other. Where the search gives up, that is a problem.
Found findConflicts(const LayoutSystem &layout, FunctionOpInterface function,
                    const DataDimensionOptions &options, DataDimensions &result) {
  Found found;
  auto &[conflicts, active, solution] = found;
  active.resize(layout.steps.size());
  std::iota(active.begin(), active.end(), 0);
  while (true) {
    solution = layout.system.solve(active, options.budget);
    if (solution.status == RelationSystem::Status::GaveUp)
      report(result, "E0310",
             llvm::formatv(
                 "no data dimensions found in {0} search steps; pin more tensors with --data-dim",
                 options.budget),
             function.getLoc());
    if (solution.status != RelationSystem::Status::Unsatisfiable)
      return found;
    // Blame the last step and go on without it: the conflicts that are left do
    // not depend on this one.
    std::vector<RelationId> reason = solution.reason;
    llvm::erase_if(reason, [&](RelationId id) { // allows all, only costs
      return layout.steps[id].kind == Step::Kind::Input;
    });
    conflicts.push_back({layout.system.minimise(reason, kChainBudget)});
    if (conflicts.back().chain.size() > kMaxChain) {
      report(result, "E0310",
             llvm::formatv("{0} operations have conflicting data dimensions, too many to list "
                           "(limit {1}); pin tensors with --data-dim",
                           conflicts.back().chain.size(), kMaxChain),
             function.getLoc());
      conflicts.pop_back();
      return found;
    }
    llvm::erase(active, conflicts.back().blamed());
  }
}

/// The products in conflict that no rewrite helps.
llvm::DenseSet<Operation *> productsBeyondRewrites(FunctionOpInterface function,
                                                   DataDimensionOptions options) {
  options.allowDynamicWeights = false;
  DataDimensions ignored;
  const LayoutSystem layout(function, options, ignored);
  Found found = findConflicts(layout, function, options, ignored);
  llvm::DenseSet<Operation *> products;
  for (const Conflict &conflict : found.conflicts)
    if (Operation *op = layout.steps[conflict.blamed()].op;
        op && !isRewritable(layout, found.active, conflict, options))
      products.insert(op);
  return products;
}

} // namespace

DataDimensions inferDataDimensions(FunctionOpInterface function, DataDimensionOptions options) {
  if (options.rewriteFirst && options.dynamicProducts.empty())
    options.dynamicProducts = productsBeyondRewrites(function, options);
  DataDimensions result;
  result.dynamicProducts = options.dynamicProducts;
  const LayoutSystem layout(function, options, result);
  auto [conflicts, active, solution] = findConflicts(layout, function, options, result);
  if (conflicts.empty() && result.problems.empty())
    record(layout, active, solution, result);

  if (!conflicts.empty() && result.problems.empty()) {
    if (rewrite(layout, conflicts, options, result))
      return result;
    dropRewritable(layout, active, options, conflicts);
  }

  FixFinder fixes(layout, conflicts, result.problems.empty(), function, options);
  for (const Conflict &conflict : conflicts) {
    Problem problem = describe(layout, conflict, active);
    if (options.findFixes)
      fixes.addTo(problem, conflict);
    report(result, std::move(problem), locationOf(layout, conflict));
  }
  return result;
}

} // namespace sluice::layout
