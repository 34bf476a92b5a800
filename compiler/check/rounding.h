// Rounding to bf16, to nearest as in the machine and in other directions.
#pragma once

#include <cstdint>
#include <optional>

#include "compiler/reference/tensor.h"

namespace sluice::check {

/// Rounds numbers to bf16. A result below the normal range becomes zero with the sign of the
/// number; a result above it becomes infinite.
class Rounding {
public:
  enum class Direction : uint8_t { Nearest, Up, Down, Random };

  explicit Rounding(Direction direction, uint64_t seed = 0) : towards(direction), state(seed) {}

  [[nodiscard]] Direction direction() const { return towards; }
  /// Rounds to the nearest number (ties to even), upwards, downwards, or in a random direction. A
  /// random one leaves one number in four as it is.
  double operator()(double value);
  void round(reference::Tensor &tensor);
  /// Rounds a constant, in which every finite number stays finite. Returns nothing if it stays as
  /// it is.
  std::optional<reference::Tensor> roundedConstant(const reference::Tensor &tensor);
  /// Returns the direction as a number in [-1, 1]: 0 for Nearest, 1 for Up, -1 for Down and a
  /// random number for Random.
  double choice();

private:
  Direction towards;
  uint64_t state; ///< of the random directions

  uint64_t random();

  enum class Quick : uint8_t { Impossible, Same, Changed };
  template <bool nearest>
  Quick roundFloats(const reference::Tensor &from, reference::Tensor &to) const;
};

/// Rounds to the nearest bf16 number.
double nearestBf16(double value);

/// Returns the distance between adjacent bf16 numbers at a number; 0 if it is not finite.
double spacingOfBf16(double value);

} // namespace sluice::check
