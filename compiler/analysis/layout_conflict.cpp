#include "compiler/analysis/layout_conflict.h"

#include <bit>

#include "compiler/analysis/layout_rewrite.h"
#include "compiler/dialect/sluice/node.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace sluice::analysis {
namespace {

/// Facts of one conflict that its description needs.
class Explanation {
public:
  Explanation(const LayoutSystem &layout, const Conflict &conflict,
              llvm::ArrayRef<RelationId> others)
      : layout(layout), chain(conflict.chain), last(layout.steps[conflict.blamed()]) {
    // Without the blamed step the rest has a solution, and propagation shows
    // what it forces. What it leaves open may be known from the other steps.
    // A chain that could not be made minimal may force nothing.
    const std::vector<Domain> full = *layout.system.propagate({});
    forced = layout.system.propagate(llvm::ArrayRef(chain).drop_back()).value_or(full);
    domains = layout.system.propagate(others).value_or(full);
    for (auto [known, force] : llvm::zip(domains, forced))
      known = (known & force) != 0 ? known & force : force;
    llvm::DenseMap<VariableId, RelationId> users;
    for (RelationId id : chain)
      for (VariableId variable : layout.system.variablesOf(id))
        if (users.try_emplace(variable, id).first->second != id)
          shared.insert(variable);
  }

  Problem problem() const {
    Problem problem;
    if (NodeRef node = ir::nodeOf(last.value.getLoc()); node.index >= 0 || !node.source.empty())
      problem.node = node;
    if (last.kind == Step::Kind::Operation)
      refuse(problem);
    else
      refusePin(problem);
    for (RelationId id : llvm::ArrayRef(chain).drop_back())
      problem.chain.push_back(deduction(layout.steps[id]));
    problem.chain.push_back(demand());
    return problem;
  }

private:
  bool isShared(Value value) const {
    auto found = layout.variables.find(value);
    return found != layout.variables.end() && shared.contains(found->second);
  }

  void refuse(Problem &problem) const {
    const ir::LayoutRefusal refusal =
        llvm::cast<ir::LayoutInterface>(last.op).layoutRefusal(last.query);
    problem.code = refusal.code.str();
    problem.rule = refusal.rule.str();
    problem.message = refusal.message;
    for (auto [i, operand] : llvm::enumerate(last.op->getOperands())) {
      const std::string name = tensorName(operand);
      problem.notes.push_back(
          llvm::formatv("operand {0}{1}: {2} {3}", i, name.empty() ? "" : " '" + name + "'",
                        last.query.constant[i] ? "constant" : "activation",
                        last.query.constant[i] ? ir::notation(ir::shapeOf(operand), std::nullopt)
                                               : layout.notation(operand, domains)));
    }
    problem.notes.push_back(llvm::formatv("rule {0}: {1}", refusal.rule, refusal.formula));
  }

  void refusePin(Problem &problem) const {
    const std::string name = last.name.empty() ? tensorName(last.value) : last.name;
    problem.code = "E0308";
    problem.message = llvm::formatv("{0} is pinned to {1} but must be {2}",
                                    name.empty() ? "a tensor" : "tensor '" + name + "'",
                                    ir::notation(ir::carriedShape(last.value), last.axis),
                                    forms(last.value, domains[layout.variables.at(last.value)]));
  }

  /// "[a! b] or [a b!]".
  static std::string forms(Value value, Domain allowed) {
    std::vector<std::string> texts;
    for (Domain left = allowed; left != 0; left &= left - 1)
      texts.push_back(ir::notation(ir::carriedShape(value), std::countr_zero(left)));
    return llvm::join(texts, " or ");
  }

  ChainStep link(const Step &step, Value value, std::string why) const {
    ChainStep link;
    // A pin on a graph input has no node.
    if (step.op || !llvm::isa<BlockArgument>(step.value))
      link.node = ir::nodeOf(step.value.getLoc());
    link.tensor = tensorName(value);
    link.shape.assign(ir::shapeOf(value).begin(), ir::shapeOf(value).end());
    link.dataDim = layout.dim(value, domains);
    link.why = std::move(why);
    return link;
  }

  /// What a step forces, on the tensor that carries it on.
  ChainStep deduction(const Step &step) const {
    if (step.kind == Step::Kind::Pin)
      return link(step, step.value, step.origin());
    Value shown = step.value;
    if (!isShared(shown))
      for (Value operand : step.op->getOperands())
        if (isShared(operand))
          shown = operand;
    const ir::LayoutTuple *tuple = layout.tuple(step, domains);
    std::string why = tuple ? tuple->why.str() : "";
    if (shown == step.value)
      for (Value operand : step.op->getOperands())
        if (isShared(operand) && layout.dim(operand, domains)) {
          why = llvm::formatv("from {0}, {1}", layout.notation(operand, domains), why);
          break;
        }
    return link(step, shown, why);
  }

