#include "runtime/random/random_numbers.h"

#include <fmt/format.h>

namespace sluice::random {

double elementOf(const RandomField &field, const RandomNumbers &numbers, uint64_t element) {
  switch (numbers.distribution) {
  case Distribution::Uniform:
    return numbers.first + (numbers.second - numbers.first) * field.uniform(element);
  case Distribution::Normal:
    return numbers.first + numbers.second * field.normal(element);
  case Distribution::Bernoulli:
    return field.bernoulli(element, numbers.first) ? 1 : 0;
  case Distribution::Gumbel:
    return field.gumbel(element);
  case Distribution::Threshold:
    return floorToBf16(field.uniform(element));
  }
  return 0;
}

std::string_view nameOf(Distribution distribution) {
  constexpr std::string_view names[] = {"",          "uniform", "normal",
                                        "bernoulli", "gumbel",  "threshold"};
  return distribution <= kLastDistribution ? names[static_cast<size_t>(distribution)] : "";
}

std::optional<Distribution> distributionNamed(std::string_view name) {
  for (auto one = Distribution::Uniform; one <= kLastDistribution;
       one = static_cast<Distribution>(static_cast<uint8_t>(one) + 1))
    if (nameOf(one) == name)
      return one;
  return std::nullopt;
}

std::string textOf(const RandomNumbers &numbers) {
  switch (numbers.distribution) {
  case Distribution::Uniform:
    return fmt::format("uniform from {} to {}", numbers.first, numbers.second);
  case Distribution::Normal:
    return fmt::format("normal, mean {}, deviation {}", numbers.first, numbers.second);
  case Distribution::Bernoulli:
    return fmt::format("1 with probability {}, else 0", numbers.first);
  case Distribution::Gumbel:
    return "Gumbel";
  case Distribution::Threshold:
    return "uniform from 0 to 1, rounded down to bf16";
  }
  return "";
}

std::string problemOf(const RandomNumbers &numbers) {
  const auto number = static_cast<unsigned>(numbers.distribution);
  if (number < 1 || number > static_cast<unsigned>(kLastDistribution))
    return fmt::format("the distribution is {}, allowed: 1 to {}", number,
                       static_cast<unsigned>(kLastDistribution));
  if (numbers.distribution == Distribution::Bernoulli &&
      !(numbers.first >= 0 && numbers.first <= 1))
    return fmt::format("the probability is {}, allowed: 0 to 1", numbers.first);
  return "";
}

} // namespace sluice::random
