#include "compiler/layout/fixes.h"

#include <limits>
#include <numeric>

#include "compiler/dialect/sluice/selection.h"
#include "compiler/layout/changed_copy.h"
#include "compiler/layout/rewrite.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace sluice::layout {
namespace {

/// How many fixes a problem offers, flags that rewrite aside.
constexpr size_t kFixes = 2;

/// Revisions spent on verifying all fixes.
constexpr uint64_t kFixBudget = 2'000'000;

constexpr RepairFlags kDynamic{.dynamicWeights = true, .rewriteLayout = false},
    kRewrite{.dynamicWeights = false, .rewriteLayout = true},
    kBoth{.dynamicWeights = true, .rewriteLayout = true};

/// Changes a copy; false if it cannot be changed by itself.
using Edit = std::function<bool(ChangedCopy &)>;

/// The graph inputs that a value is computed from.
llvm::DenseSet<Value> inputsOf(Value value) {
  llvm::DenseSet<Value> inputs;
  llvm::DenseSet<Value> seen;
  llvm::SmallVector<Value> left{value};
  while (!left.empty()) {
    const Value next = left.pop_back_val();
    if (!seen.insert(next).second)
      continue;
    if (llvm::isa<BlockArgument>(next))
      inputs.insert(next);
    else
      llvm::append_range(left, next.getDefiningOp()->getOperands());
  }
  return inputs;
}

/// A constant whose elements differ, as those of weights do.
Value someConstant(OpBuilder &builder, Location location, Value like) {
  const auto shape = ir::shapeOf(like);
  const auto type = RankedTensorType::get(shape, builder.getF32Type());
  llvm::SmallVector<float> elements;
  for (int64_t i = 0; i < type.getNumElements(); ++i)
    elements.push_back(static_cast<float>((i * 37) % 101 + 1) / 128);
  return builder.create<ir::ConstantOp>(
      location, DenseElementsAttr::get(type, llvm::ArrayRef<float>(elements)));
}

std::string quoted(Value value) {
  const std::string name = tensorName(value);
  return name.empty() ? "" : " '" + name + "'";
}

/// The relation of a step whose operand `index` is another tensor: any data dimension
/// of the present one will do.
ir::LayoutRelation detached(const Step &step, const ir::LayoutRelation &from, size_t index) {
  ir::LayoutRelation relation;
  const auto rank = static_cast<int8_t>(step.query.operands[index].size());
  for (const ir::LayoutTuple &tuple : from)
    for (int8_t dim = 0; dim < rank; ++dim) {
      relation.push_back(tuple);
      relation.back().dims[index] = dim;
    }
  return relation;
}

/// Sorts fixes: those that are verified first, of those the ones with the fewest cycles.
std::vector<Fix> sorted(std::vector<Fix> fixes) {
  const auto isBetter = [](const Fix &left, const Fix &right) {
    constexpr uint64_t kUnknown = std::numeric_limits<uint64_t>::max();
    return std::pair(!left.verified, left.cycles.value_or(kUnknown)) <
           std::pair(!right.verified, right.cycles.value_or(kUnknown));
  };
  std::vector<Fix> result;
  for (Fix &fix : fixes)
    result.insert(llvm::upper_bound(result, fix, isBetter), std::move(fix));
  for (Fix &fix : result)
    if (fix.cycles)
      fix.extraCycles = *fix.cycles - *result.front().cycles;
  return result;
}

} // namespace

/// Tries changes for one conflict, offers those that work, until there are enough.
class FixSearch {
public:
  FixSearch(FixFinder &finder, const Conflict &conflict, Problem &problem)
      : finder(finder), layout(finder.layout), conflict(conflict), problem(problem),
        blamed(layout.steps[conflict.blamed()]), active(finder.others) {
    active.insert(llvm::upper_bound(active, conflict.blamed()), conflict.blamed());
  }

