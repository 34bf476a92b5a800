#include "runtime/api/packing.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include <fmt/format.h>

#include "runtime/api/element.h"
#include "runtime/format/host_rows.h"
#include "runtime/format/index_code.h"

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

// Elements that C++ has no type for.
struct Half {
  uint16_t bits;
};
struct BFloat {
  uint16_t bits;
};
struct Truth { ///< not bool, which only has 0 and 1
  uint8_t byte;
};
/// Calls body with a value of the type that stores such elements.
template <typename Body> void forElementsOf(HostType type, Body body) {
  switch (type) {
  case HostType::Float32:
    return body(float{});
  case HostType::BFloat16:
    return body(BFloat{});
  case HostType::Float16:
    return body(Half{});
  case HostType::Float64:
    return body(double{});
  case HostType::Int8:
    return body(int8_t{});
  case HostType::UInt8:
    return body(uint8_t{});
  case HostType::Int16:
    return body(int16_t{});
  case HostType::UInt16:
    return body(uint16_t{});
  case HostType::Int32:
    return body(int32_t{});
  case HostType::UInt32:
    return body(uint32_t{});
  case HostType::Int64:
    return body(int64_t{});
  case HostType::UInt64:
    return body(uint64_t{});
  case HostType::Bool:
    return body(Truth{});
  }
}

template <typename T> double numberOf(T value) {
  if constexpr (sizeof(T) == 8 && std::is_integral_v<T>) {
    const bool isNegative = value < T{0};
    const auto bits = static_cast<uint64_t>(value), magnitude = isNegative ? -bits : bits;
    constexpr int kBits = 53;
    const int extra = std::max(0, 64 - std::countl_zero(magnitude) - kBits);
    const uint64_t lost = magnitude & ((uint64_t{1} << extra) - 1);
    const auto kept = static_cast<double>((magnitude >> extra | (lost != 0 ? 1 : 0)) << extra);
    return isNegative ? -kept : kept;
  } else {
    return static_cast<double>(value);
  }
}
double numberOf(Half value) { return floatFromHalf(value.bits); }
double numberOf(BFloat value) { return floatFromBf16(value.bits); }
double numberOf(Truth value) { return value.byte != 0 ? 1 : 0; }

template <typename T> uint16_t bf16Of(T value) { return bf16FromDouble(numberOf(value)); }
uint16_t bf16Of(float value) { return bf16FromFloat(value); }
uint16_t bf16Of(Half value) { return bf16FromFloat(floatFromHalf(value.bits)); }
uint16_t bf16Of(BFloat value) { return value.bits; }

/// The nearest number of the type.
template <typename T> T nearest(double number) {
  const auto value = static_cast<float>(number); // exact: numbers are bf16 or fp32
  if constexpr (std::is_same_v<T, BFloat>) {
    return {bf16FromFloat(value)};
  } else if constexpr (std::is_same_v<T, Half>) {
    return {halfFromFloat(value)};
  } else if constexpr (std::is_same_v<T, Truth>) {
    return {static_cast<uint8_t>(value != 0 ? 1 : 0)};
  } else if constexpr (std::is_integral_v<T>) {
    // The limits of 32 and 64 bits are no floats, but 2^31 and so on are.
    constexpr T low = std::numeric_limits<T>::min(), high = std::numeric_limits<T>::max();
    const auto beyond = std::ldexp(1.0F, std::numeric_limits<T>::digits);
    return std::isnan(value)                  ? T{0}
           : value >= beyond                  ? high
           : value <= static_cast<float>(low) ? low
                                              : static_cast<T>(std::nearbyint(value));
  } else {
    return static_cast<T>(value);
  }
}

} // namespace

uint64_t elementCount(const HostTensor &tensor) {
  return static_cast<uint64_t>(addressing::elementsOf(tensor.shape));
}

double elementOf(const void *data, HostType type, uint64_t element) {
  double number = 0;
  forElementsOf(type, [&](auto as) {
    number = numberOf(get<decltype(as)>(data, static_cast<int64_t>(element)));
  });
  return number;
}

std::string refusedElement(std::string_view input, HostType inModel, const format::Limits &limits,
                           const ElementsView &elements) {
  const auto low = static_cast<double>(limits.low), high = static_cast<double>(limits.high);
  const addressing::Addressing all({elements.shape.begin(), elements.shape.end()});
  for (int64_t i = 0; i < all.elements(); ++i) {
    const double number = elementOf(elements.data, elements.type, static_cast<uint64_t>(i));
    if (!(number >= low && number <= high && number == std::trunc(number)))
      return fmt::format(
          "input '{}' has {} at [{}], allowed: integers from {} to {} ({} in the model)", input,
          number, fmt::join(all.indexOf(i), ", "), limits.low, limits.high, nameOf(inModel));
  }
  return "";
}

void pack(const HostTensor &tensor, uint32_t lanes, const void *data, HostType type,
          std::span<uint16_t> rows, uint32_t steps) {
  std::fill(rows.begin(), rows.end(), uint16_t{0});
  const auto slots = format::hostSlots(tensor, lanes, steps);
  if (tensor.lookup) {
    const format::Lookup &lookup = *tensor.lookup;
    slots.forEach([&](int64_t element, int64_t slot) {
      const auto row = static_cast<uint64_t>(element) / lookup.rowElements;
      const auto integer = static_cast<int64_t>(elementOf(data, type, row));
      rows[static_cast<size_t>(slot)] =
          lookup.values[lookup.at(integer) + static_cast<uint64_t>(element) % lookup.rowElements];
    });
    return;
  }
  forElementsOf(type, [&](auto as) {
    slots.forEach([&](int64_t element, int64_t slot) {
      const int64_t at = tensor.selection ? tensor.selection->at(element, tensor.shape) : element;
      const auto number = get<decltype(as)>(data, at);
      rows[static_cast<size_t>(slot)] =
          tensor.quantised ? bf16FromDouble(tensor.quantised->integerOf(numberOf(number)))
                           : bf16Of(number);
    });
  });
}

void unpack(const HostTensor &tensor, uint32_t lanes, std::span<const uint16_t> rows, void *data,
            HostType type, uint32_t steps) {
  const auto slots = format::hostSlots(tensor, lanes, steps);
  forElementsOf(type, [&](auto as) {
    slots.forEach([&](int64_t element, int64_t slot) {
      const uint16_t bits = rows[static_cast<size_t>(slot)];
      const double number = floatFromBf16(bits);
      put(data, element,
          nearest<decltype(as)>(tensor.codes       ? static_cast<double>(format::indexOf(bits))
                                : tensor.quantised ? tensor.quantised->numberOf(number)
                                                   : number));
    });
  });
}

} // namespace sluice::runtime
