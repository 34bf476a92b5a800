// Converts cycles to times that name the source of the clock.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "runtime/api/sluice_rt.h"
#include "runtime/format/geometry.h"

namespace sluice::cli {

struct Clock {
  uint32_t mhz;
  std::string source; ///< "nominal", "routed on LFE5U-85F-6"

  Clock(uint32_t mhz, std::string source) : mhz(mhz), source(std::move(source)) {}
  explicit Clock(const format::Geometry &machine) : Clock(machine.clockMhz, machine.clockSource) {}
  explicit Clock(const sluice_rt_machine &machine)
      : Clock(machine.clock_mhz, machine.clock_source) {}

  /// "0.227 us at 300 MHz, nominal"
  [[nodiscard]] std::string time(uint64_t cycles) const {
    return fmt::format("{:.3f} us at {} MHz, {}", static_cast<double>(cycles) / mhz, mhz, source);
  }
};

} // namespace sluice::cli