  void run() {
    // Pins first: dropping one changes nothing in the model.
    for (RelationId id : llvm::reverse(conflict.chain))
      if (layout.steps[id].kind == Step::Kind::Pin)
        unpin(id);
    std::optional<Flags> dynamic = dynamicWeights();
    if (dynamic && dynamic->model && !enough())
      offer(*dynamic);
    for (RelationId id : llvm::reverse(conflict.chain))
      changes(id);
    if (blamed.kind == Step::Kind::Operation) {
      constants();
      // Always possible where the rule allows anything at all.
      if (problem.fixes.empty())
        for (size_t i = 0; i < blamed.query.operands.size(); ++i)
          detach(i);
    }
    rewriteLayout(dynamic);
    // Behind the conflict may be another problem: a step on the way is better than nothing.
    if (!failed.empty() &&
        llvm::none_of(problem.fixes, [](const Fix &fix) { return fix.verified; })) {
      failed.resize(std::min(failed.size(), kFixes));
      problem.fixes.insert(problem.fixes.begin(), failed.begin(), failed.end());
      problem.fixes.resize(std::min(problem.fixes.size(), kFixes));
    }
    problem.fixes = sorted(std::move(problem.fixes));
  }

private:
  /// A solution with a change: of all the function, or of this conflict alone.
  struct Solved {
    bool model = false;
    RelationSystem::Solution solution;
  };

  /// Flags that help.
  struct Flags {
    bool model = false; ///< every conflict
    RepairFlags flags;
    std::string text;
    std::optional<uint64_t> cycles = std::nullopt; ///< if the model with them was compiled
  };

  [[nodiscard]] bool enough() const { return problem.fixes.size() >= kFixes; }
  [[nodiscard]] bool affordable() const { return finder.budget > active.size(); }
  /// For a copy of the function, or for its relations made anew.
  void spendOnModel() { finder.budget -= std::min<uint64_t>(finder.budget, 8 * finder.all.size()); }
  void spend() { finder.budget -= std::min<uint64_t>(finder.budget, 2 * active.size()); }

  /// The relations of the whole function first, where there are other conflicts.
  [[nodiscard]] llvm::SmallVector<std::pair<bool, llvm::ArrayRef<RelationId>>, 2> scopes() const {
    if (!finder.onlyConflicts)
      return {{false, active}};
    if (finder.conflicts.size() == 1)
      return {{true, finder.all}};
    return {{true, finder.all}, {false, active}};
  }

  std::optional<Solved> solve(const RelationSystem &system) {
    for (const auto &[model, relations] : scopes()) {
      spend();
      auto solution = system.solve(relations, kSearch);
      if (solution.status == RelationSystem::Status::Solved)
        return Solved{model, std::move(solution)};
    }
    return std::nullopt;
  }

  /// Offers a change of the whole function that has a layout. Without a trial, finding out whether
  /// it compiles takes too long.
  void offer(Fix fix, const std::optional<Trial> &trial) {
    if (trial && !trial->compiles) {
      failed.push_back(std::move(fix));
      return;
    }
    fix.verified = trial.has_value();
    fix.cycles = trial ? trial->cycles : std::nullopt;
    fix.unmeasured = !fix.cycles;
    problem.fixes.push_back(std::move(fix));
  }

  /// Offers a copy of the function that has a layout.
  void offer(Fix fix, const ChangedCopy &copy, bool model) {
    if (model && finder.options.tryCopy)
      offer(std::move(fix), finder.options.tryCopy(copy.function, copy.options));
    else
      problem.fixes.push_back(std::move(fix));
  }

  /// Offers an edit of the function that has a layout.
  void offer(std::string text, const Edit &edit, bool model) {
    spendOnModel();
    ChangedCopy copy(finder.function, finder.options);
    Fix fix{std::move(text), std::nullopt, false, std::nullopt};
    const bool edited = edit(copy); // if not, more has to change than this
    offer(std::move(fix), copy, model && edited);
  }

  /// Offers a change of one relation, if it works.
  void change(RelationId id, std::string text, const ir::LayoutRelation &relation,
              const Edit &edit) {
    if (enough() || !affordable())
      return;
    RelationSystem changed = layout.system;
    changed.replaceChoices(id, LayoutSystem::choices(relation));
    if (const auto solved = solve(changed))
      offer(std::move(text), edit, solved->model);
  }

  /// Offers the changes that an operation of the chain proposes.
  void changes(RelationId id) {
    const Step &step = layout.steps[id];
    if (step.kind != Step::Kind::Operation || enough())
      return;
    llvm::SmallVector<ir::LayoutFix, 0> fixes;
    llvm::cast<ir::LayoutInterface>(step.op).layoutFixes(step.query, fixes);
    for (const ir::LayoutFix &fix : fixes)
      change(id, fix.text, fix.relation,
             [&](ChangedCopy &copy) { return copy.apply(fix, step.op); });
  }

