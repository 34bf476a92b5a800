#include "compiler/layout/rewrite.h"

#include <map>

#include "compiler/dialect/sluice/interfaces.h"
#include "compiler/dialect/sluice/node.h"
#include "compiler/dialect/sluice/tensors.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/IntEqClasses.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace sluice::layout {
namespace {

using Dims = llvm::SmallVector<int8_t, 4>;

/// A tuple of an operation as its surroundings see it.
struct Wrapped {
  Dims outside;          ///< as LayoutTuple::dims
  ir::LayoutTuple tuple; ///< of the operation itself
  int64_t cost = 0;
  std::vector<LayoutRewrite::Relayout> relayouts = {};
  int64_t cycles = 0; ///< of the relayouts
};

/// What a free change weighs beside others that are not: behind it, a tensor lies off the lanes,
/// which the costs of the operations on it do not show.
constexpr int64_t kSwap = 17;

/// Tensors of an operation that may change their data dimension at once: all of a
/// few, two of many.
size_t changesOf(size_t tensors) { return tensors <= 4 ? tensors : 2; }

/// Every way to use an operation with relayouts around it, the cheapest for each outside. If only
/// free changes are allowed, a relayout swaps axes of extent 1 (DD-ONE).
class Wrappings {
public:
  Wrappings(const Step &step, Rewrites allowed) : step(step) {
    ir::LayoutQuery query = step.query;
    query.allowRewrites = true;
    ir::LayoutRelation relation;
    llvm::cast<ir::LayoutInterface>(step.op).layouts(query, relation);
    any = allowed == Rewrites::Any;
    changed = any;
    for (const ir::LayoutTuple &tuple : relation)
      changed |= !tuple.rewrite.empty() && tuple.rewriteCost == 0;
    for (const ir::LayoutTuple &tuple : relation)
      if (any || tuple.rewriteCost == 0)
        add({tuple.dims, tuple, tuple.cost}, 0, changesOf(tuple.dims.size()));
  }

  /// Whether any of them is a change.
  [[nodiscard]] bool changes() const { return changed; }

  [[nodiscard]] std::vector<Choice> choices() const {
    std::vector<Choice> result;
    for (const auto &[outside, wrapped] : best) {
      Choice choice{{}, wrapped.cost};
      llvm::copy_if(outside, std::back_inserter(choice.values),
                    [](int8_t dim) { return dim != ir::kNoDim; });
      result.push_back(std::move(choice));
    }
    return result;
  }

  [[nodiscard]] const Wrapped &at(llvm::ArrayRef<int8_t> outside) const {
    return best.at({outside.begin(), outside.end()});
  }

private:
  /// Adds a wrapping, and those that also change tensors from `first` on.
  void add(const Wrapped &wrapped, size_t first, size_t changes) {
    const std::vector<int8_t> key(wrapped.outside.begin(), wrapped.outside.end());
    const auto [known, isNew] = best.try_emplace(key, wrapped);
    if (!isNew && wrapped.cost < known->second.cost)
      known->second = wrapped;
    if (changes == 0)
      return;
    for (size_t i = first; i < wrapped.outside.size(); ++i) {
      if (wrapped.outside[i] == ir::kNoDim)
        continue;
      const bool result = i == step.query.operands.size();
      const auto &shape = result ? step.query.result : step.query.operands[i];
      for (int64_t dim = 0; dim < static_cast<int64_t>(shape.size()); ++dim) {
        const int64_t inside = wrapped.tuple.dims[i];
        if (dim == inside || (!any && (shape[dim] != 1 || shape[inside] != 1)))
          continue;
        changed = true;
        Wrapped changed = wrapped;
        changed.outside[i] = static_cast<int8_t>(dim);
        const int64_t cycles =
            ir::relayoutCost(shape, result ? inside : dim, result ? dim : inside, step.query)
                .cycles;
        changed.cost += any ? std::max(cycles, kSwap) : cycles;
        changed.cycles += cycles;
        changed.relayouts.push_back({static_cast<unsigned>(i), dim, inside});
        add(changed, i + 1, changes - 1);
      }
    }
  }

