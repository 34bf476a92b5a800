// The area of a target, as text and as JSON.
#pragma once

#include <string>
#include <vector>

#include "runtime/format/area.h"
#include "tools/cli/commands.h"

namespace sluice::cli {

inline Json areaJson(const format::Area &area) {
  return {{"luts", area.luts},
          {"flip_flops", area.flipFlops},
          {"dsp_blocks", area.dspBlocks},
          {"block_rams", area.blockRams},
          {"ultra_rams", area.ultraRams},
          {"ram_bits", area.ramBits}};
}

/// Returns a row for each target: its size and the parts that it fits.
std::string areaTable(const std::vector<format::Geometry> &targets);

/// Returns the size of one core and of the whole machine, and a row for each part.
std::string areaPage(const format::Geometry &target);

/// Returns the size of a target, and how it fits each part.
Json areaReportJson(const format::Geometry &target);

} // namespace sluice::cli
