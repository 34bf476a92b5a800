#include "runtime/format/packed_rows.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runtime/format/steps.h"

namespace sluice::format {
namespace {

/// Whether the axes of `packed` are neighbouring axes of `shape`, all of them in their order.
bool areNeighbours(const std::vector<int64_t> &shape, const std::vector<int64_t> &packed) {
  auto axis = shape.begin();
  for (const int64_t extent : packed) {
    int64_t elements = 1;
    while (elements < extent && axis != shape.end())
      elements *= *axis++;
    if (elements != extent)
      return false;
  }
  return packed.size() <= shape.size() &&
         std::all_of(axis, shape.end(), [](int64_t extent) { return extent == 1; });
}

} // namespace

PackedRows::PackedRows(std::vector<int64_t> shape, const std::vector<int64_t> &packed,
                       uint32_t dataDim)
    : shape(std::move(shape)), packed(packed.empty() ? this->shape : packed), dataDim(dataDim) {}

PackedRows::PackedRows(const ModelTensor &tensor)
    : PackedRows(tensor.shape, tensor.packed, tensor.dataDim) {}

PackedRows::PackedRows(const HostTensor &tensor, uint32_t steps)
    : PackedRows(stepShape(tensor, steps), tensor.packed, tensor.dataDim) {}

addressing::Addressing PackedRows::slots(int64_t lanes) const {
  const auto rows =
      addressing::Addressing::strided(packed, addressing::rowStrides(packed, dataDim, lanes));
  return packed == shape ? rows : rows.reshaped(shape);
}

int64_t PackedRows::rows(int64_t lanes) const { return addressing::rowsOf(packed, dataDim, lanes); }

uint32_t PackedRows::tensorDim() const {
  if (packed == shape)
    return dataDim;
  // What moves as far with each step. Along an axis of extent 1 there is none.
  const int64_t stride = addressing::rowMajorStrides(packed)[dataDim];
  const addressing::Indices strides = addressing::rowMajorStrides(shape);
  size_t axis = shape.size() - 1;
  while (axis > 0 && (strides[axis] != stride || (shape[axis] == 1 && packed[dataDim] != 1)))
    --axis;
  return static_cast<uint32_t>(axis);
}

std::optional<std::string> PackedRows::problem() const {
  if (dataDim >= std::max<size_t>(packed.size(), 1))
    return fmt::format("the data dimension is {}, the rank is {}", dataDim, packed.size());
  if (!areNeighbours(shape, packed))
    return fmt::format("the packed extents [{}] do not merge neighbouring axes of [{}]",
                       fmt::join(packed, ", "), fmt::join(shape, ", "));
  return std::nullopt;
}

} // namespace sluice::format
