// The exact number of cycles of a program, without its data: the cost model of the planner. The
// counts equal those of the engines (docs/machine.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/device/device.h"
#include "sim/vm/watch.h"

namespace sluice::format {
struct Program;
} // namespace sluice::format

namespace sluice::vm {

/// The time at which the host offers the rows of an inference. The host always takes output rows at
/// once.
enum class Arrival : uint8_t {
  Spaced,     ///< when the machine is at rest
  Contiguous, ///< from the cycle after the last output row of the previous inference
  Streaming,  ///< always
  Burst,      ///< always, after the machine was at rest for the first time
};

/// The times of one inference, or of one step if an inference has several.
struct InferenceTimes {
  uint64_t firstInput = 0; ///< cycle in which its first input row was taken
  uint64_t lastOutput = 0; ///< cycle in which its last output row was taken

  /// Returns the latency in cycles, including the first and the last one.
  uint64_t latency() const { return lastOutput - firstInput + 1; }
};

struct TimingRun {
  std::vector<InferenceTimes> inferences; ///< complete inferences
  bool stalled = false;                   ///< the machine came to rest before all were complete
  std::vector<device::UnitStatus> status; ///< at the end of the run

  /// Returns the mean number of cycles between the last outputs of consecutive inferences, without
  /// the first `skip` inferences. At least skip + 2 inferences must be complete.
  double period(size_t skip = 1) const;
};

/// Runs `inferences` inferences, or steps, of one model. Of `program`, it reads only the geometry,
/// the instructions and the numbers of input and output rows. The model must have input rows. A run
/// that reaches `maxCycles` counts as stalled. `watch` receives the events of the run; it may be
/// null.
TimingRun runTiming(const format::Program &program, Arrival arrival, unsigned inferences,
                    size_t model = 0, uint64_t maxCycles = uint64_t{1} << 32,
                    Watch *watch = nullptr);

/// The number of inferences that measureTiming runs, for a model of one step.
inline constexpr unsigned kMeasuredInferences = 26;

/// The three measures of one model, in cycles. If an inference has several steps, the measures are
/// for whole inferences. Each step restarts the machine, so an inference never begins before the
/// last output of the previous one.
struct Timing {
  uint64_t spaced = 0;   ///< latency from rest, of the second inference
  double contiguous = 0; ///< cycles per inference, the next one offered after the last output
  double period = 0;     ///< cycles per inference, inputs always waiting
};

/// Measures a model of a program; returns nothing if the program stalls.
std::optional<Timing> measureTiming(const format::Program &program, size_t model = 0);

} // namespace sluice::vm
