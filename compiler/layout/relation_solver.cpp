#include "compiler/layout/relation_solver.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <limits>
#include <numeric>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/IntEqClasses.h"
#include "llvm/ADT/STLExtras.h"

namespace sluice::layout {

VariableId RelationSystem::addVariable(unsigned size) {
  assert(size >= 1 && size <= 64 && "a domain is one word");
  full.push_back(size == 64 ? ~Domain{0} : (Domain{1} << size) - 1);
  users.emplace_back();
  return static_cast<VariableId>(full.size() - 1);
}

RelationId RelationSystem::addRelation(llvm::ArrayRef<VariableId> variables,
                                       llvm::ArrayRef<Choice> choices) {
  const auto id = static_cast<RelationId>(table.size());
  table.emplace_back();
  table.back().variables.assign(variables.begin(), variables.end());
  for (VariableId variable : variables)
    if (auto &of = users[variable]; of.empty() || of.back() != id) // the newest, if it is there
      of.push_back(id);
  replaceChoices(id, choices);
  return id;
}

void RelationSystem::replaceChoices(RelationId id, llvm::ArrayRef<Choice> choices) {
  Relation &relation = table[id];
  relation.values.clear();
  relation.costs.clear();
  llvm::DenseMap<VariableId, size_t> found;
  std::vector<size_t> first; // place of the same variable, by place
  for (size_t i = 0; i < relation.variables.size(); ++i)
    first.push_back(found.try_emplace(relation.variables[i], i).first->second);
  for (const Choice &choice : choices) {
    assert(choice.values.size() == relation.variables.size() && "one value per variable");
    bool consistent = true;
    for (size_t i = 0; i < choice.values.size() && consistent; ++i)
      consistent = choice.values[first[i]] == choice.values[i];
    if (!consistent)
      continue;
    relation.values.insert(relation.values.end(), choice.values.begin(), choice.values.end());
    relation.costs.push_back(choice.cost);
  }
}

/// Domains under a set of active relations, with undo.
class RelationSearch {
public:
  explicit RelationSearch(const RelationSystem &system)
      : system(system), domains(system.full), active(system.table.size()),
        queued(system.table.size()), bounds(system.table.size()) {}

  /// Starts over with these relations; costs what they and the last ones cost.
  void load(llvm::ArrayRef<RelationId> relations) {
    for (RelationId id : loaded) {
      active[id] = false;
      queued[id] = false;
      bounds[id] = 0;
      for (VariableId variable : system.table[id].variables)
        domains[variable] = system.full[variable];
    }
    loaded.assign(relations.begin(), relations.end());
    queue.clear();
    trail.clear();
    total = 0;
    for (RelationId id : loaded) {
      active[id] = true;
      enqueue(id);
    }
  }

  /// Revises relations until nothing changes. False: one has no choice left.
  bool propagate() {
    for (size_t next = 0; next < queue.size(); ++next) {
      const RelationId id = queue[next];
      queued[id] = false;
      if (!revise(id)) {
        failed = id;
        for (RelationId rest : llvm::ArrayRef(queue).drop_front(next))
          queued[rest] = false;
        queue.clear();
        return false;
      }
    }
    queue.clear();
    return true;
  }

  /// The relations behind the failure of propagate(): backwards along the
  /// changes that narrowed the variables of the relation that failed.
  std::vector<RelationId> reason() const {
    std::vector<bool> relevant(domains.size()), included(active.size());
    std::vector<RelationId> relations;
    auto include = [&](RelationId id) {
      if (included[id])
        return;
      included[id] = true;
      relations.push_back(id);
      for (VariableId variable : system.table[id].variables)
        relevant[variable] = true;
    };
    include(failed);
    for (const Change &change : llvm::reverse(trail))
      if (change.kind == Change::Narrowed && relevant[change.index])
        include(change.cause);
    llvm::sort(relations);
    return relations;
  }

