// The rows of one core's tensor RAM.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/format/geometry.h"
#include "runtime/format/images.h"

namespace sluice::vm {

/// The tensor RAM of one core, in two parts. Addresses outside both parts are a fault of the
/// program; they access one spare row, so that no access leaves the RAM.
class TensorRam {
public:
  TensorRam(const format::Geometry &geometry, const std::vector<format::RowImage> &images);

  std::span<uint16_t> row(uint32_t address) { return {&storage[offset(address)], lanes}; }
  std::span<const uint16_t> row(uint32_t address) const {
    return {&storage[offset(address)], lanes};
  }

private:
  size_t offset(uint32_t address) const;

  uint32_t lanes;
  uint32_t inboxRows;
  uint32_t localRows;
  std::vector<uint16_t> storage; ///< inbox, local rows, the spare row
};

} // namespace sluice::vm
