#include "compiler/reference/monoid.h"

#include <cmath>
#include <limits>

namespace sluice::reference {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Partial element(double x, double) { return {1, x, 0}; }
double value(const Partial &all) { return all.value; }

Partial sum(const Partial &a, const Partial &b) {
  return {a.count + b.count, a.value + b.value, 0};
}

Partial product(const Partial &a, const Partial &b) {
  return {a.count + b.count, a.value * b.value, 0};
}

double larger(double a, double b) { return std::isnan(a) || a > b ? a : b; }
double smaller(double a, double b) { return std::isnan(a) || a < b ? a : b; }

Partial largest(const Partial &a, const Partial &b) {
  return {a.count + b.count, larger(a.value, b.value), 0};
}

Partial smallest(const Partial &a, const Partial &b) {
  return {a.count + b.count, smaller(a.value, b.value), 0};
}

double mean(const Partial &all) { return all.value / all.count; }

/// The distance of an element from itself is 0, of an infinity NaN.
Partial still(double x, double) { return {1, x, x - x}; }

Partial spread(const Partial &a, const Partial &b) {
  if (a.count == 0 || b.count == 0)
    return a.count == 0 ? b : a;
  const double count = a.count + b.count;
  const double distance = b.value - a.value;
  return {count, a.value + distance * (b.count / count),
          a.more + b.more + distance * distance * (a.count * b.count / count)};
}

double variance(const Partial &all) { return all.more / all.count; }

Partial exponential(double x, double) { return {1, x, 1}; }

Partial exponentials(const Partial &a, const Partial &b) {
  if (a.count == 0 || b.count == 0)
    return a.count == 0 ? b : a;
  const double peak = larger(a.value, b.value);
  const auto relative = [peak](const Partial &one) { // infinities are equal to the peak
    return one.value == peak ? one.more : one.more * std::exp(one.value - peak);
  };
  return {a.count + b.count, peak, relative(a) + relative(b)};
}

double logarithm(const Partial &all) { return all.value + std::log(all.more); }

Partial indexed(double x, double index) { return {1, x, index}; }

Partial firstLargest(const Partial &a, const Partial &b) {
  const auto isBefore = [](const Partial &one, const Partial &other) {
    if (one.count == 0 || other.count == 0)
      return other.count == 0;
    if (std::isnan(one.value) != std::isnan(other.value))
      return std::isnan(one.value);
    return one.value > other.value || (!(one.value < other.value) && one.more < other.more);
  };
  const Partial &first = isBefore(a, b) ? a : b;
  return {a.count + b.count, first.value, first.more};
}

double index(const Partial &all) { return all.more; }

} // namespace

const MonoidDefinition &definition(Monoid monoid) {
  static constexpr MonoidDefinition kDefinitions[] = {
      {{}, element, sum, value},
      {{0, 1, 0}, element, product, value},
      {{0, -kInfinity, 0}, element, largest, value},
      {{0, kInfinity, 0}, element, smallest, value},
      {{}, element, sum, mean},
      {{}, still, spread, variance},
      {{0, -kInfinity, 0}, exponential, exponentials, logarithm},
      {{}, indexed, firstLargest, index},
  };
  return kDefinitions[static_cast<size_t>(monoid)];
}

} // namespace sluice::reference
