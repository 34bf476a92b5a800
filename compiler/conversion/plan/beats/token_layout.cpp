#include "compiler/conversion/plan/beats/token_layout.h"

#include <algorithm>

#include "hw/isa/isa.h"

namespace sluice::plan {
namespace {

constexpr uint32_t kLocalTokens = 4;

} // namespace

TokenLayout TokenLayout::make(uint32_t cores, Slots slots, bool sumsAhead) {
  TokenLayout layout;
  const uint32_t own = sumsAhead ? 1 : 0;
  if (slots == Slots::One && isa::kTokens % cores == 0 && isa::kTokens / cores > 3) {
    // Neighbours are one stride apart all the way round the bank, so one
    // instruction takes rows of all cores in turn for ever.
    layout.coreStride = isa::kTokens / cores;
    layout.host = 1;
    layout.hosts = std::min(kHosts, layout.coreStride - 2 - own);
    layout.local = layout.done = layout.host + layout.hosts;
    layout.locals = std::min(kLocalTokens, layout.coreStride - layout.local - own);
    layout.ahead = layout.local + layout.locals;
    return layout;
  }
  layout.hosts = kHosts;
  layout.slots = slots == Slots::One ? 1 : (isa::kTokens - kHosts - 1 - own) / cores;
  layout.inRuns = slots == Slots::InRuns;
  layout.slotStride = cores;
  const uint32_t spare = isa::kTokens - kHosts - own - layout.slots * cores;
  layout.locals = std::min(kLocalTokens, spare);
  layout.ahead = isa::kTokens - own;
  layout.local = layout.done = isa::kTokens - own - layout.locals;
  layout.host = layout.local - kHosts;
  return layout;
}

} // namespace sluice::plan
