// Random inputs of several distributions, each of which reveals other faults.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/reference/tensor.h"
#include "runtime/api/drawn_array.h"
#include "runtime/format/host_tensor.h"

namespace sluice::frontend {
struct ImportedTensor;
} // namespace sluice::frontend

namespace sluice::check {

/// The distribution of the elements of random inputs.
enum class Kind : uint8_t {
  Unit,     ///< normal, with deviation 1
  Positive, ///< the magnitudes of normal numbers with deviation 1
  OneHot,   ///< 1 at one position of the last axis, 0 at all others
  Large,    ///< normal, with deviation 100
  Small,    ///< normal, with deviation 0.01
  Constant, ///< the same number everywhere
  Offset,   ///< normal, around 64 deviations
};
inline constexpr size_t kKinds = 7;

/// Returns the kind of the n-th inputs; the kinds alternate.
Kind kindOf(size_t number);
/// Returns a description: "normal, deviation 100".
std::string textOf(Kind kind);

/// Returns a tensor of independent random bf16 numbers, determined by `seed` and `stream`. If the
/// input has limits, the elements are integers within the limits: of all sizes, small, positive,
/// one-hot or constant, according to `kind`.
reference::Tensor randomInput(const reference::Shape &shape, Kind kind, uint64_t seed,
                              uint32_t stream,
                              const std::optional<format::Limits> &limits = std::nullopt);

/// Returns the tensor that the host draws for an array of random numbers.
reference::Tensor drawnTensor(const frontend::ImportedTensor &array,
                              const runtime::DrawnInference &of);

/// Returns random inputs for `arrays`, each user's of its own stream from `stream` on.
reference::Tensors randomInputs(const std::vector<frontend::ImportedTensor> &arrays, Kind kind,
                                const runtime::DrawnInference &of, uint32_t &stream);

} // namespace sluice::check
