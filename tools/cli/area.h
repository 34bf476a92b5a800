// The area of a target, as JSON.
#pragma once

#include "runtime/format/area.h"
#include "tools/cli/commands.h"

namespace sluice::cli {

inline Json areaJson(const format::Area &area) {
  return {{"luts", area.luts},
          {"flip_flops", area.flipFlops},
          {"dsp_blocks", area.dspBlocks},
          {"ram_bits", area.ramBits}};
}

} // namespace sluice::cli