  /// Offers to leave out a pin, if that works.
  void unpin(RelationId id) {
    if (enough() || !affordable())
      return;
    const Step &pin = layout.steps[id];
    const auto rank = static_cast<int8_t>(ir::carriedShape(pin.value).size());
    llvm::SmallVector<Choice> any;
    for (int8_t axis = 0; axis < rank; ++axis)
      any.push_back({{axis}, 0});
    RelationSystem changed = layout.system;
    changed.replaceChoices(id, any);
    const auto solved = solve(changed);
    if (!solved)
      return;
    const int64_t axis = solved->solution.values[layout.variables.at(pin.value)];
    if (pin.name.empty()) {
      const auto shape = ir::carriedShape(pin.value);
      const auto repin = [&](ChangedCopy &copy) {
        ir::withDim(copy.mapping.lookup(pin.value), axis);
        return true;
      };
      return offer(llvm::formatv("pin the tensor to {0} in its type", ir::notation(shape, axis)),
                   repin, solved->model);
    }
    DataDimensionOptions options = finder.options;
    for (auto &[name, pinned] : options.pins)
      if (name == pin.name)
        pinned = axis;
    const std::string flag = llvm::formatv("--data-dim {0}={1}", pin.name, axis);
    offer({llvm::formatv("replace {0} with {1}, or remove it", pin.option(), flag), flag, false,
           std::nullopt},
          ChangedCopy(finder.function, options), solved->model);
  }

  /// Of a product: offers to make an input a constant, if one operand comes from that
  /// alone and the other does not.
  void constants() {
    for (unsigned side : {1U, 0U}) {
      llvm::SmallVector<ir::SummedAxis> summed;
      if (blamed.op->getNumOperands() != 2 || blamed.query.constant[0] || blamed.query.constant[1])
        return;
      auto rules = llvm::cast<ir::LayoutInterface>(blamed.op);
      rules.summedAxes(side, blamed.query.lanes, summed);
      const auto inputs = inputsOf(blamed.op->getOperand(side));
      if (summed.empty() || inputs.size() != 1 ||
          inputsOf(blamed.op->getOperand(1 - side)).contains(*inputs.begin()))
        continue;
      const auto input = llvm::cast<BlockArgument>(*inputs.begin());
      ir::LayoutQuery weights = blamed.query;
      weights.constant[side] = true;
      ir::LayoutRelation relation;
      rules.layouts(weights, relation);
      change(conflict.blamed(),
             llvm::formatv("make input{0} a constant, if its value is the same in every inference",
                           quoted(input)),
             detached(blamed, relation, side), [&](ChangedCopy &copy) {
               const unsigned number = input.getArgNumber();
               Value argument = copy.function.getArgument(number);
               OpBuilder builder(argument.getContext());
               builder.setInsertionPointToStart(&copy.function.getFunctionBody().front());
               argument.replaceAllUsesWith(someConstant(builder, argument.getLoc(), argument));
               for (auto &entry : copy.options.names)
                 if (entry.second == argument)
                   entry.second = Value();
               copy.function.eraseArgument(number);
               return true;
             });
    }
  }

  /// Offers to take operand `index` from outside the model.
  void detach(size_t index) {
    if (blamed.query.constant[index])
      return;
    const Value operand = blamed.op->getOperand(index);
    const char *const text =
        llvm::isa<BlockArgument>(operand)
            ? "read operand {0}{1} from a second graph input with the same values"
            : "make operand {0}{1} a separate graph input";
    change(conflict.blamed(), llvm::formatv(text, index, quoted(operand)),
           detached(blamed, blamed.relation, index), [&](ChangedCopy &copy) {
             const unsigned number = copy.function.getNumArguments();
             const auto type = ir::withShape(ir::typeOf(operand), ir::shapeOf(operand));
             copy.function.insertArgument(number, type, {}, UnknownLoc::get(type.getContext()));
             copy.at(blamed.op)->setOperand(index, copy.function.getArgument(number));
             return true;
           });
  }

  /// What --allow-dynamic-weights alone does.
  std::optional<Flags> dynamicWeights() {
    if (finder.options.allowDynamicWeights || !affordable())
      return std::nullopt;
    const LayoutSystem changed = withDynamicWeights();
    const auto solved = solve(changed.system);
    if (!solved)
      return std::nullopt;
    std::vector<Domain> chosen;
    for (int8_t value : solved->solution.values)
      chosen.push_back(Domain{1} << value);
    Flags flags{solved->model, kDynamic, llvm::formatv("compile with {0}", kDynamic.text())};
    for (RelationId id : solved->model ? finder.all : active) {
      const Step &step = changed.steps[id];
      const ir::LayoutTuple *tuple =
          step.kind == Step::Kind::Operation ? changed.tuple(step, chosen) : nullptr;
      // Say which form applies, if the flag changes the blamed operation.
      if (tuple && tuple->writes != 0 && id == conflict.blamed())
        flags.text += llvm::formatv(" ({0}): {1}", tuple->rule, tuple->why);
    }
    return flags;
  }

