// The bodies of maps, computed exactly and with emulated rounding side by side.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "mlir/IR/Region.h"

#include "compiler/check/rounding.h"
#include "compiler/reference/function.h"

namespace sluice::check {

/// The body of a map, decoded once. Variant 0 is exact; the others are rounded, each in its
/// direction, wherever the machine may round within a body: the reciprocal of a quotient, the
/// logarithm of a power whose exponent is computed, what goes into and comes out of a function
/// table, and what one pass of the vector unit hands on to the next. A function of one operand is
/// one table, so nothing is rounded within it.
///
/// Where a function jumps (a comparison, floor), a rounded variant computes it at an argument that
/// lies as far to the side of its direction as the bound allows. So if rounding can make the
/// argument pass the jump, at least one variant passes it.
class RoundedBody {
public:
  explicit RoundedBody(mlir::Region &body);

  /// Computes the body for `count` elements. `inputs[variant][operand]` points to the elements of
  /// an operand, `results[variant]` to those of the result, which the caller rounds.
  void run(size_t count, const std::vector<std::vector<const double *>> &inputs,
           std::span<Rounding> roundings, std::span<double *const> results) const;

private:
  struct Step {
    std::optional<reference::Function> function; ///< nothing: a constant
    reference::ScalarStep compute = nullptr;
    double constant = 0;
    std::array<unsigned, 3> operands{};
    std::array<bool, 3> isConstant{}, isComputed{}, isRounded{}; ///< of the operands
  };
  /// The values of a slot by variant.
  using Values = std::vector<double>;

  void runStep(const Step &step, const std::vector<Values> &slots, std::span<Rounding> roundings,
               Values &result) const;

  unsigned inputCount = 0, resultSlot = 0;
  std::vector<Step> steps;
};

} // namespace sluice::check
