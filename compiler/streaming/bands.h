// Bands of pairs. A tensor of pairs has an element for each position of one sequence and each
// position of another, like the scores of attention. In a band, only pairs of positions that are
// close to each other matter; a mask excludes the others.
#pragma once

#include <limits>
#include <optional>
#include <vector>

#include "compiler/reference/tensor.h"
#include "runtime/addressing/addressing.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace sluice::streaming {

/// The band in which position i is paired with the positions i - older to i + newer.
struct Band {
  int64_t older = 0, newer = 0; ///< in positions
  bool swapped = false; ///< the paired positions lie along the axis of the sequence instead of the
                        ///< axis of the others
  double outside = 0;   ///< value of all pairs outside of the band
  /// Like `outside`. If kNothing stands for several masked values, this is the largest of them.
  double nearest = 0;

  bool operator==(const Band &other) const {
    return older == other.older && newer == other.newer && swapped == other.swapped;
  }
};

/// Stands for masked values that are far below all others.
inline constexpr double kNothing = -std::numeric_limits<double>::infinity();

/// Addresses the elements of a tensor of pairs by their position, the position that it is paired
/// with, and a base index that stands for all other axes.
class ByPair {
public:
  ByPair(const reference::Shape &shape, unsigned axis, unsigned others)
      : shape(shape), strides(addressing::rowMajorStrides(shape)), axis(axis), others(others) {}

  [[nodiscard]] int64_t positions() const { return shape[axis]; }
  [[nodiscard]] int64_t pairedWith() const { return shape[others]; }
  /// Calls `call` with each base index: the index of each element at position 0 of both axes.
  void forEach(llvm::function_ref<void(int64_t)> call) const {
    for (int64_t i = 0; i < reference::elements(shape); ++i)
      if (i / strides[axis] % shape[axis] == 0 && i / strides[others] % shape[others] == 0)
        call(i);
  }
  [[nodiscard]] size_t at(int64_t base, int64_t position, int64_t other) const {
    return static_cast<size_t>(base + position * strides[axis] + other * strides[others]);
  }

private:
  const reference::Shape shape;
  const std::vector<int64_t> strides;
  const unsigned axis, others;
};

/// Whether each element depends only on the distance between its two positions.
bool dependsOnDistance(const reference::Tensor &tensor, const ByPair &pairs);

/// Returns a tensor whose elements all have the same value.
reference::Tensor filled(llvm::ArrayRef<int64_t> shape, double value);

/// Returns the first element along an axis, an axis of extent 1.
reference::Tensor firstAlong(const reference::Tensor &tensor, unsigned axis);

/// Whether all elements along an axis are equal.
bool isSameAlong(const reference::Tensor &tensor, unsigned axis);

/// Returns for each element its value if all results agree, otherwise NaN. Values that are too far
/// below all others to have a weight in a softmax become kNothing.
std::vector<double> sameInAll(const std::vector<reference::Tensor> &results);

/// Returns the band of the pairs for which `outside` is NaN. Returns nothing if these pairs are not
/// the same band around every position, or if the band is as wide as the sequence.
std::optional<Band> bandOf(const std::vector<double> &outside, const ByPair &pairs);

} // namespace sluice::streaming
