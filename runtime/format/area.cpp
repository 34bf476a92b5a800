#include "runtime/format/area.h"

#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "hw/isa/isa.h"

namespace sluice::format {

/// The file hw/area/unit_sizes.json (generated).
const std::vector<std::pair<std::string_view, std::string_view>> &unitSizeFiles();

namespace {

/// The cells of a unit, or of a share of it.
struct Cells {
  double luts = 0, flipFlops = 0, dspBlocks = 0;

  friend Cells operator+(const Cells &a, const Cells &b) {
    return {a.luts + b.luts, a.flipFlops + b.flipFlops, a.dspBlocks + b.dspBlocks};
  }
  friend Cells operator*(double times, const Cells &a) {
    return {times * a.luts, times * a.flipFlops, times * a.dspBlocks};
  }
};

/// Returns the cells that a unit was measured to have.
Cells measured(std::string_view unit) {
  static const auto sizes = nlohmann::json::parse(unitSizeFiles().front().second);
  for (const auto &one : sizes["units"])
    if (one["unit"].get<std::string>() == unit)
      return {one["luts"], one["flip_flops"], one["dsp_blocks"]};
  return {}; // a unit test finds a name that is missing
}

/// Returns the cells of a unit at some extent. They were measured at two others.
Cells between(double at, double low, const Cells &atLow, double high, const Cells &atHigh) {
  const double share = (at - low) / (high - low);
  return (1 - share) * atLow + share * atHigh;
}

/// Returns the cells of a unit with so many lanes. Those of the first lane, and of each further
/// one, were measured.
Cells lanesOf(const std::string &unit, double lanes) {
  return measured(unit + ", one lane") + (lanes - 1) * measured(unit + ", each further lane");
}

Cells coreOf(const Geometry &g) {
  const double lanes = g.lanes;
  const Cells element =
      between(g.peTerms, 4, 0.5 * measured("matrix column, 8 lanes in elements of 4"), 16,
              0.5 * measured("matrix column, 32 lanes in elements of 16"));
  const auto atLanes = [&](const char *unit32, const char *unit64) {
    return between(lanes, 32, measured(unit32), 64, measured(unit64));
  };
  return lanes * (lanes / g.peTerms) * element +
         lanes / 32 * measured("matrix array without columns, 32 lanes") +
         lanesOf("accumulator", lanes) + lanesOf("normaliser", lanes) +
         measured("matrix unit's control, 8 lanes") + 2 * lanesOf("vector arithmetic unit", lanes) +
         lanesOf("function tables", lanes) +
         atLanes("cross-lane reduction, 32 lanes", "cross-lane reduction, 64 lanes") +
         lanesOf("output rounding", lanes) +
         lanes / 8 * measured("vector unit's control, 8 lanes") + measured("sequencer") +
         atLanes("core's own wiring, 32 lanes", "core's own wiring, 64 lanes");
}

uint64_t ramBitsOf(const Geometry &g) {
  constexpr uint64_t kElement = 16, kReadPorts = 4; // of the tensor RAM, each with a copy
  const uint64_t lanes = g.lanes, sum = isa::kAccBits + isa::kAnchorBits + 1; // and poison
  const uint64_t instruction = isa::kInstBits;
  const uint64_t core = g.weightBlocks * lanes * lanes * kElement +
                        (uint64_t{g.inboxRows} + g.localRows) * lanes * kElement * kReadPorts +
                        (uint64_t{g.accumulators} + g.preloadRows) * lanes * sum +
                        g.instructions * instruction +
                        uint64_t{g.tables} * isa::kTableEntries * lanes * kElement;
  return g.cores * core + g.hostInstructions * instruction;
}

uint64_t rounded(double value) { return static_cast<uint64_t>(std::llround(value)); }

/// Returns the number in three digits, with commas between thousands.
std::string threeDigits(uint64_t value) {
  uint64_t unit = 1;
  while (value / unit >= 1000)
    unit *= 10;
  std::string text = fmt::format("{}", (value + unit / 2) / unit * unit);
  for (size_t at = text.size(); at > 3;) {
    at -= 3;
    text.insert(at, ",");
  }
  return text;
}

} // namespace

Area estimateArea(const Geometry &geometry) {
  const double lanes = geometry.lanes, cores = geometry.cores;
  const Cells machine = cores * coreOf(geometry) +
                        lanes / 32 * (cores + 1) / 7 * measured("network, 7 sources of 32 lanes") +
                        lanes / 32 * measured("host port without its sequencer") +
                        measured("sequencer");
  return {rounded(machine.luts), rounded(machine.flipFlops), rounded(machine.dspBlocks),
          ramBitsOf(geometry)};
}

std::string areaText(const Area &area) {
  return fmt::format("about {} LUTs, {} flip-flops, {} DSP blocks, {} Mbit of RAM (estimate)",
                     threeDigits(area.luts), threeDigits(area.flipFlops),
                     threeDigits(area.dspBlocks),
                     threeDigits((area.ramBits + 500'000) / 1'000'000));
}

} // namespace sluice::format
