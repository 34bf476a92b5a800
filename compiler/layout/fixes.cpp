#include "compiler/layout/fixes.h"

#include <numeric>

#include "compiler/dialect/sluice/operations.h"
#include "compiler/layout/rewrite.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace sluice::layout {
namespace {

/// How many fixes a problem offers, flags that rewrite aside.
constexpr size_t kFixes = 2;

/// Revisions spent on verifying all fixes.
constexpr uint64_t kFixBudget = 2'000'000;

constexpr const char *kDynamic = "--allow-dynamic-weights";
constexpr const char *kRewrite = "--rewrite-layout";

/// A copy of the function in a module of its own, with the options that go with it.
struct Copy {
  OwningOpRef<ModuleOp> module;
  IRMapping mapping; ///< from the function to its copy
  FunctionOpInterface function;
  DataDimensionOptions options;

  Copy(FunctionOpInterface original, const DataDimensionOptions &from)
      : module(ModuleOp::create(original.getLoc())), options(from) {
    Operation *copy = original->clone(mapping);
    module->push_back(copy);
    function = llvm::cast<FunctionOpInterface>(copy);
    for (auto &entry : options.names)
      entry.second = entry.second ? mapping.lookupOrNull(entry.second) : Value();
    options.compiles = nullptr;
    options.offerRewrites = false;
  }

  Operation *at(Operation *op) const { return mapping.lookup(op); }

  /// Makes a change at the copy of an operation. What is not used any more goes, so that
  /// its rule asks for nothing.
  bool apply(const ir::LayoutFix &fix, Operation *original) {
    Operation *op = at(original);
    llvm::SetVector<Operation *> before(op->user_begin(), op->user_end());
    before.insert(op);
    if (!fix.apply(op))
      return false;
    for (Operation *old : before) {
      if (old->getNumResults() == 0 || !old->use_empty())
        continue;
      for (auto &entry : options.names)
        if (entry.second && entry.second.getDefiningOp() == old)
          entry.second = Value();
      old->erase();
    }
    return true;
  }
};

/// Changes a copy; false if it cannot be changed by itself.
using Edit = std::function<bool(Copy &)>;

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
    const std::optional<Flags> dynamic = dynamicWeights();
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
    bool dynamic = false, rewrite = false;
    std::string text;
    int64_t cycles = 0;
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

  /// Whether the function compiles with these options; nothing if that is not known.
  [[nodiscard]] std::optional<bool> compiles(const Copy &copy) const {
    return finder.options.compiles ? finder.options.compiles(copy.function, copy.options)
                                   : std::nullopt;
  }

  /// Offers what has a layout, unless it does not compile.
  void offer(Fix fix, std::optional<bool> compiled) {
    if (compiled == false) {
      failed.push_back(std::move(fix));
      return;
    }
    fix.verified = compiled.has_value();
    problem.fixes.push_back(std::move(fix));
  }

  /// Offers an edit of the function that has a layout.
  void offer(std::string text, const Edit &edit, bool model) {
    spendOnModel();
    Copy copy(finder.function, finder.options);
    Fix fix{std::move(text), std::nullopt, false, std::nullopt};
    if (edit(copy))
      offer(std::move(fix), model ? compiles(copy) : std::nullopt);
    else
      problem.fixes.push_back(std::move(fix)); // more has to change than this
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
      change(id, fix.text, fix.relation, [&](Copy &copy) { return copy.apply(fix, step.op); });
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
      const auto repin = [&](Copy &copy) {
        const auto type = llvm::cast<RankedTensorType>(pin.value.getType());
        copy.mapping.lookup(pin.value).setType(
            RankedTensorType::get(type.getShape(), type.getElementType(),
                                  ir::DimAttr::get(type.getContext(), axis, shape)));
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
          solved->model ? compiles(Copy(finder.function, options)) : std::nullopt);
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
             detached(blamed, relation, side), [&](Copy &copy) {
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
           detached(blamed, blamed.relation, index), [&](Copy &copy) {
             const unsigned number = copy.function.getNumArguments();
             const auto type = llvm::cast<RankedTensorType>(operand.getType());
             copy.function.insertArgument(
                 number, RankedTensorType::get(type.getShape(), type.getElementType()), {},
                 UnknownLoc::get(type.getContext()));
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
    Flags flags{solved->model, true, false, llvm::formatv("compile with {0}", kDynamic), 0};
    for (RelationId id : solved->model ? finder.all : active) {
      const Step &step = changed.steps[id];
      const ir::LayoutTuple *tuple =
          step.kind == Step::Kind::Operation ? changed.tuple(step, chosen) : nullptr;
      if (!tuple || tuple->writes == 0)
        continue;
      flags.cycles += writeCycles(*tuple);
      // Say which form applies, if the flag changes the blamed operation.
      if (id == conflict.blamed())
        flags.text += llvm::formatv(" ({0}): {1}", tuple->rule, tuple->why);
    }
    return flags;
  }

  /// Offers --rewrite-layout, or with --allow-dynamic-weights, if neither resolves every
  /// conflict alone. What resolves this one alone is offered where nothing does better.
  void rewriteLayout(const std::optional<Flags> &dynamic) {
    const bool possible = finder.options.offerRewrites && affordable();
    std::optional<Flags> alone, both;
    if (possible && finder.options.rewrites != Rewrites::Any)
      alone = rewritten(layout, false);
    if (alone && alone->model && offer(*alone))
      return;
    if (dynamic && dynamic->model)
      return;
    if (possible && !finder.options.allowDynamicWeights && affordable())
      both = rewritten(withDynamicWeights(), true);
    if (both && both->model && offer(*both))
      return;
    for (const std::optional<Flags> &partial : {dynamic, alone})
      if (partial && !partial->model)
        offer(*partial);
    if (both && !both->model && !alone && !dynamic)
      offer(*both);
  }

  std::optional<Flags> rewritten(const LayoutSystem &changed, bool dynamic) {
    for (const auto &[model, relations] : scopes()) {
      spend();
      const auto found = findRewrites(changed, relations, model ? finder.chains : conflict.chain,
                                      Rewrites::Any, kSearch);
      if (!found)
        continue;
      const std::string names = dynamic ? kDynamic + (" " + std::string(kRewrite)) : kRewrite;
      Flags flags{model, dynamic, true, "compile with " + names + ": " + rewritesText(found->list),
                  dynamic ? found->writeCycles : 0};
      for (const LayoutRewrite &rewrite : found->list)
        flags.cycles += rewrite.cycles;
      return flags;
    }
    return std::nullopt;
  }

  /// Offers flags; false if with them the function does not compile.
  bool offer(const Flags &flags) {
    std::string names = flags.dynamic ? kDynamic : "";
    if (flags.rewrite)
      names += flags.dynamic ? std::string(" ") + kRewrite : kRewrite;
    std::optional<bool> compiled;
    if (flags.model) {
      const auto [known, isNew] = finder.compiled.try_emplace(names);
      if (isNew) {
        DataDimensionOptions options = finder.options;
        options.allowDynamicWeights |= flags.dynamic;
        if (flags.rewrite)
          options.rewrites = Rewrites::Any;
        known->second = compiles(Copy(finder.function, options));
      }
      compiled = known->second;
    }
    const size_t before = problem.fixes.size();
    offer(Fix{flags.text, names, false, flags.cycles}, compiled);
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
