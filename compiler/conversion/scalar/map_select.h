// From a scalar expression to beats of the vector unit: which operations go
// into the first arithmetic unit, the table and the second one, and what has to
// be kept in a row in between.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/conversion/row.h"
#include "compiler/conversion/scalar/expr.h"

namespace sluice::format {
struct TableImage;
} // namespace sluice::format

namespace sluice::rows {

/// How an operand of a map is at hand.
struct MapOperand {
  bool broadcast = false; ///< only lane 0 counts: operand b or c, never a
  bool fusable = false;   ///< a fresh matrix result: free as operand a of one step
  bool wide = false;      ///< fp32, in two rows: operand b alone
};

/// An operand of a step.
struct Source {
  enum class Kind : uint8_t { None, Operand, Step, Splat };
  Kind kind = Kind::None;
  uint32_t index = 0; ///< operand of the map, or an earlier step
  double value = 0;   ///< Splat: in every lane
  bool operator==(const Source &) const = default;
};

struct MapStep {
  VectorStep step; ///< step.table indexes MapPlan::tables; broadcast flags are set
  Source a, b, c;
  bool wide = false; ///< two rows with the halves of fp32 numbers, read as operand b alone
};

/// Steps in order; the map's value is `result`, usually the last step.
struct MapPlan {
  std::vector<MapStep> steps;
  std::vector<std::shared_ptr<const format::TableImage>> tables;
  Source result;
};

/// Tables already built or found impossible, by Expr::key, and the plans of maps.
class TableCache {
public:
  struct Entry {
    std::shared_ptr<const format::TableImage> image; ///< null: no table does it
    bool exact = true;
  };
  const Entry &of(const Expr &expr, NodeId node, NodeId cut);

  /// What selectMap() has found where tables are not scarce, by the text of its arguments. The
  /// steps of a recurrence have equal maps, so they share a plan.
  std::unordered_map<std::string, MapPlan> plans;

private:
  std::map<std::string, Entry> entries;
};

/// Whether a program has a table already.
using HasTable = std::function<bool(const format::TableImage &)>;

/// Covers expr.result with as few and as short steps as it finds, by exact
/// search with one best way per intermediate value. Nothing, and the operation
/// at fault in `why`, if some operation is neither an instruction nor a table.
/// With `hasTable`, tables are scarce: a new one costs as much as many steps.
std::optional<MapPlan> selectMap(const Expr &expr, const std::vector<MapOperand> &operands,
                                 TableCache &tables, std::string &why,
                                 const HasTable &hasTable = {});

} // namespace sluice::rows
