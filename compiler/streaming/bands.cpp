#include "compiler/streaming/bands.h"

#include <cmath>

#include "compiler/reference/ops.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

namespace sluice::streaming {
namespace {

using reference::Tensor;

/// exp is 0 in single precision from -104 on. Exporters mask with -1e4, -1e9 or minus infinity.
constexpr double kMasked = -9000;

} // namespace

bool dependsOnDistance(const Tensor &tensor, const ByPair &pairs) {
  bool does = true;
  pairs.forEach([&](int64_t base) {
    for (int64_t i = 1; i < pairs.positions(); ++i)
      for (int64_t j = 1; j < pairs.pairedWith(); ++j)
        does &= tensor.values[pairs.at(base, i, j)] == tensor.values[pairs.at(base, i - 1, j - 1)];
  });
  return does;
}

Tensor filled(llvm::ArrayRef<int64_t> shape, double value) {
  Tensor tensor(reference::Shape(shape.begin(), shape.end()));
  std::ranges::fill(tensor.values, value);
  return tensor;
}

Tensor firstAlong(const Tensor &tensor, unsigned axis) {
  const reference::Shape starts(tensor.shape.size(), 0), steps(tensor.shape.size(), 1);
  reference::Shape sizes = tensor.shape;
  sizes[axis] = 1;
  return reference::slice(tensor, starts, sizes, steps);
}

bool isSameAlong(const Tensor &tensor, unsigned axis) {
  return reference::broadcast(firstAlong(tensor, axis), tensor.shape).values == tensor.values;
}

std::vector<double> sameInAll(const std::vector<Tensor> &results) {
  std::vector<double> same;
  for (const unsigned i : llvm::seq<unsigned>(0, results.front().values.size())) {
    const auto is = [&](auto holds) {
      return llvm::all_of(results, [&](const Tensor &one) { return holds(one.values[i]); });
    };
    const double first = results.front().values[i];
    const bool isSame = is([&](double value) { return value == first; }),
               isMasked = is([](double value) { return value <= kMasked; });
    same.push_back(isMasked ? kNothing : isSame ? first : std::numeric_limits<double>::quiet_NaN());
  }
  return same;
}

std::optional<Band> bandOf(const std::vector<double> &outside, const ByPair &pairs) {
  const int64_t length = pairs.positions();
  if (pairs.pairedWith() != length)
    return std::nullopt;
  const auto isInside = [&](int64_t base, int64_t position, int64_t other) {
    return std::isnan(outside[pairs.at(base, position, other)]);
  };
  // The last position has all of those before it, the first one all behind it.
  Band band;
  while (band.older + 1 < length && isInside(0, length - 1, length - 2 - band.older))
    ++band.older;
  while (band.newer + 1 < length && isInside(0, 0, band.newer + 1))
    ++band.newer;
  if (band.older + 1 == length || band.newer + 1 == length)
    return std::nullopt;
  const double beyond = outside[pairs.at(0, band.older + 1, 0)];
  bool same = true;
  pairs.forEach([&](int64_t base) {
    for (int64_t position = 0; position < length; ++position)
      for (int64_t other = 0; other < length; ++other) {
        const int64_t back = position - other;
        same &= back > band.older || -back > band.newer
                    ? outside[pairs.at(base, position, other)] == beyond
                    : isInside(base, position, other);
      }
  });
  return same ? std::optional(band) : std::nullopt;
}

} // namespace sluice::streaming
