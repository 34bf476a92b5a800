// Inputs that bring out different faults.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "compiler/reference/tensor.h"
#include "runtime/format/host_tensor.h"

namespace sluice::check {

/// How the elements of random inputs are distributed.
enum class Kind : uint8_t {
  Unit,     ///< normal, with deviation 1
  Positive, ///< the magnitudes of such numbers
  OneHot,   ///< 1 at one position of the last axis, elsewhere 0
  Large,    ///< normal, with deviation 100
  Small,    ///< normal, with deviation 0.01
  Constant, ///< the same number everywhere
  Offset,   ///< normal, around 64 deviations
};
inline constexpr size_t kKinds = 7;

/// The kind of the n-th inputs: every kind has its turn.
Kind kindOf(size_t number);
/// "normal, deviation 100"
std::string textOf(Kind kind);

/// Returns bf16 numbers; the same for the same seed and stream, in every element independent. Where
/// the input has limits, they are integers within them: of all sizes, small, positive, one-hot or
/// constant.
reference::Tensor randomInput(const reference::Shape &shape, Kind kind, uint64_t seed,
                              uint32_t stream,
                              const std::optional<format::Limits> &limits = std::nullopt);

} // namespace sluice::check
