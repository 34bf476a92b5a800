// The element types of tensors as the host sees them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sluice::format {

enum class HostType : uint8_t {
  Float32 = 1,
  BFloat16 = 2,
  Float16 = 3,
  Float64 = 4,
  Int8 = 5,
  UInt8 = 6,
  Int16 = 7,
  UInt16 = 8,
  Int32 = 9,
  UInt32 = 10,
  Int64 = 11,
  UInt64 = 12,
  Bool = 13, ///< a byte, 0 or 1
};
inline constexpr HostType kLastHostType = HostType::Bool;

/// Integers and bool.
constexpr bool isInteger(HostType type) { return type > HostType::Float64; }

/// Bytes of one element; 0 if there is no such type.
constexpr size_t elementBytes(HostType type) {
  constexpr size_t bytes[] = {0, 4, 2, 2, 8, 1, 1, 2, 2, 4, 4, 8, 8, 1};
  return type <= kLastHostType ? bytes[static_cast<size_t>(type)] : 0;
}

/// "float32", "int8", "bool": NumPy's name.
constexpr std::string_view nameOf(HostType type) {
  constexpr std::string_view names[] = {"",       "float32", "bfloat16", "float16", "float64",
                                        "int8",   "uint8",   "int16",    "uint16",  "int32",
                                        "uint32", "int64",   "uint64",   "bool"};
  return type <= kLastHostType ? names[static_cast<size_t>(type)] : "";
}

} // namespace sluice::format
