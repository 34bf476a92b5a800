// What is known of integers that the program computes. It computes them in bf16, which has every
// one of magnitude 256 or less: what may be beyond is not computed, so that none is rounded
// without a word.
#pragma once

#include <optional>

#include "compiler/frontend/onnx/host_tensor.h"

namespace sluice::frontend {

/// Up to which magnitude bf16 has every integer.
inline constexpr double kMostExact = 256;

/// The values that integers may have, both ends included.
struct IntegerRange {
  double least = 0;
  double most = 0;

  double magnitude() const;
  bool operator==(const IntegerRange &) const = default;
  bool isIn(const IntegerRange &other) const { return least >= other.least && most <= other.most; }
  IntegerRange operator-() const { return {-most, -least}; }
  IntegerRange operator+(const IntegerRange &other) const {
    return {least + other.least, most + other.most};
  }
  IntegerRange operator*(const IntegerRange &other) const;
  /// Of sums of `count` of them.
  IntegerRange times(int64_t count) const;
  /// Of products of `count` of them.
  IntegerRange power(int64_t count) const;
};

/// That of both.
IntegerRange joined(const IntegerRange &one, const IntegerRange &other);

/// What an integer type or bool has.
IntegerRange rangeOf(DataType type);

/// Returns the integers that an input of this type accepts: those of the type in the range in which
/// bf16 represents every integer. Returns nothing for a floating-point type.
std::optional<IntegerRange> acceptedRange(DataType type);

/// "in [0, 300]", or "of any size" where nothing is known but a type of 32 or 64 bits.
std::string rangeText(const IntegerRange &range);

/// Returns whether bf16 represents an integer exactly.
bool isExact(int64_t integer);

} // namespace sluice::frontend
