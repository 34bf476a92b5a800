// Host arrays <-> rows of the host port (docs/program-format.md, Tensors at the
// host port).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "runtime/format/host_tensor.h"

namespace sluice::runtime {

/// Product of the shape.
uint64_t elementCount(const format::HostTensor &tensor);

/// Packs a row-major array of `type` into tensor.rows rows of `lanes`; lanes beyond the extent
/// become zero. The array has elementCount(tensor) elements, or one for each row of the lookup.
/// Of a tensor with a part for each of `steps` steps the rows are those of all of them, step after
/// step. An input with limits must have been found within them.
void pack(const format::HostTensor &tensor, uint32_t lanes, const void *data, format::HostType type,
          std::span<uint16_t> rows, uint32_t steps = 1);

/// The elements of an array that belong to an input.
struct ElementsView {
  const void *data = nullptr;
  format::HostType type = format::HostType::Float32;
  std::span<const int64_t> shape; ///< of the array, which may have axes for steps in front
};

/// Says which element is no integer within the limits of an input, "" if all are:
/// "input 'n' has 1001 at [0, 3], allowed: integers from -256 to 256 (int32 in the model)".
std::string refusedElement(std::string_view input, format::HostType inModel,
                           const format::Limits &limits, const ElementsView &elements);

/// The element of an array as a number; integers beyond 2^53 are rounded to odd, so that rounding
/// them again, to fewer bits, is as if from the integer.
double elementOf(const void *data, format::HostType type, uint64_t element);

/// The reverse of pack(); lanes beyond the extent are ignored, and so are positions that are
/// skipped. Integers that `type` does not have become the nearest one that it has, NaN becomes 0.
void unpack(const format::HostTensor &tensor, uint32_t lanes, std::span<const uint16_t> rows,
            void *data, format::HostType type, uint32_t steps = 1);

} // namespace sluice::runtime
