// The distribution of random numbers, as a program file has it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/random/random_field.h"

namespace sluice::random {

enum class Distribution : uint8_t {
  Uniform = 1,   ///< from `first` to `second`
  Normal = 2,    ///< with the mean `first` and the deviation `second`
  Bernoulli = 3, ///< 1 with the probability `first`, else 0
  Gumbel = 4,    ///< -log(-log(u)), u uniform in [0, 1)
  Threshold = 5, ///< uniform in [0, 1), rounded down to bf16
};
inline constexpr Distribution kLastDistribution = Distribution::Threshold;

/// The random numbers that the host draws anew for every inference.
struct RandomNumbers {
  Distribution distribution = Distribution::Uniform;
  double first = 0, second = 0; ///< 0 where the distribution has no such parameter
  uint64_t stream = 0;          ///< tells the nodes of a model apart

  bool operator==(const RandomNumbers &) const = default;
};

/// Returns an element of a field with the distribution of `numbers`.
double elementOf(const RandomField &field, const RandomNumbers &numbers, uint64_t element);

/// Returns "normal"; an empty text for another number.
std::string_view nameOf(Distribution distribution);
/// Returns the distribution of that name.
std::optional<Distribution> distributionNamed(std::string_view name);

/// Returns "normal, mean 0, deviation 0.5".
std::string textOf(const RandomNumbers &numbers);

/// Returns what is wrong with a distribution; an empty text if nothing is.
std::string problemOf(const RandomNumbers &numbers);

} // namespace sluice::random
