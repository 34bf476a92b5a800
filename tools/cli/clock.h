// Times: cycles at the clock of a machine, which say where that clock comes from.
#pragma once

#include <cstdint>
#include <string>

#include <fmt/format.h>

namespace sluice::cli {

struct Clock {
  uint32_t mhz;
  std::string source; ///< "nominal", "routed on LFE5U-85F-6"

  /// "0.227 us at 300 MHz, nominal"
  [[nodiscard]] std::string time(uint64_t cycles) const {
    return fmt::format("{:.3f} us at {} MHz, {}", static_cast<double>(cycles) / mhz, mhz, source);
  }
};

} // namespace sluice::cli