  /// What the blamed step would need of the tensor that reaches it.
  ChainStep demand() const {
    if (last.kind == Step::Kind::Pin)
      return link(last, last.value,
                  "needs " + ir::notation(ir::carriedShape(last.value), last.axis) + ", " +
                      last.origin());
    if (last.relation.empty())
      return link(last, last.value, "refused whatever the data dimensions");
    // The last tensor of the operation that would do if it were otherwise; if what
    // the other steps say of the rest leaves none, as far as the chain alone does.
    Value shown;
    Domain allowed = 0;
    llvm::SmallVector<Value> tensors(last.op->getOperands());
    tensors.push_back(last.value);
    for (const std::vector<Domain> *known : {&domains, &forced}) {
      if (allowed != 0)
        break;
      for (auto [i, value] : llvm::enumerate(tensors)) {
        const Domain dims = isShared(value) ? allowedFor(tensors, i, *known) : 0;
        if (dims != 0 || (isShared(value) && !shown)) {
          shown = value;
          allowed = dims;
        }
      }
    }
    if (allowed == 0)
      return link(last, shown ? shown : last.value, "no data dimension is allowed");
    return link(last, shown,
                layout.dim(shown, forced) ? "needs " + forms(shown, allowed)
                                          : "no choice fits every step");
  }

  /// Values of tensor `index` for which the operation has a tuple, given what
  /// is known of its other tensors.
  Domain allowedFor(llvm::ArrayRef<Value> tensors, size_t index,
                    llvm::ArrayRef<Domain> known) const {
    Domain allowed = 0;
    for (const ir::LayoutTuple &tuple : last.relation) {
      bool fits = true;
      for (size_t i = 0; i < tensors.size() && fits; ++i)
        if (i != index && tuple.dims[i] != ir::kNoDim)
          fits = (known[layout.variables.at(tensors[i])] >> tuple.dims[i]) & 1;
      if (fits && tuple.dims[index] != ir::kNoDim)
        allowed |= Domain{1} << tuple.dims[index];
    }
    return allowed;
  }

  const LayoutSystem &layout;
  llvm::ArrayRef<RelationId> chain;
  const Step &last;
  std::vector<Domain> forced;        ///< by the chain without its last step
  std::vector<Domain> domains;       ///< as forced, narrowed by the other steps
  llvm::DenseSet<VariableId> shared; ///< by several steps of the chain
};

/// How many fixes a problem offers.
constexpr size_t kFixes = 2;

/// Revisions spent on searching one component when a fix is verified.
constexpr uint64_t kSearch = 1u << 16;

/// Tries changes of the system, offers those that work, until there are enough.
class FixSearch {
public:
  FixSearch(const LayoutSystem &layout, llvm::ArrayRef<RelationId> active, uint64_t &budget,
            Problem &problem)
      : layout(layout), active(active), budget(budget), problem(problem) {}

  [[nodiscard]] bool enough() const { return problem.fixes.size() >= kFixes; }

  /// Offers a change of one relation, if it works.
  void change(RelationId id, const ir::LayoutFix &fix) {
    if (enough() || !affordable())
      return;
    RelationSystem changed = layout.system;
    changed.replaceChoices(id, LayoutSystem::choices(fix.relation));
    spend();
    if (changed.satisfiable(active, kSearch))
      offer(fix.text, std::nullopt);
  }

  /// Offers --allow-dynamic-weights, if that works.
  void allowDynamicWeights(FunctionOpInterface function, DataDimensionOptions options,
                           const Conflict &conflict) {
    if (options.allowDynamicWeights || enough() || !affordable())
      return;
    options.allowDynamicWeights = true;
    DataDimensions ignored;
    const LayoutSystem changed(function, options, ignored);
    spend();
    const auto solution = changed.system.solve(active, kSearch);
    if (solution.status != RelationSystem::Status::Solved)
      return;
    std::vector<Domain> chosen;
    for (int8_t value : solution.values)
      chosen.push_back(Domain{1} << value);
    std::string text = llvm::formatv("compile with {0}", kDynamic);
    int64_t cycles = 0;
    for (RelationId id : active) {
      const Step &step = changed.steps[id];
      const ir::LayoutTuple *tuple =
          step.kind == Step::Kind::Operation ? changed.tuple(step, chosen) : nullptr;
      if (!tuple || tuple->writes == 0)
        continue;
      cycles += writeCycles(*tuple);
      // Say which form applies, if the flag changes the blamed operation.
      if (id == conflict.blamed())
        text += llvm::formatv(" ({0}): {1}", tuple->rule, tuple->why);
    }
    offer(std::move(text), kDynamic, cycles);
  }

  /// Offers --rewrite-layout, if that works; or with --allow-dynamic-weights, if
  /// neither works alone.
  void rewriteLayout(FunctionOpInterface function, DataDimensionOptions options,
                     const Conflict &conflict) {
    const std::string rewrite = "--rewrite-layout";
    if (!options.offerRewrites || (!options.rewriteLayout && rewrites(layout, rewrite, conflict)))
      return;
    if (options.allowDynamicWeights || !affordable() ||
        llvm::any_of(problem.fixes, [](const Fix &fix) { return fix.flag == kDynamic; }))
      return;
    options.allowDynamicWeights = true;
    DataDimensions ignored;
    const LayoutSystem changed(function, options, ignored);
    spend();
    rewrites(changed, kDynamic + (" " + rewrite), conflict);
  }

