#include "tools/cli/compare.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace sluice::cli {
namespace {

double errorOf(double result, double reference) {
  if (result == reference || (std::isnan(result) && std::isnan(reference)))
    return 0;
  const double error = std::abs(result - reference);
  return std::isfinite(error) ? error : std::numeric_limits<double>::infinity();
}

} // namespace

Comparison compare(const io::Tensor &result, const io::Tensor &reference, const Bound &bound) {
  const std::vector<double> found = io::values(result);
  const std::vector<double> wanted = io::values(reference);
  Comparison comparison;
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (double value : wanted)
    if (std::isfinite(value)) {
      low = std::min(low, value);
      high = std::max(high, value);
    }
  if (low <= high)
    comparison.range = high > low ? high - low : std::abs(high);
  const bool byRange = !bound.relative && !bound.absolute;
  for (size_t i = 0; i < wanted.size(); ++i) {
    const double error = errorOf(found[i], wanted[i]);
    const double allowed =
        byRange ? kRangeShare * comparison.range
                : bound.absolute.value_or(0) + bound.relative.value_or(0) * std::abs(wanted[i]);
    comparison.ok &= error == 0 || error <= allowed;
    if (error > comparison.maxError) {
      comparison.maxError = error;
      comparison.worst = i;
    }
  }
  return comparison;
}

std::string Comparison::text(const Bound &bound) const {
  std::string text = fmt::format("max error {:.6g}", maxError);
  if (range > 0)
    text += fmt::format(", {:.3g} % of the range {:.6g}", 100 * maxError / range, range);
  if (!bound.relative && !bound.absolute)
    return text + fmt::format("; allowed {:.3g} %", 100 * kRangeShare);
  return text + fmt::format("; allowed {:.6g} + {:.6g} * |reference|", bound.absolute.value_or(0),
                            bound.relative.value_or(0));
}

} // namespace sluice::cli