  const Step &step;
  bool any = false; ///< not only what is free
  bool changed = false;
  std::map<std::vector<int8_t>, Wrapped> best;
};

/// Operations that the given relations are tied to, through any relations.
std::vector<bool> tiedTo(const LayoutSystem &layout, llvm::ArrayRef<RelationId> active,
                         llvm::ArrayRef<RelationId> chains) {
  llvm::IntEqClasses groups(layout.system.variables());
  for (RelationId id : active)
    for (VariableId variable : layout.system.variablesOf(id))
      groups.join(variable, layout.system.variablesOf(id)[0]);
  std::vector<bool> wanted(layout.system.variables()), tied(layout.system.relations());
  for (RelationId id : chains)
    for (VariableId variable : layout.system.variablesOf(id))
      wanted[groups.findLeader(variable)] = true;
  for (RelationId id : active)
    tied[id] = llvm::any_of(layout.system.variablesOf(id), [&](VariableId variable) {
      return wanted[groups.findLeader(variable)];
    });
  return tied;
}

std::string describe(const LayoutRewrite &rewrite, const Step &step) {
  std::vector<std::string> parts;
  for (const LayoutRewrite::Relayout &one : rewrite.relayouts) {
    const bool result = one.tensor == step.query.operands.size();
    const Value value = result ? step.value : step.op->getOperand(one.tensor);
    const std::string name = tensorName(value);
    const auto shape = ir::carriedShape(value);
    if (shape[one.inside] == 1 && shape[one.outside] == 1)
      continue;
    parts.push_back(
        llvm::formatv("relayout of {0}{1} from {2} to {3}",
                      result ? std::string("the result") : "operand " + std::to_string(one.tensor),
                      name.empty() ? "" : " '" + name + "'",
                      ir::notation(shape, result ? one.inside : one.outside),
                      ir::notation(shape, result ? one.outside : one.inside)));
  }
  if (!rewrite.tuple.rewrite.empty())
    parts.push_back(rewrite.tuple.rewrite.str());
  return llvm::join(parts, ", ");
}

/// The least-cost rewrites at some of the operations.
std::optional<std::vector<LayoutRewrite>> rewriteAt(const LayoutSystem &layout,
                                                    llvm::ArrayRef<RelationId> active,
                                                    const std::vector<bool> &where,
                                                    Rewrites allowed, uint64_t budget) {
  std::map<RelationId, Wrappings> wrappings;
  // Behind a relayout, a state would be another tensor than the one that is kept.
  for (RelationId id : active)
    if (where[id] && layout.steps[id].kind == Step::Kind::Operation &&
        isMemoryEffectFree(layout.steps[id].op))
      wrappings.try_emplace(id, layout.steps[id], allowed);
  if (llvm::none_of(wrappings, [](const auto &one) { return one.second.changes(); }))
    return std::nullopt;
  RelationSystem system = layout.system;
  for (const auto &[id, around] : wrappings)
    system.replaceChoices(id, around.choices());
  const RelationSystem::Solution solution = system.solve(active, budget);
  if (solution.status != RelationSystem::Status::Solved)
    return std::nullopt;

  std::vector<LayoutRewrite> rewrites;
  for (const auto &[id, around] : wrappings) {
    const Step &step = layout.steps[id];
    Dims outside;
    for (Value operand : step.op->getOperands()) {
      const auto variable = layout.variables.find(operand);
      outside.push_back(variable == layout.variables.end() ? ir::kNoDim
                                                           : solution.values[variable->second]);
    }
    outside.push_back(solution.values[layout.variables.at(step.value)]);
    const Wrapped &chosen = around.at(outside);
    if (chosen.relayouts.empty() && chosen.tuple.rewrite.empty())
      continue;
    LayoutRewrite rewrite{step.op,
                          chosen.tuple,
                          chosen.relayouts,
                          chosen.tuple.rewriteCost + chosen.cycles,
                          {ir::nodeOf(step.op->getLoc()), {}}};
    rewrite.change.text = describe(rewrite, step);
    rewrites.push_back(std::move(rewrite));
  }
  return rewrites;
}

} // namespace

std::optional<std::vector<LayoutRewrite>> findRewrites(const LayoutSystem &layout,
                                                       llvm::ArrayRef<RelationId> active,
                                                       llvm::ArrayRef<RelationId> chains,
                                                       Rewrites allowed, uint64_t budget) {
  if (allowed == Rewrites::None)
    return std::nullopt;
  // A chain is minimal: a change at any of its steps resolves it. Few places keep
  // the search small.
  std::vector<bool> where(layout.system.relations());
  for (RelationId id : chains)
    where[id] = true;
  if (auto rewrites = rewriteAt(layout, active, where, allowed, budget))
    return rewrites;
  if (allowed == Rewrites::Free) // so that a refusal stays quick
    return std::nullopt;
  return rewriteAt(layout, active, tiedTo(layout, active, chains), allowed, budget);
}

std::vector<Change> changesOf(llvm::ArrayRef<LayoutRewrite> rewrites) {
  std::vector<Change> changes;
  for (const LayoutRewrite &rewrite : rewrites)
    if (!rewrite.change.text.empty())
      changes.push_back(rewrite.change);
  return changes;
}

std::string changesText(llvm::ArrayRef<Change> changes) {
  constexpr size_t kShown = 3;
  std::vector<std::string> texts;
  for (const Change &change : changes.take_front(kShown))
    texts.push_back(change.text + (change.node.index < 0
                                       ? std::string()
                                       : " at node " + std::to_string(change.node.index)));
  if (changes.size() > kShown)
    texts.push_back("and " + std::to_string(changes.size() - kShown) + " more");
  return llvm::join(texts, "; ");
}

} // namespace sluice::layout
