#include "sim/vm/tensor_ram.h"

#include <algorithm>

#include "hw/isa/isa.h"

namespace sluice::vm {

TensorRam::TensorRam(const format::Geometry &geometry, const std::vector<format::RowImage> &images)
    : lanes(geometry.lanes), inboxRows(geometry.inboxRows), localRows(geometry.localRows),
      storage(size_t{inboxRows + localRows + 1} * lanes) {
  for (const format::RowImage &image : images)
    for (uint32_t r = 0; r < image.lanes.size() / lanes; ++r)
      std::copy_n(&image.lanes[size_t{r} * lanes], lanes, row(image.address + r).begin());
}

size_t TensorRam::offset(uint32_t address) const {
  uint32_t index = inboxRows + localRows;
  if (address < inboxRows)
    index = address;
  else if (address - isa::kLocalBase < localRows)
    index = inboxRows + (address - isa::kLocalBase);
  return size_t{index} * lanes;
}

} // namespace sluice::vm
