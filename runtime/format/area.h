// The size of the hardware of a target, estimated from the measured sizes of its units.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/format/geometry.h"

namespace sluice::format {

/// The size of a machine, or of one core, in cells of UltraScale+ parts. It leaves out the readback
/// of tensor rows, which only simulation uses.
struct Area {
  uint64_t luts = 0; ///< with those used as RAM
  uint64_t flipFlops = 0;
  uint64_t dspBlocks = 0;
  uint64_t blockRams = 0; ///< of 36 Kbit; two of 18 Kbit share one
  uint64_t ultraRams = 0; ///< of 288 Kbit
  uint64_t ramBits = 0;   ///< that the memories store, whatever cells hold them

  bool operator==(const Area &) const = default;
};

/// Returns the size of a machine: its measured units (hw/area/unit_sizes.json), interpolated
/// between the values of the field that they grow with, and the cells of its memories.
/// docs/hardware.md compares it with whole machines.
Area estimateArea(const Geometry &geometry);

/// Returns the size of one core of a machine.
Area estimateCore(const Geometry &geometry);

/// Returns the number in three digits, with commas between thousands.
std::string threeDigits(uint64_t value);

/// Returns "about 1,970,000 LUTs, 1,310,000 flip-flops, 7,870 DSP blocks, 2,750 block RAMs, 192
/// UltraRAMs (estimate)", in three digits.
std::string areaText(const Area &area);

} // namespace sluice::format
