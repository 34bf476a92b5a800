#include "compiler/layout/data_dimension.h"

#include <numeric>

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
    if (step.kind == Step::Kind::Operation)
      why = layout.tuple(step, chosen)->why.str();
    else if (step.kind == Step::Kind::Pin)
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
  result.rewrites = std::move(rewrites->list);
  for (const Step &step : layout.steps)
    if (step.kind == Step::Kind::Pin && !step.name.empty())
      result.pinned.emplace_back(step.name, step.value);
  return true;
}

/// Leaves out the conflicts that rewrites resolve, one by one, if others are left.
void dropRewritable(const LayoutSystem &layout, llvm::ArrayRef<RelationId> others,
                    const DataDimensionOptions &options, std::vector<Conflict> &conflicts) {
  std::vector<Conflict> left;
  for (const Conflict &conflict : conflicts) {
    std::vector<RelationId> active(others.begin(), others.end());
    active.insert(llvm::upper_bound(active, conflict.blamed()), conflict.blamed());
    if (!findRewrites(layout, active, conflict.chain, options.rewrites, options.budget))
      left.push_back(conflict);
  }
  if (!left.empty())
    conflicts = std::move(left);
}

} // namespace

DataDimensions inferDataDimensions(FunctionOpInterface function,
                                   const DataDimensionOptions &options) {
  DataDimensions result;
  const LayoutSystem layout(function, options, result);
  std::vector<RelationId> active(layout.steps.size());
  std::iota(active.begin(), active.end(), 0);

  std::vector<Conflict> conflicts;
  while (true) {
    const RelationSystem::Solution solution = layout.system.solve(active, options.budget);
    if (solution.status == RelationSystem::Status::GaveUp) {
      report(result, "E0310",
             llvm::formatv(
                 "no data dimensions found in {0} search steps; pin more tensors with --data-dim",
                 options.budget),
             function.getLoc());
      break;
    }
    if (solution.status == RelationSystem::Status::Solved) {
      if (conflicts.empty() && result.problems.empty())
        record(layout, active, solution, result);
      break;
    }
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
      break;
    }
    llvm::erase(active, conflicts.back().blamed());
  }

  if (!conflicts.empty() && result.problems.empty()) {
    if (rewrite(layout, conflicts, options, result))
      return result;
    dropRewritable(layout, active, options, conflicts);
  }

  FixFinder fixes(layout, conflicts, result.problems.empty(), function, options);
  for (const Conflict &conflict : conflicts) {
    Problem problem = describe(layout, conflict, active);
    fixes.addTo(problem, conflict);
    report(result, std::move(problem), locationOf(layout, conflict));
  }
  return result;
}

} // namespace sluice::layout
