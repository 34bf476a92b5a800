#include "runtime/api/packing.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "runtime/api/element.h"
#include "runtime/format/steps.h"

namespace sluice::runtime {
namespace {

using format::HostTensor;
using format::HostType;

/// Calls visit(element, slot) for every element of the array; slot is its place
/// in the rows.
template <typename Visit>
void forEachElement(const HostTensor &tensor, uint64_t lanes, Visit visit) {
  uint64_t outer = 1;
  uint64_t inner = 1;
  for (size_t i = 0; i < tensor.shape.size(); ++i)
    if (i != tensor.dataDim)
      (i < tensor.dataDim ? outer : inner) *= static_cast<uint64_t>(tensor.shape[i]);
  const uint64_t extent =
      tensor.shape.empty() ? 1 : static_cast<uint64_t>(tensor.shape[tensor.dataDim]);
  const uint64_t rowsPerIndex = (extent + lanes - 1) / lanes;
  uint64_t element = 0;
  for (uint64_t o = 0; o < outer; ++o)
    for (uint64_t e = 0; e < extent; ++e)
      for (uint64_t i = 0; i < inner; ++i) {
        const uint64_t row = (o * inner + i) * rowsPerIndex + e / lanes;
        visit(element++, row * lanes + e % lanes);
      }
}

/// The same of a tensor with a part for each step.
template <typename Visit>
void forEachStepElement(const HostTensor &tensor, uint32_t steps, uint64_t lanes, Visit visit) {
  const std::vector<int64_t> part = format::stepShape(tensor, steps);
  const size_t rank = part.size(), along = *tensor.stepAxis;
  // Rows from one index of an axis to the next, in a part.
  std::vector<uint64_t> stride(rank);
  uint64_t rows = (static_cast<uint64_t>(part[tensor.dataDim]) + lanes - 1) / lanes;
  for (size_t i = rank; i-- > 0;)
    if (i != tensor.dataDim) {
      stride[i] = rows;
      rows *= static_cast<uint64_t>(part[i]);
    }
  std::vector<int64_t> index(rank);
  for (uint64_t element = 0, count = elementCount(tensor); element < count; ++element) {
    const int64_t position = index[along] + int64_t{tensor.skipped};
    auto row = static_cast<uint64_t>(position / part[along]) * tensor.rows;
    uint64_t lane = 0;
    for (size_t i = 0; i < rank; ++i) {
      const auto at = static_cast<uint64_t>(i == along ? position % part[along] : index[i]);
      if (i == tensor.dataDim)
        lane = at;
      else
        row += at * stride[i];
    }
    visit(element, (row + lane / lanes) * lanes + lane % lanes);
    for (size_t i = rank; i-- > 0 && ++index[i] == tensor.shape[i];)
      index[i] = 0;
  }
}

/// Calls visit(element, slot) for every element; slot is its place in the rows of all steps.
template <typename Visit>
void forEach(const HostTensor &tensor, uint32_t steps, uint64_t lanes, Visit visit) {
  if (tensor.stepAxis)
    forEachStepElement(tensor, steps, lanes, visit);
  else
    forEachElement(tensor, lanes, visit);
}

/// Element `index` of an array that need not be aligned.
template <typename T> T get(const void *data, uint64_t index) {
  T value;
  std::memcpy(&value, static_cast<const char *>(data) + index * sizeof(T), sizeof(T));
  return value;
}
template <typename T> void put(void *data, uint64_t index, T value) {
  std::memcpy(static_cast<char *>(data) + index * sizeof(T), &value, sizeof(T));
}

} // namespace

size_t elementBytes(HostType type) {
  switch (type) {
  case HostType::Float32:
    return 4;
  case HostType::BFloat16:
  case HostType::Float16:
    return 2;
  case HostType::Float64:
    return 8;
  }
  return 0;
}

uint64_t elementCount(const HostTensor &tensor) {
  uint64_t count = 1;
  for (int64_t extent : tensor.shape)
    count *= static_cast<uint64_t>(extent);
  return count;
}

void pack(const HostTensor &tensor, uint32_t lanes, const void *data, HostType type,
          std::span<uint16_t> rows, uint32_t steps) {
  std::fill(rows.begin(), rows.end(), uint16_t{0});
  forEach(tensor, steps, lanes, [&](uint64_t element, uint64_t slot) {
    switch (type) {
    case HostType::Float32:
      rows[slot] = bf16FromFloat(get<float>(data, element));
      break;
    case HostType::BFloat16:
      rows[slot] = get<uint16_t>(data, element);
      break;
    case HostType::Float16:
      rows[slot] = bf16FromFloat(floatFromHalf(get<uint16_t>(data, element)));
      break;
    case HostType::Float64:
      rows[slot] = bf16FromDouble(get<double>(data, element));
      break;
    }
  });
}

void unpack(const HostTensor &tensor, uint32_t lanes, std::span<const uint16_t> rows, void *data,
            HostType type, uint32_t steps) {
  forEach(tensor, steps, lanes, [&](uint64_t element, uint64_t slot) {
    const uint16_t bits = rows[slot];
    switch (type) {
    case HostType::Float32:
      put(data, element, floatFromBf16(bits));
      break;
    case HostType::BFloat16:
      put(data, element, bits);
      break;
    case HostType::Float16:
      put(data, element, halfFromFloat(floatFromBf16(bits)));
      break;
    case HostType::Float64:
      put(data, element, static_cast<double>(floatFromBf16(bits)));
      break;
    }
  });
}

} // namespace sluice::runtime
