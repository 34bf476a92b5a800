// The size of the hardware of a target, estimated from the measured sizes of its units.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/format/geometry.h"

namespace sluice::format {

/// The size of a machine in cells of UltraScale+ parts, without the readback of tensor rows that
/// only simulation uses. docs/hardware.md has the measured units.
struct Area {
  uint64_t luts = 0;
  uint64_t flipFlops = 0;
  uint64_t dspBlocks = 0;
  uint64_t ramBits = 0; ///< of all memories, without what the fixed sizes of RAM blocks waste
};

/// Sums the units of a machine. A unit of other extents than the measured ones is scaled: with
/// the lanes, and the elements of a matrix column with their terms. Presets come within 2 % of
/// docs/hardware.md.
Area estimateArea(const Geometry &geometry);

/// Returns "about 1,940,000 LUTs, 1,300,000 flip-flops, 7,870 DSP blocks, 148 Mbit of RAM
/// (estimate)", in three digits.
std::string areaText(const Area &area);

} // namespace sluice::format
