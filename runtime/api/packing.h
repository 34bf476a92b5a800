// Host arrays <-> rows of the host port (docs/program-format.md, Tensors at the
// host port).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/format/host_tensor.h"

namespace sluice::runtime {

/// Bytes of one element; 0 if there is no such type.
size_t elementBytes(format::HostType type);

/// Product of the shape.
uint64_t elementCount(const format::HostTensor &tensor);

/// Packs a row-major array of elementCount(tensor) elements of `type` into
/// tensor.rows rows of `lanes`; lanes beyond the extent become zero. Of a tensor with a part for
/// each of `steps` steps the rows are those of all of them, step after step.
void pack(const format::HostTensor &tensor, uint32_t lanes, const void *data, format::HostType type,
          std::span<uint16_t> rows, uint32_t steps = 1);

/// The reverse; lanes beyond the extent are ignored, and so are positions that are skipped.
void unpack(const format::HostTensor &tensor, uint32_t lanes, std::span<const uint16_t> rows,
            void *data, format::HostType type, uint32_t steps = 1);

} // namespace sluice::runtime
