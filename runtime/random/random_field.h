// Random tensors as functions of a key and of coordinates: an element depends on nothing else, so
// a part of a field is the same whether it is cut out or made alone, in whatever order.
#pragma once

#include <cstdint>
#include <utility>

namespace sluice::random {

/// What tells one field from another. The streams of a seed have nothing in common.
struct RandomKey {
  uint64_t seed = 0;
  uint64_t stream = 0;

  bool operator==(const RandomKey &) const = default;
};

/// Returns the key of the numbers that an inference draws. `seed` comes from the user, `stream`
/// from the node.
RandomKey keyOfInference(uint64_t seed, uint64_t stream, uint64_t inference);

/// An unbounded row of independent numbers; a tensor takes one for each element, in row-major
/// order. Element `i` is made of the Philox 4x32-10 block with counter (i, stream) and key `seed`,
/// the low word of each number first.
class RandomField {
public:
  explicit RandomField(RandomKey key) : key(key) {}

  /// Of all multiples of 2^-53 in [0, 1), each with equal probability.
  [[nodiscard]] double uniform(uint64_t element) const;
  /// With mean 0 and deviation 1, by the method of Box and Muller; of magnitude below 8.6.
  [[nodiscard]] double normal(uint64_t element) const;
  /// With the distribution -log(-log(uniform)), positive uniform: the largest of x[i] + gumbel is
  /// at i with probability exp(x[i]) / sum exp(x).
  [[nodiscard]] double gumbel(uint64_t element) const;
  /// Whether an event of this probability happens: never at 0, always at 1.
  [[nodiscard]] bool bernoulli(uint64_t element, double probability) const {
    return uniform(element) < probability;
  }

private:
  /// Two numbers as `uniform` has them.
  [[nodiscard]] std::pair<double, double> two(uint64_t element) const;

  RandomKey key;
};

/// The largest bf16 number that is not above `value`, for `value` in [0, 1]: compared with a bf16
/// number, it gives what `value` gives.
double floorToBf16(double value);

} // namespace sluice::random
