// How far a result is from its reference.
#pragma once

#include <optional>
#include <string>

#include "tools/cli/io/tensor.h"

namespace sluice::cli {

/// Bounds of --rtol and --atol; both empty: 2 % of the reference's range.
struct Bound {
  std::optional<double> relative, absolute;
};

/// Share of the reference's range that is allowed without --rtol and --atol.
inline constexpr double kRangeShare = 0.02;

struct Comparison {
  bool ok = true;
  double maxError = 0; ///< largest |result - reference|; infinite if one is not a number
  double range = 0;    ///< largest less smallest finite reference, or its magnitude if that is 0
  size_t worst = 0;    ///< where the largest error is

  /// "max error 0.0012, 0.31 % of the range 0.39; allowed 2 %".
  std::string text(const Bound &bound) const;
};

/// Equal shapes. NaN equals NaN, and an infinity equals itself.
Comparison compare(const io::Tensor &result, const io::Tensor &reference, const Bound &bound);

} // namespace sluice::cli
