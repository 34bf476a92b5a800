// Conversion between arrays of the host and rows at the host port (docs/program-format.md, Tensors
// at the host port).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "runtime/format/host_tensor.h"

namespace sluice::runtime {

/// Returns the number of elements of a tensor.
uint64_t elementCount(const format::HostTensor &tensor);

/// Packs a row-major array of `type` into tensor.rows rows of `lanes` lanes. Lanes beyond the
/// extent become 0. The array has elementCount(tensor) elements, one for each row if the tensor has
/// a lookup, or those of the array of which the tensor is a part. If the tensor has a step axis,
/// the rows of all steps follow each other. The elements must be within the limits of the tensor
/// (refusedElement).
void pack(const format::HostTensor &tensor, uint32_t lanes, const void *data, format::HostType type,
          std::span<uint16_t> rows, uint32_t steps = 1);

/// The elements of an array that belong to an input.
struct ElementsView {
  const void *data = nullptr;
  format::HostType type = format::HostType::Float32;
  std::span<const int64_t> shape; ///< of the array; it may begin with axes for steps
};

/// Returns a message about the first element that is no integer within the limits of an input; an
/// empty text if there is none:
/// "input 'n' has 1001 at [0, 3], allowed: integers from -256 to 256 (int32 in the model)".
std::string refusedElement(std::string_view input, format::HostType inModel,
                           const format::Limits &limits, const ElementsView &elements);

/// Returns an element of an array as a number. Integers beyond 2^53 are rounded to odd, so that a
/// second rounding to fewer bits gives the same as one rounding of the integer.
double elementOf(const void *data, format::HostType type, uint64_t element);

/// Unpacks rows into an array: the reverse of pack(). Lanes beyond the extent and skipped positions
/// are ignored. An integer outside the range of `type` becomes the nearest one in the range; NaN
/// becomes 0.
void unpack(const format::HostTensor &tensor, uint32_t lanes, std::span<const uint16_t> rows,
            void *data, format::HostType type, uint32_t steps = 1);

} // namespace sluice::runtime