  /// Open variables of the loaded relations, grouped by the relations that tie
  /// them; groups and their members ascend.
  std::vector<std::vector<VariableId>> components() {
    std::vector<VariableId> members;
    for (RelationId id : loaded)
      for (VariableId variable : system.table[id].variables)
        if (open(variable))
          members.push_back(variable);
    llvm::sort(members);
    members.erase(std::unique(members.begin(), members.end()), members.end());

    llvm::IntEqClasses groups(static_cast<unsigned>(members.size()));
    for (RelationId id : loaded) {
      std::optional<unsigned> first;
      for (VariableId variable : system.table[id].variables) {
        if (!open(variable))
          continue;
        const auto member =
            static_cast<unsigned>(llvm::lower_bound(members, variable) - members.begin());
        groups.join(first.value_or(member), member);
        first = member;
      }
    }
    groups.compress();
    std::vector<std::vector<VariableId>> result(groups.getNumClasses());
    for (auto [member, variable] : llvm::enumerate(members))
      result[groups[static_cast<unsigned>(member)]].push_back(variable);
    return result;
  }

  /// Settles a component: its least cost, or with `any` its first solution.
  /// False: none was found.
  bool settle(llvm::ArrayRef<VariableId> component, bool any) {
    best = std::numeric_limits<int64_t>::max();
    assignment.clear();
    search(component, any);
    if (best == std::numeric_limits<int64_t>::max())
      return false;
    for (auto [variable, domain] : llvm::zip(component, assignment))
      narrow(variable, domain, 0);
    return propagate();
  }

  [[nodiscard]] bool open(VariableId variable) const {
    return !std::has_single_bit(domains[variable]);
  }

  const RelationSystem &system;
  std::vector<Domain> domains;
  int64_t total = 0;       ///< sum of the least costs still possible
  uint64_t steps = 0;      ///< relations revised
  uint64_t budget = ~0ull; ///< of steps
  [[nodiscard]] bool exhausted() const { return steps > budget; }

private:
  struct Change {
    enum Kind : uint8_t { Narrowed, Bounded } kind;
    uint32_t index; ///< variable or relation
    uint32_t cause; ///< Narrowed: the relation that did it
    uint64_t before;
  };

  void enqueue(RelationId id) {
    if (active[id] && !queued[id]) {
      queued[id] = true;
      queue.push_back(id);
    }
  }

  void narrow(VariableId variable, Domain domain, RelationId cause) {
    if (domains[variable] == domain)
      return;
    trail.push_back({Change::Narrowed, variable, cause, domains[variable]});
    domains[variable] = domain;
    for (RelationId user : system.users[variable])
      enqueue(user);
  }

  bool revise(RelationId id) {
    ++steps;
    const RelationSystem::Relation &relation = system.table[id];
    const size_t arity = relation.variables.size();
    llvm::SmallVector<Domain, 8> support(arity, 0);
    int64_t least = std::numeric_limits<int64_t>::max();
    for (size_t choice = 0; choice < relation.costs.size(); ++choice) {
      const int8_t *values = relation.values.data() + choice * arity;
      bool possible = true;
      for (size_t i = 0; i < arity && possible; ++i)
        possible = (domains[relation.variables[i]] >> values[i]) & 1;
      if (!possible)
        continue;
      least = std::min(least, relation.costs[choice]);
      for (size_t i = 0; i < arity; ++i)
        support[i] |= Domain{1} << values[i];
    }
    if (least == std::numeric_limits<int64_t>::max())
      return false;
    if (least != bounds[id]) {
      trail.push_back({Change::Bounded, id, 0, static_cast<uint64_t>(bounds[id])});
      total += least - bounds[id];
      bounds[id] = least;
    }
    for (size_t i = 0; i < arity; ++i)
      narrow(relation.variables[i], support[i], id);
    return true;
  }

  void undo(size_t mark) {
    while (trail.size() > mark) {
      const Change &change = trail.back();
      if (change.kind == Change::Narrowed) {
        domains[change.index] = change.before;
      } else {
        total += static_cast<int64_t>(change.before) - bounds[change.index];
        bounds[change.index] = static_cast<int64_t>(change.before);
      }
      trail.pop_back();
    }
  }

