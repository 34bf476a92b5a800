// The geometry of a machine: the numbers of a target.
#pragma once

#include <cstdint>
#include <string>

#include "hw/numerics/latency.h"

namespace sluice::format {

/// What the memories and multipliers of a machine are made of: a folder of hw/rtl/cells, or
/// "portable". It makes no difference to a program, so all choices are equal.
struct CellLibrary {
  std::string name = "portable";

  friend bool operator==(const CellLibrary &, const CellLibrary &) { return true; }
};

/// The geometry of one target (hw/targets/*.json). Counts are per core unless the comment says
/// otherwise.
struct Geometry {
  std::string name;     ///< preset, e.g. "c6b32-deep"
  std::string rtl;      ///< Verilated model that serves it, e.g. "c6b32"
  uint32_t cores = 0;   ///< cores in the machine
  uint32_t lanes = 0;   ///< B: elements of a row, rows of a weight block
  uint32_t peTerms = 0; ///< G: products summed by one processing element
  uint32_t weightBlocks = 0;
  uint32_t inboxRows = 0;
  uint32_t localRows = 0;
  uint32_t accumulators = 0;
  uint32_t preloadRows = 0;
  uint32_t instructions = 0;
  uint32_t hostInstructions = 0; ///< of the host port
  uint32_t tables = 0;
  uint32_t clockMhz = 0; ///< the clock for times in microseconds
  /// Source of clockMhz: "nominal" if it is assumed, "routed on LFE5U-85F-6" if it is measured.
  std::string clockSource = "nominal";
  isa::Stages stages;
  CellLibrary cells; ///< not in program files

  isa::Latencies latencies() const { return {lanes, peTerms, stages}; }

  bool operator==(const Geometry &) const = default;
};

} // namespace sluice::format
