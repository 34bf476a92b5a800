// Rounding to bf16 as the machine does it, and in other directions.
#pragma once

#include <cstdint>

#include "compiler/reference/tensor.h"

namespace sluice::check {

/// Rounds numbers to bf16. Results below the normal range are zero with the sign of the number, and
/// results above it are infinite.
class Rounding {
public:
  enum class Direction : uint8_t { Nearest, Up, Down, Random };

  explicit Rounding(Direction direction, uint64_t seed = 0) : towards(direction), state(seed) {}

  [[nodiscard]] Direction direction() const { return towards; }
  /// Rounds to the nearest number (ties to even), upwards, downwards, or in a random direction.
  double operator()(double value);
  void round(reference::Tensor &tensor);
  /// Returns a number in [-1, 1] for choices that depend on the direction: 0 for the nearest
  /// number, 1 upwards, -1 downwards, else a random one.
  double choice();

private:
  Direction towards;
  uint64_t state; ///< of the random directions

  uint64_t random();
};

/// Rounds to the nearest bf16 number.
double nearestBf16(double value);

/// Returns the distance of neighbouring bf16 numbers at a number; 0 for what is not finite.
double spacingOfBf16(double value);

} // namespace sluice::check
