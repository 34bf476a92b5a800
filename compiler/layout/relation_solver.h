// Finite relations over small variables: propagation, optimum, and a minimal
// reason where there is no solution. Knows nothing of tensors; the data
// dimension is one use (data_dimension.h).
//
// Propagation (generalised arc consistency) is near-linear in the size of the
// relations. What it leaves open falls into independent components; each is
// searched exactly, by branch and bound, within a budget of steps.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace sluice::layout {

/// Values a variable may still take, one bit each.
using Domain = uint64_t;

using VariableId = uint32_t;
using RelationId = uint32_t;

/// The revisions that a search for one example or fix may take.
inline constexpr uint64_t kSearch = 1u << 16;

/// One allowed assignment of a relation's variables.
struct Choice {
  llvm::SmallVector<int8_t, 4> values;
  int64_t cost = 0;
};

class RelationSystem {
public:
  /// A variable with values 0 to size-1; size is 1 to 64.
  VariableId addVariable(unsigned size);

  /// A relation that allows these choices and no others. A variable may appear
  /// twice; choices that give it two values are dropped.
  RelationId addRelation(llvm::ArrayRef<VariableId> variables, llvm::ArrayRef<Choice> choices);

  /// Other choices for a relation, over the same variables.
  void replaceChoices(RelationId relation, llvm::ArrayRef<Choice> choices);

  [[nodiscard]] size_t variables() const { return full.size(); }
  [[nodiscard]] size_t relations() const { return table.size(); }
  [[nodiscard]] llvm::ArrayRef<VariableId> variablesOf(RelationId relation) const {
    return table[relation].variables;
  }

  enum class Status : uint8_t { Solved, Unsatisfiable, GaveUp };

  struct Solution {
    Status status = Status::Unsatisfiable;
    std::vector<int8_t> values;     ///< Solved: of every variable
    int64_t cost = 0;               ///< Solved: sum over the relations
    bool optimal = true;            ///< Solved: the budget sufficed to prove it
    std::vector<RelationId> reason; ///< Unsatisfiable: relations that have no solution together
  };

  /// Values for all variables that satisfy `active` (ascending) at the least
  /// cost; among equals the greatest value of the first variable, and so on.
  /// `budget` bounds the revisions of relations in search.
  [[nodiscard]] Solution solve(llvm::ArrayRef<RelationId> active, uint64_t budget) const;

  /// Whether `active` has a solution; none within the budget counts as yes.
  [[nodiscard]] bool satisfiable(llvm::ArrayRef<RelationId> active, uint64_t budget) const;

  /// What propagation alone leaves of every variable; nothing if it leaves one
  /// without values.
  [[nodiscard]] std::optional<std::vector<Domain>>
  propagate(llvm::ArrayRef<RelationId> active) const;

  /// Drops relations from an unsatisfiable set until dropping any more would
  /// make it satisfiable. Stops early, still unsatisfiable, after about
  /// `budget` revisions. Earlier relations are preferred.
  [[nodiscard]] std::vector<RelationId> minimise(llvm::ArrayRef<RelationId> reason,
                                                 uint64_t budget) const;

private:
  friend class RelationSearch;

  struct Relation {
    llvm::SmallVector<VariableId, 4> variables;
    std::vector<int8_t> values; ///< choices, one after the other
    std::vector<int64_t> costs; ///< of every choice
  };
  std::vector<Domain> full; ///< of every variable
  std::vector<llvm::SmallVector<RelationId, 2>> users;
  std::vector<Relation> table;
};

} // namespace sluice::layout