  /// Offers to leave out a pin, if that works.
  void unpin(RelationId id) {
    if (enough() || !affordable())
      return;
    const Step &pin = layout.steps[id];
    std::vector<RelationId> rest;
    llvm::copy_if(active, std::back_inserter(rest), [&](RelationId r) { return r != id; });
    spend();
    const auto solution = layout.system.solve(rest, kSearch);
    if (solution.status != RelationSystem::Status::Solved)
      return;
    const int64_t axis = solution.values[layout.variables.at(pin.value)];
    if (pin.name.empty())
      return offer(llvm::formatv("pin the tensor to {0} in its type",
                                 ir::notation(ir::carriedShape(pin.value), axis)),
                   std::nullopt);
    const std::string flag = llvm::formatv("--data-dim {0}={1}", pin.name, axis);
    offer(llvm::formatv("replace {0} by {1}, or drop it", pin.option(), flag), flag);
  }

private:
  static constexpr const char *kDynamic = "--allow-dynamic-weights";

  /// Offers the flags that give `changed` and rewrite it, if that works.
  bool rewrites(const LayoutSystem &changed, const std::string &flags, const Conflict &conflict) {
    if (!affordable())
      return false;
    spend();
    const auto found = findRewrites(changed, active, conflict.chain, kSearch);
    if (!found)
      return false;
    int64_t cycles = &changed == &layout ? 0 : found->writeCycles;
    for (const LayoutRewrite &rewrite : found->list)
      cycles += rewrite.cycles;
    offer("compile with " + flags + ": " + rewritesText(found->list), flags, cycles);
    return true;
  }

  [[nodiscard]] bool affordable() const { return budget > active.size(); }
  void spend() { budget -= std::min<uint64_t>(budget, 2 * active.size()); }

  void offer(std::string text, std::optional<std::string> flag,
             std::optional<int64_t> cycles = std::nullopt) {
    problem.fixes.push_back({std::move(text), std::move(flag), true, cycles});
  }

  const LayoutSystem &layout;
  llvm::ArrayRef<RelationId> active;
  uint64_t &budget;
  Problem &problem;
};

/// The relation of a step whose operand `index` is replaced by a tensor of its
/// own: any data dimension of the present one will do.
ir::LayoutFix detach(const Step &step, size_t index) {
  const Value operand = step.op->getOperand(index);
  const std::string name = tensorName(operand);
  ir::LayoutFix fix;
  fix.text = llvm::formatv("give operand {0}{1} a data dimension that fits: make it a graph input "
                           "of its own, or compute it by a product whose replaced axis that is",
                           index, name.empty() ? "" : " '" + name + "'");
  const auto rank = static_cast<int8_t>(step.query.operands[index].size());
  for (const ir::LayoutTuple &tuple : step.relation)
    for (int8_t dim = 0; dim < rank; ++dim) {
      fix.relation.push_back(tuple);
      fix.relation.back().dims[index] = dim;
    }
  return fix;
}

} // namespace

Problem describe(const LayoutSystem &layout, const Conflict &conflict,
                 llvm::ArrayRef<RelationId> others) {
  return Explanation(layout, conflict, others).problem();
}

Location locationOf(const LayoutSystem &layout, const Conflict &conflict) {
  return layout.steps[conflict.blamed()].value.getLoc();
}

void addFixes(const LayoutSystem &layout, const Conflict &conflict,
              llvm::ArrayRef<RelationId> others, FunctionOpInterface function,
              const DataDimensionOptions &options, uint64_t &budget, Problem &problem) {
  std::vector<RelationId> active(others.begin(), others.end());
  active.insert(llvm::upper_bound(active, conflict.blamed()), conflict.blamed());
  FixSearch search(layout, active, budget, problem);

  // Pins first: dropping one changes nothing in the model.
  for (RelationId id : llvm::reverse(conflict.chain))
    if (layout.steps[id].kind == Step::Kind::Pin)
      search.unpin(id);
  search.allowDynamicWeights(function, options, conflict);
  for (RelationId id : llvm::reverse(conflict.chain)) {
    const Step &step = layout.steps[id];
    if (step.kind != Step::Kind::Operation || search.enough())
      continue;
    llvm::SmallVector<ir::LayoutFix, 0> fixes;
    llvm::cast<ir::LayoutInterface>(step.op).layoutFixes(step.query, fixes);
    for (const ir::LayoutFix &fix : fixes)
      search.change(id, fix);
  }
  // Always possible where the rule allows anything at all.
  const Step &blamed = layout.steps[conflict.blamed()];
  if (blamed.kind == Step::Kind::Operation && problem.fixes.empty())
    for (size_t i = 0; i < blamed.query.operands.size(); ++i)
      if (!blamed.query.constant[i])
        search.change(conflict.blamed(), detach(blamed, i));
  search.rewriteLayout(function, options, conflict);
}

} // namespace sluice::analysis
