// A solver of constraints over variables with at most 64 values: finds the cheapest solution, or a
// minimal set of relations without one. It knows no tensors; data_dimension.h uses it.
//
// Propagation (generalised arc consistency) takes nearly linear time in the size of the relations.
// The variables that it leaves open form independent components. Branch and bound searches each
// component exactly, within a budget.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace sluice::layout {

/// The values that a variable may still have, one bit each.
using Domain = uint64_t;

using VariableId = uint32_t;
using RelationId = uint32_t;

/// The most revisions of relations in a search for one example or fix.
inline constexpr uint64_t kSearch = 1u << 16;

/// One allowed assignment of the variables of a relation.
struct Choice {
  llvm::SmallVector<int8_t, 4> values;
  int64_t cost = 0;
};

class RelationSystem {
public:
  /// Adds a variable with the values 0 to size-1; size is 1 to 64.
  VariableId addVariable(unsigned size);

  /// Adds a relation that allows exactly these choices. A variable may appear twice; choices that
  /// give it two different values are dropped.
  RelationId addRelation(llvm::ArrayRef<VariableId> variables, llvm::ArrayRef<Choice> choices);

  /// Replaces the choices of a relation; the variables stay.
  void replaceChoices(RelationId relation, llvm::ArrayRef<Choice> choices);

  [[nodiscard]] size_t variables() const { return full.size(); }
  [[nodiscard]] size_t relations() const { return table.size(); }
  [[nodiscard]] llvm::ArrayRef<VariableId> variablesOf(RelationId relation) const {
    return table[relation].variables;
  }

  enum class Status : uint8_t { Solved, Unsatisfiable, GaveUp };

  struct Solution {
    Status status = Status::Unsatisfiable;
    std::vector<int8_t> values;     ///< Solved: the value of every variable
    int64_t cost = 0;               ///< Solved: the sum over the relations
    bool optimal = true;            ///< Solved: the budget was enough to prove the least cost
    std::vector<RelationId> reason; ///< Unsatisfiable: relations without a common solution
  };

  /// Returns values for all variables that satisfy the relations `active` (ascending) at the least
  /// cost. Among solutions of equal cost, the one with the greatest value of the first variable
  /// wins, then of the second, and so on. `budget` limits the revisions of relations in the search.
  [[nodiscard]] Solution solve(llvm::ArrayRef<RelationId> active, uint64_t budget) const;

  /// Returns the values of every variable that propagation alone leaves; nothing if a variable has
  /// none left.
  [[nodiscard]] std::optional<std::vector<Domain>>
  propagate(llvm::ArrayRef<RelationId> active) const;

  /// Removes relations from an unsatisfiable set until the set would become satisfiable without any
  /// further one. Keeps earlier relations rather than later ones. Stops after about `budget`
  /// revisions, with a set that is unsatisfiable but perhaps not minimal.
  [[nodiscard]] std::vector<RelationId> minimise(llvm::ArrayRef<RelationId> reason,
                                                 uint64_t budget) const;

private:
  friend class RelationSearch;

  struct Relation {
    llvm::SmallVector<VariableId, 4> variables;
    std::vector<int8_t> values; ///< of the choices, one choice after the other
    std::vector<int64_t> costs; ///< of the choices
  };
  std::vector<Domain> full; ///< all values of each variable
  std::vector<llvm::SmallVector<RelationId, 2>> users;
  std::vector<Relation> table;
};

} // namespace sluice::layout
