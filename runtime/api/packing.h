// Host arrays <-> rows of the host port (docs/program-format.md, Tensors at the
// host port).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/format/program.h"

namespace sluice::runtime {

/// Bytes of one element; 0 if there is no such type.
size_t elementBytes(format::HostType type);

/// Product of the shape.
uint64_t elementCount(const format::HostTensor &tensor);

/// Packs a row-major array of elementCount(tensor) elements of `type` into
/// tensor.rows rows of `lanes`; lanes beyond the extent become zero.
void pack(const format::HostTensor &tensor, uint32_t lanes, const void *data, format::HostType type,
          std::span<uint16_t> rows);

/// The reverse; lanes beyond the extent are ignored.
void unpack(const format::HostTensor &tensor, uint32_t lanes, std::span<const uint16_t> rows,
            void *data, format::HostType type);

} // namespace sluice::runtime
