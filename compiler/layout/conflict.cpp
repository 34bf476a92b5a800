#include "compiler/layout/conflict.h"

#include <bit>

#include "compiler/dialect/sluice/interfaces.h"
#include "compiler/dialect/sluice/node.h"
#include "compiler/dialect/sluice/tensors.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace sluice::layout {
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
    llvm::DenseMap<VariableId, RelationId> users;
    for (RelationId id : chain)
      for (VariableId variable : layout.system.variablesOf(id))
        if (users.try_emplace(variable, id).first->second != id)
          shared.insert(variable);
    forced = layout.system.propagate(llvm::ArrayRef(chain).drop_back()).value_or(full);
    domains = layout.system.propagate(others).value_or(full);
    for (auto [known, force] : llvm::zip(domains, forced))
      known = (known & force) != 0 ? known & force : force;
    if (last.kind == Step::Kind::Operation && llvm::any_of(last.op->getOperands(), [&](Value v) {
          return isShared(v) && !layout.dim(v, domains);
        }))
      assume(others);
  }

  Problem problem() const {
    Problem problem;
    if (NodeRef node = ir::nodeOf(last.value.getLoc()); node.index >= 0 || !node.source.empty())
      problem.node = node;
    if (last.kind == Step::Kind::Operation)
      refuse(problem);
    else
      refusePin(problem);
    problem.chain = assumptions;
    for (RelationId id : llvm::ArrayRef(chain).drop_back())
      add(problem.chain, deduction(layout.steps[id]));
    add(problem.chain, demand());
    return problem;
  }

private:
  /// A node of several operations says the same of its result and on the way there: once
  /// is enough.
  static void add(std::vector<ChainStep> &chain, ChainStep step) {
    const auto same = llvm::find_if(chain, [&](const ChainStep &one) {
      return one.node.index >= 0 && one.node.index == step.node.index &&
             (one.tensor == step.tensor || one.tensor.empty()) && one.shape == step.shape &&
             one.dataDim == step.dataDim && one.why == step.why;
    });
    if (same == chain.end())
      chain.push_back(std::move(step));
    else
      same->tensor = step.tensor;
  }

  /// The other steps leave several choices, none of which fits: shows one of them.
  void assume(llvm::ArrayRef<RelationId> others) {
    std::vector<RelationId> known(chain.begin(), chain.end() - 1);
    if (llvm::all_of(known, [&](RelationId id) { return llvm::is_contained(others, id); }))
      known.assign(others.begin(), others.end());
    const auto solution = layout.system.solve(known, kSearch);
    if (solution.status != RelationSystem::Status::Solved)
      return;
    RelationSystem system = layout.system;
    std::vector<VariableId> open(shared.begin(), shared.end());
    llvm::sort(open);
    std::vector<Domain> now = *system.propagate(known);
    for (VariableId variable : open) {
      if (std::has_single_bit(now[variable]))
        continue;
      const int8_t value = solution.values[variable];
      ChainStep step;
      step.tensor = tensorName(layout.values[variable]);
      const auto shape = ir::shapeOf(layout.values[variable]);
      step.shape.assign(shape.begin(), shape.end());
      step.dataDim = value;
      step.why =
          "assumed: " + forms(layout.values[variable], now[variable] & ~(Domain{1} << value)) +
          " leads to a conflict too";
      assumptions.push_back(std::move(step));
      known.push_back(system.addRelation(variable, Choice{{value}, 0}));
      now = *system.propagate(known);
    }
    forced = domains = std::move(now);
  }

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
      problem.notes.push_back(llvm::formatv("operand {0}{1}: {2} {3}", i, phrase(operand),
                                            last.query.constant[i] ? "constant" : "activation",
                                            last.query.constant[i]
                                                ? ir::notation(ir::shapeOf(operand))
                                                : layout.notation(operand, domains)));
    }
    problem.notes.push_back(llvm::formatv("rule {0}: {1}", refusal.rule, refusal.formula));
  }

  /// " 'x'", or ", transpose of 'x'" of a view that is no tensor of the model.
  static std::string phrase(Value value) {
    if (const std::string name = modelName(value); !name.empty())
      return " '" + name + "'";
    Operation *op = value.getDefiningOp();
    if (!op || op->getNumOperands() != 1)
      return "";
    const std::string source = phrase(op->getOperand(0));
    return llvm::StringRef(source).starts_with(",") || source.empty()
               ? source
               : (", " + op->getName().stripDialect() + " of" + source).str();
  }

  /// The name of a tensor of the model; none for what a node computes on the way to its
  /// result, which has its name too.
  static std::string modelName(Value value) {
    std::string name = tensorName(value);
    const bool inside = llvm::any_of(value.getUsers(), [&](Operation *user) {
      return user->getNumResults() == 1 && tensorName(user->getResult(0)) == name;
    });
    return inside ? "" : name;
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
    link.tensor = modelName(value);
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
          why = llvm::formatv("from {0}: {1}", layout.notation(operand, domains), why);
          break;
        }
    return link(step, shown, why);
  }

  /// What the blamed step would need of the tensor that reaches it.
  ChainStep demand() const {
    if (last.kind == Step::Kind::Pin)
      return link(last, last.value,
                  "but it must be " + ir::notation(ir::carriedShape(last.value), last.axis) + ", " +
                      last.origin());
    if (last.relation.empty())
      return link(last, last.value, "rejected for every data dimension");
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
                layout.dim(shown, forced) ? "but this operation needs " + forms(shown, allowed)
                                          : "no data dimension satisfies every step");
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
  std::vector<ChainStep> assumptions; ///< where the others leave choices
  std::vector<Domain> forced;         ///< by the chain without its last step
  std::vector<Domain> domains;        ///< as forced, narrowed by the other steps
  llvm::DenseSet<VariableId> shared;  ///< by several steps of the chain
};

} // namespace

Problem describe(const LayoutSystem &layout, const Conflict &conflict,
                 llvm::ArrayRef<RelationId> others) {
  return Explanation(layout, conflict, others).problem();
}

Location locationOf(const LayoutSystem &layout, const Conflict &conflict) {
  return layout.steps[conflict.blamed()].value.getLoc();
}

} // namespace sluice::layout