  /// Depth first, greatest value first, so the first of equal solutions is the
  /// one to keep.
  void search(llvm::ArrayRef<VariableId> component, bool any) {
    // Variables that have values so far, on a stack of its own: there are as many as a model has
    // tensors.
    struct Level {
      const VariableId *variable;
      Domain left;
      std::optional<size_t> mark = std::nullopt; ///< of the trail, while a value is tried
    };
    std::vector<Level> levels;
    const auto stops = [&] {
      return exhausted() || (any && best != std::numeric_limits<int64_t>::max());
    };
    // Variables before `from` have one value each.
    const auto descend = [&](const VariableId *from) {
      const VariableId *next =
          std::find_if(from, component.end(), [&](VariableId v) { return open(v); });
      if (next == component.end()) {
        best = total;
        assignment.clear();
        for (VariableId variable : component)
          assignment.push_back(domains[variable]);
      } else if (!stops()) {
        levels.push_back({next, domains[*next]});
      }
    };
    descend(component.begin());
    while (!levels.empty()) {
      Level &level = levels.back();
      if (level.mark)
        undo(*level.mark);
      if ((level.mark && stops()) || level.left == 0) {
        levels.pop_back();
        continue;
      }
      const Domain value = std::bit_floor(level.left);
      level.left ^= value;
      level.mark = trail.size();
      const VariableId *variable = level.variable;
      narrow(*variable, value, 0);
      if (propagate() && total < best)
        descend(variable + 1); // moves `level`
    }
  }

  std::vector<bool> active, queued;
  std::vector<int64_t> bounds; ///< least cost each relation still has
  std::vector<RelationId> loaded, queue;
  std::vector<Change> trail;
  RelationId failed = 0;
  int64_t best = 0;
  std::vector<Domain> assignment;
};

RelationSystem::Solution RelationSystem::solve(llvm::ArrayRef<RelationId> activeRelations,
                                               uint64_t budget) const {
  Solution solution;
  RelationSearch search(*this);
  search.load(activeRelations);
  if (!search.propagate()) {
    solution.reason = search.reason();
    return solution;
  }
  for (const auto &component : search.components()) {
    search.budget = search.steps + budget;
    if (search.settle(component, /*any=*/false)) {
      solution.optimal &= !search.exhausted();
      continue;
    }
    if (search.exhausted()) {
      solution.status = Status::GaveUp;
      return solution;
    }
    // Anything may have narrowed the component before the search.
    solution.reason.assign(activeRelations.begin(), activeRelations.end());
    return solution;
  }
  solution.status = Status::Solved;
  solution.cost = search.total;
  for (Domain domain : search.domains)
    solution.values.push_back(static_cast<int8_t>(std::bit_width(domain) - 1));
  return solution;
}

std::optional<std::vector<Domain>>
RelationSystem::propagate(llvm::ArrayRef<RelationId> active) const {
  RelationSearch search(*this);
  search.load(active);
  if (!search.propagate())
    return std::nullopt;
  return search.domains;
}

namespace {

/// QuickXplain: halves the candidates, so a small reason in a large set costs
/// few checks.
class Minimiser {
public:
  Minimiser(const RelationSystem &system, uint64_t budget) : search(system), budget(budget) {}

  /// The part of `candidates` needed beside `background`.
  std::vector<RelationId> run(std::vector<RelationId> background, bool changed,
                              llvm::ArrayRef<RelationId> candidates) {
    if (changed && !check(background))
      return {};
    if (candidates.size() == 1 || search.steps > budget)
      return candidates.vec();
    const auto front = candidates.take_front(candidates.size() / 2);
    const auto back = candidates.drop_front(candidates.size() / 2);
    std::vector<RelationId> withFront = background;
    llvm::append_range(withFront, front);
    std::vector<RelationId> fromBack = run(withFront, true, back);
    llvm::append_range(background, fromBack);
    std::vector<RelationId> needed = run(background, !fromBack.empty(), front);
    llvm::append_range(needed, fromBack);
    return needed;
  }

private:
  /// Whether a set has a solution; true if the budget of a search ends before that is known.
  bool check(llvm::ArrayRef<RelationId> active) {
    search.load(active);
    if (!search.propagate())
      return false;
    for (const auto &component : search.components()) {
      search.budget = search.steps + kSearch;
      if (!search.settle(component, /*any=*/true))
        return search.exhausted();
    }
    return true;
  }

  RelationSearch search;
  uint64_t budget;
};

} // namespace

std::vector<RelationId> RelationSystem::minimise(llvm::ArrayRef<RelationId> reason,
                                                 uint64_t budget) const {
  std::vector<RelationId> minimal = Minimiser(*this, budget).run({}, false, reason);
  llvm::sort(minimal);
  return minimal;
}

} // namespace sluice::layout
