// How many cycles a program takes, without computing anything: the planner's
// cost model. The cycles are those of the engines (docs/machine.md).
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

/// When the rows of an inference are offered to the host port. The host always
/// takes output rows at once.
enum class Arrival : uint8_t {
  Spaced,     ///< when the machine has come to rest
  Contiguous, ///< from the cycle after the last output row of the inference before
  Streaming,  ///< always
  Burst,      ///< always, from when the machine has come to rest the first time
};

/// The run of one inference, or of one step of a model of several.
struct InferenceTimes {
  uint64_t firstInput = 0; ///< cycle in which its first input row was taken
  uint64_t lastOutput = 0; ///< cycle in which its last output row was taken

  /// Both cycles included.
  uint64_t latency() const { return lastOutput - firstInput + 1; }
};

struct TimingRun {
  std::vector<InferenceTimes> inferences; ///< complete ones
  bool stalled = false;                   ///< came to rest before all were complete
  std::vector<device::UnitStatus> status; ///< at the end

  /// Cycles from the first to the last output per inference: those after
  /// `skip` inferences count. At least skip + 2 inferences must be complete.
  double period(size_t skip = 1) const;
};

/// Runs `inferences` inferences, or steps, of one model: of `program`, only the geometry,
/// the instructions and the row counts of the model's inputs and outputs are
/// looked at. An inference without input rows cannot be run. `maxCycles` bounds
/// programs that never rest; a run that reaches it counts as stalled. `watch` may
/// be null.
TimingRun runTiming(const format::Program &program, Arrival arrival, unsigned inferences,
                    size_t model = 0, uint64_t maxCycles = uint64_t{1} << 32,
                    Watch *watch = nullptr);

/// Inferences that measureTiming runs of a model of one step.
inline constexpr unsigned kMeasuredInferences = 26;

/// The three measures of one model. Those of a model of several steps are of whole inferences;
/// each starts the machine anew, so the next one waits for the last output anyhow.
struct Timing {
  uint64_t spaced = 0;   ///< latency from rest, of the second inference
  double contiguous = 0; ///< cycles per inference, the next one offered after the last output
  double period = 0;     ///< cycles per inference, inputs always waiting
};

/// Nothing if the program stalls.
std::optional<Timing> measureTiming(const format::Program &program, size_t model = 0);

} // namespace sluice::vm
