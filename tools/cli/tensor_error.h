// How far a result is from its reference.
#pragma once

#include <optional>
#include <string>

#include "tools/cli/io/tensor.h"

namespace sluice::cli {

/// Bounds of --rtol and --atol; both empty: 2 % of the reference's range.
struct Bound {
  std::optional<double> relative, absolute;

  bool given() const { return relative || absolute; }
};

/// Share of the reference's range that is allowed without --rtol and --atol. Where the
/// range is less than kNearConstant of the largest magnitude, bf16 cannot resolve that
/// share of it, and it is the share of the magnitude that is allowed.
inline constexpr double kRangeShare = 0.02;
inline constexpr double kNearConstant = 0.2;

/// Elements of a tensor that are no finite number.
struct NotFinite {
  size_t infinite = 0, nan = 0;
  size_t firstInfinite = 0, firstNan = 0; ///< where there are any
};
NotFinite notFinite(const io::Tensor &tensor);

/// "2 infinite, the first at [0, 5]; 1 NaN, at [0, 7]", or "".
std::string notFiniteText(const NotFinite &found, const std::vector<int64_t> &shape);

/// The element of that number as an index: {0, 5}; "[0, 5]".
std::vector<int64_t> placeOf(size_t element, const std::vector<int64_t> &shape);
std::string placeText(size_t element, const std::vector<int64_t> &shape);

struct Comparison {
  bool ok = true;
  double maxError = 0;       ///< largest |result - reference|; infinite if one is not a number
  double meanError = 0;      ///< of the elements that are finite in both, as is what follows
  std::optional<double> snr; ///< in dB, of the reference to the error; empty: no error
  double range = 0;          ///< largest less smallest finite reference
  double magnitude = 0;      ///< of the largest finite reference
  size_t worst = 0;          ///< where the largest error is
  NotFinite result, reference;
  std::vector<int64_t> shape;

  bool nearConstant() const { return range < kNearConstant * magnitude; }
  /// The error as a share of what it is judged by without bounds.
  double share() const;

  /// "max error 0.0012 at [0, 3], 0.31 % of the range 0.39; mean 0.0004; SNR 52.1 dB;
  /// allowed 2 %".
  std::string text(const Bound &bound) const;
};

/// Equal shapes. NaN equals NaN, and an infinity equals itself.
Comparison compare(const io::Tensor &result, const io::Tensor &reference, const Bound &bound);

} // namespace sluice::cli