  /// Offers --rewrite-layout, and with --allow-dynamic-weights if neither resolves every conflict
  /// alone. What resolves this one alone is offered where nothing does better.
  void rewriteLayout(std::optional<Flags> &dynamic) {
    std::optional<Flags> alone;
    if (finder.options.offerRewrites && finder.options.rewrites != Rewrites::Any && affordable())
      alone = rewritten(layout, kRewrite);
    const bool resolved = alone && alone->model && offer(*alone);
    if (together(dynamic, alone) || resolved || (dynamic && dynamic->model))
      return;
    for (std::optional<Flags> *partial : {&dynamic, &alone})
      if (*partial && !(*partial)->model)
        offer(**partial);
  }

  /// Offers both flags, if only they resolve every conflict or they give a faster program than one.
  bool together(const std::optional<Flags> &dynamic, const std::optional<Flags> &alone) {
    const bool byDynamic = dynamic && dynamic->model, byRewrites = alone && alone->model;
    if (!finder.options.offerRewrites || finder.options.allowDynamicWeights ||
        finder.options.rewrites == Rewrites::Any || (byDynamic && byRewrites) || !affordable())
      return false;
    if (!byDynamic && !byRewrites) {
      std::optional<Flags> both = rewritten(withDynamicWeights(), kBoth);
      return both && (both->model || (!alone && !dynamic)) && offer(*both);
    }
    const auto trial = finder.options.tryFlags ? finder.options.tryFlags(kBoth) : std::nullopt;
    const std::optional<Flags> &one = byDynamic ? dynamic : alone;
    if (!trial || !trial->cycles || (one->cycles && *one->cycles <= *trial->cycles))
      return false;
    Flags both{true, kBoth, ""};
    return offer(both);
  }

  std::optional<Flags> rewritten(const LayoutSystem &changed, RepairFlags flags) {
    for (const auto &[model, relations] : scopes()) {
      spend();
      if (const auto found = findRewrites(
              changed, relations, model ? finder.chains : conflict.chain, Rewrites::Any, kSearch))
        return Flags{model, flags,
                     "compile with " + flags.text() + ": " + changesText(changesOf(*found))};
    }
    return std::nullopt;
  }

  /// Offers flags; false if with them the function does not compile.
  bool offer(Flags &flags) {
    Fix fix{flags.text, flags.flags.text(), false, std::nullopt};
    if (!flags.model || !finder.options.tryFlags) {
      problem.fixes.push_back(std::move(fix));
      return true;
    }
    const std::optional<Trial> trial = finder.options.tryFlags(flags.flags);
    if (trial && !trial->rewrites.empty())
      fix.text = "compile with " + flags.flags.text() + ": " + changesText(trial->rewrites);
    flags.cycles = trial ? trial->cycles : std::nullopt;
    const size_t before = problem.fixes.size();
    offer(std::move(fix), trial);
    return problem.fixes.size() > before;
  }

  [[nodiscard]] LayoutSystem withDynamicWeights() {
    spendOnModel();
    DataDimensionOptions options = finder.options;
    options.allowDynamicWeights = true;
    DataDimensions ignored;
    return LayoutSystem(finder.function, options, ignored);
  }

  FixFinder &finder;
  const LayoutSystem &layout;
  const Conflict &conflict;
  Problem &problem;
  const Step &blamed;
  std::vector<RelationId> active; ///< all but those blamed for other conflicts
  std::vector<Fix> failed;        ///< they have a layout, but do not compile
};

FixFinder::FixFinder(const LayoutSystem &layout, llvm::ArrayRef<Conflict> conflicts,
                     bool onlyConflicts, FunctionOpInterface function,
                     const DataDimensionOptions &options)
    : layout(layout), conflicts(conflicts), onlyConflicts(onlyConflicts), function(function),
      options(options), all(layout.steps.size()), budget(kFixBudget) {
  std::iota(all.begin(), all.end(), 0);
  others = all;
  for (const Conflict &conflict : conflicts) {
    llvm::erase(others, conflict.blamed());
    llvm::append_range(chains, conflict.chain);
  }
}

void FixFinder::addTo(Problem &problem, const Conflict &conflict) {
  FixSearch(*this, conflict, problem).run();
}

} // namespace sluice::layout
