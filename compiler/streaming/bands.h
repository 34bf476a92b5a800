// Bands of pairs: tensors with an element for each position of a sequence and each one of another,
// of which those near each other count.
#pragma once

#include <limits>
#include <optional>
#include <vector>

#include "compiler/reference/tensor.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace sluice::streaming {

/// Which positions of a sequence each position is paired with: those from `older` before it to
/// `newer` behind it.
struct Band {
  int64_t older = 0, newer = 0;
  bool swapped = false; ///< they are along the axis of the sequence, not along that of the others
  double outside = 0;   ///< what the mask makes of the others
  /// The same, but for the largest number where kNothing stands for several.
  double nearest = 0;

  bool operator==(const Band &other) const {
    return older == other.older && newer == other.newer && swapped == other.swapped;
  }
};

/// What is masked, where nothing comes near it.
inline constexpr double kNothing = -std::numeric_limits<double>::infinity();

/// Elements of a tensor by their places along two axes, and along all others together.
class ByPair {
public:
  ByPair(const reference::Shape &shape, unsigned axis, unsigned others)
      : shape(shape), strides(reference::strides(shape)), axis(axis), others(others) {}

  [[nodiscard]] int64_t positions() const { return shape[axis]; }
  [[nodiscard]] int64_t pairedWith() const { return shape[others]; }
  /// Calls with the index of each element at place 0 of both axes.
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

/// Whether an element depends on how far apart its positions are, and not on where.
bool dependsOnDistance(const reference::Tensor &tensor, const ByPair &pairs);

/// Whether all elements along an axis are the same.
bool isSameAlong(const reference::Tensor &tensor, unsigned axis);

/// By element, what it is in all results; NaN where it differs. What is masked counts as kNothing:
/// what is so far below everything else has no weight in a softmax.
std::vector<double> sameInAll(const std::vector<reference::Tensor> &results);

/// The band that is left where `outside` is not a number; nothing if it is none: not the same one
/// around every position, or as far as the sequence.
std::optional<Band> bandOf(const std::vector<double> &outside, const ByPair &pairs);

} // namespace sluice::streaming
