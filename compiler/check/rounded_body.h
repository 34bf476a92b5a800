// Evaluates the bodies of maps exactly, and at the same time with emulated rounding.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "mlir/IR/Region.h"

#include "compiler/check/rounding.h"
#include "compiler/reference/function.h"

namespace sluice::check {

/// The body of a map, decoded once. Variant 0 is exact. Each other variant rounds in its direction
/// wherever the machine may round within a body:
///  - the reciprocal in a quotient,
///  - the logarithm in a power whose exponent is computed,
///  - the operand and the result of a function table,
///  - values between two passes of the vector unit.
/// A function of one operand is one table, so nothing is rounded within it.
///
/// At a discontinuity (a comparison, floor), a rounded variant moves the argument in its direction
/// as far as the bound allows. If rounding can move the argument across the discontinuity, at least
/// one variant therefore crosses it.
class RoundedBody {
public:
  explicit RoundedBody(mlir::Region &body);

  /// Evaluates the body for `count` elements. `inputs[variant][operand]` points to the elements of
  /// an operand, `results[variant]` to those of the result. The caller rounds the results. With
  /// `isExact` nothing is rounded to bf16, and the argument of a rounding to integers moves by no
  /// more than kTie.
  void run(size_t count, const std::vector<std::vector<const double *>> &inputs,
           std::span<Rounding> roundings, std::span<double *const> results,
           bool isExact = false) const;

private:
  struct Step {
    std::optional<reference::Function> function; ///< nothing: a constant
    reference::ScalarStep compute = nullptr;
    double constant = 0;
    std::array<unsigned, 3> operands{};
    std::array<bool, 3> isConstant{}, isComputed{}, isRounded{}; ///< of the operands
  };
  /// The values of one slot, one for each variant.
  using Values = std::vector<double>;

  void runStep(const Step &step, const std::vector<Values> &slots, std::span<Rounding> roundings,
               Values &result) const;
  static void runExactly(const Step &step, const std::vector<Values> &slots,
                         std::span<Rounding> roundings, Values &result);

  unsigned inputCount = 0, resultSlot = 0;
  std::vector<Step> steps;
};

} // namespace sluice::check
