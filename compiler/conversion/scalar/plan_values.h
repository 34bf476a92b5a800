// The values that the steps of a map give, and how far they are from the real ones.
#pragma once

#include <optional>
#include <vector>

#include "compiler/conversion/scalar/expr.h"
#include "compiler/conversion/scalar/map_select.h"

namespace sluice::rows {

/// All values of an operand of a map: integers of a row, or constants of the lanes.
struct OperandValues {
  int64_t first = 0, last = -1;  ///< a row of integers that bf16 has
  std::vector<double> constants; ///< else, by element
};

/// Returns the largest difference between the result of a plan and that of `expr` in real numbers,
/// rounded to bf16. Of a number beside a tie, either integer counts as the one that it rounds to.
/// Returns nothing if there are too many combinations of values to try them all.
std::optional<double> largestDifference(const MapPlan &plan, const Expr &expr,
                                        const std::vector<OperandValues> &operands);

} // namespace sluice::rows
