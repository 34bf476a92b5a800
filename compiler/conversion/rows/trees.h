// The trees in which rows are merged by a monoid. Merging is associative and commutative
// (compiler/reference/monoid.h), so any tree will do: a plan is tried with several, and the timing
// says which costs least.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/conversion/row.h"
#include "compiler/reference/monoid.h"

namespace sluice::rows {

struct TreeShape {
  /// How rows become one, and the lanes of that one.
  enum class Lanes : uint8_t {
    AtOnce,  ///< a pass of one core takes row after row, and their lanes
    InParts, ///< a pass for every core's share of the rows, whose results are merged
    Last,    ///< rows are merged first, then the lanes of the one that is left
  };

  uint32_t arity = 3; ///< rows that become one in a pass: 2 or 3
  bool apart = false; ///< rows at even distances become one, not neighbours
  Lanes lanes = Lanes::AtOnce;
  /// Lanes that are multiplied in a round: 2 or 4.
  uint32_t lanesPerRound = 2;

  auto operator<=>(const TreeShape &) const = default;
};

/// What of a shape some tree depends on.
struct TreesSeen {
  bool passes = false; ///< more rows than one pass takes
  bool lanes = false;  ///< lanes of several rows
  bool rounds = false; ///< products of lanes

  void add(const TreesSeen &other) {
    passes |= other.passes;
    lanes |= other.lanes;
    rounds |= other.rounds;
  }
};

/// How `sluice explain --plan` words a shape; empty for the one that is taken without a search.
std::string textOf(const TreeShape &shape);

/// Shapes that differ in one thing from the one that is taken without a search, of those things
/// that matter.
std::vector<TreeShape> otherShapes(const TreesSeen &seen);

/// The vector unit's operation that merges two rows lane by lane; nothing if it has none.
std::optional<isa::Alu> operationOf(reference::Monoid monoid);

/// One row of several: `merge(rows, level)` makes one of two or three.
template <typename Merge>
RowId mergeRows(std::vector<RowId> rows, const TreeShape &shape, Merge merge) {
  for (uint32_t level = 0; rows.size() > 1; ++level) {
    const size_t parts = (rows.size() + shape.arity - 1) / shape.arity;
    std::vector<RowId> fewer;
    for (size_t part = 0; part < parts; ++part) {
      std::vector<RowId> members;
      for (size_t i = 0; i < shape.arity; ++i)
        if (const size_t at = shape.apart ? part + i * parts : part * shape.arity + i;
            at < rows.size())
          members.push_back(rows[at]);
      fewer.push_back(members.size() == 1 ? members.front() : merge(members, level));
    }
    rows = std::move(fewer);
  }
  return rows.front();
}

} // namespace sluice::rows
