// The monoids of reductions: each is defined here once, by how an element becomes a partial result
// (wrap), how two become one (merge), the one that changes nothing (zero), and what comes out
// (unwrap). Merging is associative and commutative up to rounding, so any tree in any order gives
// the reduction of all elements.
#pragma once

#include <cstdint>

namespace sluice::reference {

/// The named reductions.
enum class Monoid : uint8_t { Sum, Product, Max, Min, Mean, Variance, LogSumExp, ArgMax };

/// What is known of some of the elements.
struct Partial {
  double count = 0; ///< of elements
  double value = 0; ///< their sum, product, maximum, minimum or mean
  double more = 0;  ///< Variance: the sum of squared distances from the mean; LogSumExp: the sum of
                    ///< exp(x - maximum); ArgMax: the index of the maximum
  bool operator==(const Partial &) const = default;
};

struct MonoidDefinition {
  Partial zero;
  /// Of an element and its index among all that are reduced.
  Partial (*wrap)(double element, double index);
  Partial (*merge)(const Partial &, const Partial &);
  double (*unwrap)(const Partial &);
};

/// Variance is the population variance, merged as Chan, Golub and LeVeque have it (1979): nothing
/// cancels, however far the elements are from 0. A NaN element makes max, min and logsumexp NaN.
/// ArgMax is the index of the first maximum or NaN.
const MonoidDefinition &definition(Monoid monoid);

} // namespace sluice::reference
