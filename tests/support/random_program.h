// Random legal programs that terminate, for comparing engines.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/format/program.h"

namespace sluice::fixtures {

/// A program and what the host does while it runs.
struct RandomProgram {
  uint64_t seed = 0;
  format::Program program; ///< passes format::check
  unsigned passes = 1;     ///< inferences: more than one where the program restarts
  bool gated = true;       ///< units begin a pass with a wait for a token or the host's row
  std::vector<std::vector<uint16_t>> inputRows; ///< of all passes, in the order of offering
  uint64_t outputRows = 0;                      ///< of all passes
  unsigned validPercent = 100;                  ///< chance per cycle that a row is offered
  unsigned readyPercent = 100;                  ///< chance per cycle that the host takes a row
};

/// Every unit, every field, several cores, hardware loops, tokens within and
/// across cores; data hazards are left to chance, so the bits depend on the
/// cycle of every read and write. The same seed gives the same program.
RandomProgram makeRandomProgram(uint64_t seed, const format::Geometry &geometry);

/// Stages within their limits.
isa::Stages randomStages(uint64_t seed);

} // namespace sluice::fixtures
