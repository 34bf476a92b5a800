#include "sim/vm/loop_nest.h"

namespace sluice::vm {

NestShape::NestShape(const std::array<uint32_t, kLoops> &loopTrips, const Strides &strides)
    : trips(loopTrips) {
  for (unsigned s = 0; s < kStreams; ++s) {
    uint32_t rewind = 0; // what the loops inside have added by their last trip
    for (unsigned l = kLoops; l-- > 0;) {
      const auto stride = static_cast<uint32_t>(strides[s][l]);
      step[l][s] = stride - rewind;
      rewind += stride * (trips[l] - 1);
    }
  }
}

void NestShape::setRing(unsigned stream, uint32_t base, uint32_t log2Rows) {
  if (log2Rows == 0)
    return;
  moving[stream] = (1U << log2Rows) - 1;
  fixed[stream] = base & ~moving[stream];
}

void LoopNest::start(const NestShape &shapeToWalk, const Addresses &base) {
  shape = &shapeToWalk;
  index = {};
  at = base;
  firstLevel = 0;
  findLastLevel();
}

void LoopNest::findLastLevel() {
  lastLevel = kLoops;
  while (lastLevel > 0 && index[lastLevel - 1] + 1 >= shape->trips[lastLevel - 1])
    --lastLevel;
}

void LoopNest::advance() {
  // The loops at or inside lastLevel are at their last trip.
  const unsigned l = lastLevel - 1;
  ++index[l];
  for (unsigned k = l + 1; k < kLoops; ++k)
    index[k] = 0;
  for (unsigned s = 0; s < kStreams; ++s)
    at[s] += shape->step[l][s];
  firstLevel = l + 1;
  findLastLevel();
}

} // namespace sluice::vm
