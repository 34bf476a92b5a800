#include "compiler/check/bound.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sluice::check {
namespace {

constexpr double kUnbounded = std::numeric_limits<double>::infinity();
/// Below that share of the largest magnitude, the range is no measure of errors.
constexpr double kNearConstant = 0.2;
/// Zero stands for what is below the range of bf16.
constexpr double kVanishes = 0x1p-126;

} // namespace

double scaleOf(std::span<const double> values) {
  double low = kUnbounded, high = -kUnbounded;
  for (const double value : values)
    if (std::isfinite(value)) {
      low = std::min(low, value);
      high = std::max(high, value);
    }
  if (low > high)
    return 0;
  const double range = high - low, magnitude = std::max(std::abs(low), std::abs(high));
  return range < kNearConstant * magnitude ? magnitude : range;
}

std::vector<double> boundsOf(std::span<const double> moved, std::span<const double> exact) {
  const double most = kMostMoved * scaleOf(exact);
  double squares = 0;
  size_t count = 0;
  for (const double one : moved)
    if (one <= most) {
      squares += one * one;
      ++count;
    }
  const double usual = count > 0 ? std::sqrt(squares / static_cast<double>(count)) : 0;
  std::vector<double> bounds;
  bounds.reserve(moved.size());
  for (const double one : moved)
    bounds.push_back(kTimesMoved * std::max(one, usual));
  return bounds;
}

std::vector<double> allowedErrors(std::span<const double> moved, std::span<const double> exact,
                                  double noise) {
  std::vector<double> allowed = boundsOf(moved, exact);
  const double most = kMostMoved * scaleOf(exact);
  for (size_t i = 0; i < allowed.size(); ++i)
    allowed[i] = moved[i] <= most && std::isfinite(moved[i])
                     ? std::max({allowed[i], noise, spacingOfBf16(exact[i])})
                     : kUnbounded;
  return allowed;
}

double noiseOf(const reference::Tensors &inputs) {
  double most = 0;
  for (const reference::Tensor &input : inputs)
    for (const double value : input.values)
      most = std::isfinite(value) ? std::max(most, std::abs(value)) : most;
  return most * 0x1p-24;
}

bool CheckedElement::isBeyond() const { return error > bound + kVanishes; }

double CheckedElement::shareOfBound() const { return error > 0 ? error / (bound + kVanishes) : 0; }

void forChecked(std::span<const double> found, std::span<const double> exact,
                std::span<const double> moved, double noise,
                llvm::function_ref<void(const CheckedElement &)> visit) {
  const std::vector<double> allowed = allowedErrors(moved, exact, noise);
  for (size_t i = 0; i < exact.size(); ++i) {
    if (!std::isfinite(allowed[i]))
      continue;
    // Beyond the range of bf16 the result is infinite.
    const double nearest = nearestBf16(exact[i]);
    const double one = std::isfinite(nearest) ? exact[i] : nearest;
    CheckedElement checked{i, found[i], exact[i], 0, allowed[i]};
    if (found[i] != one && !(std::isnan(found[i]) && !std::isfinite(one))) {
      const double error = std::abs(found[i] - one);
      checked.error = std::isfinite(error) ? error : kUnbounded;
    }
    visit(checked);
  }
}

Judgement judge(std::span<const double> found, const Spread &wanted, double noise) {
  const std::vector<double> &exact = wanted.exact().values;
  const double scale = scaleOf(exact);
  Judgement judgement;
  judgement.elements = judgement.unchecked = exact.size();
  double farthest = 0;
  forChecked(found, exact, wanted.moved(), noise, [&](const CheckedElement &one) {
    --judgement.unchecked;
    if (!one.isBeyond()) {
      judgement.largestError = std::max(judgement.largestError, scale > 0 ? one.error / scale : 0);
      return;
    }
    ++judgement.beyond;
    if (!judgement.worst || one.shareOfBound() > farthest) {
      farthest = one.shareOfBound();
      judgement.worst = Wrong{one.element, one.found, one.wanted, one.bound};
    }
  });
  return judgement;
}

} // namespace sluice::check
