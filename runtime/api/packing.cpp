#include "runtime/api/packing.h"

#include <algorithm>
#include <cstring>

#include "runtime/api/element.h"
#include "runtime/format/host_rows.h"

namespace sluice::runtime {
namespace {

using format::HostTensor;
using format::HostType;

/// Element `index` of an array that need not be aligned.
template <typename T> T get(const void *data, int64_t index) {
  T value;
  std::memcpy(&value, static_cast<const char *>(data) + static_cast<size_t>(index) * sizeof(T),
              sizeof(T));
  return value;
}
template <typename T> void put(void *data, int64_t index, T value) {
  std::memcpy(static_cast<char *>(data) + static_cast<size_t>(index) * sizeof(T), &value,
              sizeof(T));
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
  return static_cast<uint64_t>(addressing::elementsOf(tensor.shape));
}

void pack(const HostTensor &tensor, uint32_t lanes, const void *data, HostType type,
          std::span<uint16_t> rows, uint32_t steps) {
  std::fill(rows.begin(), rows.end(), uint16_t{0});
  format::hostSlots(tensor, lanes, steps).forEach([&](int64_t element, int64_t slot) {
    switch (type) {
    case HostType::Float32:
      rows[static_cast<size_t>(slot)] = bf16FromFloat(get<float>(data, element));
      break;
    case HostType::BFloat16:
      rows[static_cast<size_t>(slot)] = get<uint16_t>(data, element);
      break;
    case HostType::Float16:
      rows[static_cast<size_t>(slot)] = bf16FromFloat(floatFromHalf(get<uint16_t>(data, element)));
      break;
    case HostType::Float64:
      rows[static_cast<size_t>(slot)] = bf16FromDouble(get<double>(data, element));
      break;
    }
  });
}

void unpack(const HostTensor &tensor, uint32_t lanes, std::span<const uint16_t> rows, void *data,
            HostType type, uint32_t steps) {
  format::hostSlots(tensor, lanes, steps).forEach([&](int64_t element, int64_t slot) {
    const uint16_t bits = rows[static_cast<size_t>(slot)];
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
