#include "tools/cli/tensor_error.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace sluice::cli {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double errorOf(double result, double reference) {
  if (result == reference || (std::isnan(result) && std::isnan(reference)))
    return 0;
  const double error = std::abs(result - reference);
  return std::isfinite(error) ? error : kInfinity;
}

NotFinite notFinite(const std::vector<double> &values) {
  NotFinite found;
  for (size_t i = 0; i < values.size(); ++i) {
    if (std::isinf(values[i]) && found.infinite++ == 0)
      found.firstInfinite = i;
    if (std::isnan(values[i]) && found.nan++ == 0)
      found.firstNan = i;
  }
  return found;
}

void measureReference(const std::vector<double> &wanted, Comparison &comparison) {
  double low = kInfinity;
  double high = -kInfinity;
  for (double value : wanted)
    if (std::isfinite(value)) {
      low = std::min(low, value);
      high = std::max(high, value);
    }
  if (low > high)
    return;
  comparison.range = high - low;
  comparison.magnitude = std::max(std::abs(low), std::abs(high));
}

} // namespace

NotFinite notFinite(const io::Tensor &tensor) { return notFinite(io::values(tensor)); }

std::vector<int64_t> placeOf(size_t element, const std::vector<int64_t> &shape) {
  std::vector<int64_t> place(shape.size());
  for (size_t i = shape.size(); i-- > 0; element /= static_cast<size_t>(shape[i]))
    place[i] = static_cast<int64_t>(element % static_cast<size_t>(shape[i]));
  return place;
}

std::string placeText(size_t element, const std::vector<int64_t> &shape) {
  return fmt::format("[{}]", fmt::join(placeOf(element, shape), ", "));
}

std::string notFiniteText(const NotFinite &found, const std::vector<int64_t> &shape) {
  std::string text;
  for (const auto &[count, first, what] :
       {std::tuple(found.infinite, found.firstInfinite, "infinite"),
        std::tuple(found.nan, found.firstNan, "NaN")})
    if (count > 0)
      text += fmt::format("{}{} {}, {}at {}", text.empty() ? "" : "; ", count, what,
                          count > 1 ? "the first " : "", placeText(first, shape));
  return text;
}

double Comparison::share() const {
  const double scale = nearConstant() ? magnitude : range;
  return scale > 0 ? maxError / scale : maxError;
}

Comparison compare(const io::Tensor &result, const io::Tensor &reference, const Bound &bound) {
  const std::vector<double> found = io::values(result);
  const std::vector<double> wanted = io::values(reference);
  Comparison comparison;
  comparison.shape = reference.shape;
  comparison.result = notFinite(found);
  comparison.reference = notFinite(wanted);
  measureReference(wanted, comparison);
  const double scale = comparison.nearConstant() ? comparison.magnitude : comparison.range;
  double sum = 0, signal = 0, noise = 0;
  size_t finite = 0;
  for (size_t i = 0; i < wanted.size(); ++i) {
    const double error = errorOf(found[i], wanted[i]);
    const double allowed = bound.given() ? bound.absolute.value_or(0) +
                                               bound.relative.value_or(0) * std::abs(wanted[i])
                                         : kRangeShare * scale;
    comparison.ok &= error == 0 || error <= allowed;
    if (error > comparison.maxError) {
      comparison.maxError = error;
      comparison.worst = i;
    }
    if (std::isfinite(found[i]) && std::isfinite(wanted[i])) {
      ++finite;
      sum += error;
      signal += wanted[i] * wanted[i];
      noise += error * error;
    }
  }
  if (finite > 0)
    comparison.meanError = sum / static_cast<double>(finite);
  if (noise > 0)
    comparison.snr = 10 * std::log10(signal / noise);
  return comparison;
}

std::string Comparison::text(const Bound &bound) const {
  std::string text = fmt::format("max error {:.6g}", maxError);
  if (maxError > 0)
    text += fmt::format(" at {}", placeText(worst, shape));
  if (range > 0)
    text += fmt::format(", {:.3g} % of the range {:.6g}", 100 * maxError / range, range);
  if (nearConstant())
    text +=
        fmt::format(", {:.3g} % of the magnitude {:.6g}", 100 * maxError / magnitude, magnitude);
  if (maxError > 0)
    text += fmt::format("; mean {:.6g}", meanError);
  if (snr)
    text += fmt::format("; SNR {:.1f} dB", *snr);
  for (const auto &[one, whose] :
       {std::pair(&result, "result"), std::pair(&reference, "reference")})
    if (const std::string some = notFiniteText(*one, shape); !some.empty())
      text += fmt::format("; {}: {}", whose, some);
  if (bound.given())
    return text + fmt::format("; allowed {:.6g} + {:.6g} * |reference|", bound.absolute.value_or(0),
                              bound.relative.value_or(0));
  if (nearConstant())
    return text + fmt::format("; {}, allowed {:.3g} % of the magnitude",
                              range > 0 ? "near-constant" : "constant", 100 * kRangeShare);
  return text + fmt::format("; allowed {:.3g} %", 100 * kRangeShare);
}

} // namespace sluice::cli
