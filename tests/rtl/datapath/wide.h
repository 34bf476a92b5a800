// Fields of a module's ports, whatever width Verilator gave them a type for.
#pragma once

#include <cstdint>
#include <type_traits>

#include <verilated.h>

namespace sluice::rtltest {

/// Bits [first, first + count) of a port; count is at most 64.
template <typename Port> uint64_t field(const Port &port, unsigned first, unsigned count) {
  uint64_t value = 0;
  if constexpr (std::is_integral_v<Port>) {
    value = static_cast<uint64_t>(port) >> first;
  } else {
    for (unsigned bit = 0; bit < count; ++bit)
      value |= static_cast<uint64_t>((port[(first + bit) / 32] >> ((first + bit) % 32)) & 1) << bit;
  }
  return count == 64 ? value : value & ((uint64_t{1} << count) - 1);
}

template <typename Port> void setField(Port &port, unsigned first, unsigned count, uint64_t value) {
  const uint64_t mask = count == 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1;
  if constexpr (std::is_integral_v<Port>) {
    port = static_cast<Port>((port & ~(mask << first)) | ((value & mask) << first));
  } else {
    for (unsigned bit = 0; bit < count; ++bit) {
      const unsigned at = first + bit;
      port[at / 32] = (port[at / 32] & ~(1U << (at % 32))) |
                      static_cast<uint32_t>((value >> bit) & 1) << (at % 32);
    }
  }
}

} // namespace sluice::rtltest
