#include "sim/vm/timing.h"

#include <algorithm>

#include "runtime/format/state.h"
#include "sim/vm/timed/machine.h"

namespace sluice::vm {

namespace {

/// Inferences of a steady-state run, those that fill the pipeline included.
constexpr unsigned kWarmUp = 4, kSteady = 12;
/// Inferences of a run from rest, of which the last counts.
constexpr unsigned kSpaced = 2;
static_assert(kSpaced + 2 * kSteady == kMeasuredInferences);

uint64_t countRows(const std::vector<format::HostTensor> &tensors) {
  uint64_t rows = 0;
  for (const format::HostTensor &tensor : tensors)
    rows += tensor.rows;
  return rows;
}

} // namespace

double TimingRun::period(size_t skip) const {
  return static_cast<double>(inferences.back().lastOutput - inferences[skip].lastOutput) /
         static_cast<double>(inferences.size() - 1 - skip);
}

TimingRun runTiming(const format::Program &program, Arrival arrival, unsigned inferences,
                    size_t model, uint64_t maxCycles, Watch *watch) {
  const uint64_t rowsIn = countRows(program.models[model].inputs);
  const uint64_t rowsOut = countRows(program.models[model].outputs);
  timed::Offers offers(arrival, inferences, rowsIn, rowsOut);
  timed::Machine machine(program, offers, watch);
  machine.run(maxCycles);
  TimingRun run;
  run.stalled = !offers.complete();
  run.status = machine.status();
  run.inferences = std::move(offers.inferences());
  return run;
}

namespace {

/// The longest pattern in which the steps of a machine in its stride repeat.
constexpr unsigned kPattern = 8;
/// Steps after which a machine is in its stride, where the last three patterns are equal.
constexpr unsigned kStride = 64;
static_assert(kStride > 3 * kPattern);

/// Whether the last outputs repeat every `length` steps, three times.
bool repeats(const std::vector<InferenceTimes> &times, size_t length) {
  const auto between = [&](size_t back) {
    const size_t at = times.size() - 1 - back;
    return times[at].lastOutput - times[at - length].lastOutput;
  };
  for (size_t back = 1; back < 2 * length; ++back)
    if (between(back) != between(0))
      return false;
  return true;
}

/// From the first input of `steps` steps to their last output; nothing if the program stalls.
std::optional<InferenceTimes> runSteps(const format::Program &program, Arrival arrival,
                                       unsigned steps, size_t model) {
  const TimingRun begin = runTiming(program, arrival, std::min(steps, kStride), model);
  if (begin.stalled)
    return std::nullopt;
  const size_t run = begin.inferences.size();
  const uint64_t first = begin.inferences.front().firstInput;
  if (run >= steps)
    return InferenceTimes{first, begin.inferences[steps - 1].lastOutput};
  for (size_t length = 1; length <= kPattern; ++length) {
    if (!repeats(begin.inferences, length))
      continue;
    const size_t patterns = (steps - run + length - 1) / length;
    const size_t same = steps - 1 - patterns * length;
    return InferenceTimes{first, begin.inferences[same].lastOutput +
                                     patterns * (begin.inferences[run - 1].lastOutput -
                                                 begin.inferences[run - 1 - length].lastOutput)};
  }
  const TimingRun all = runTiming(program, arrival, steps, model);
  if (all.stalled)
    return std::nullopt;
  return InferenceTimes{first, all.inferences[steps - 1].lastOutput};
}

/// The measures of a model of several steps.
std::optional<Timing> measureSteps(const format::Program &program, size_t model) {
  const uint32_t steps = program.models[model].steps;
  const auto fromRest = runSteps(program, Arrival::Burst, steps, model);
  const auto atOnce = runSteps(program, Arrival::Streaming, steps, model);
  if (!fromRest || !atOnce)
    return std::nullopt;
  const auto between = static_cast<double>(atOnce->lastOutput + 1 + format::restartCycles(program));
  return Timing{fromRest->latency(), between, between};
}

} // namespace

std::optional<Timing> measureTiming(const format::Program &program, size_t model) {
  if (program.models[model].steps > 1)
    return measureSteps(program, model);
  const TimingRun spaced = runTiming(program, Arrival::Spaced, kSpaced, model);
  const TimingRun contiguous = runTiming(program, Arrival::Contiguous, kSteady, model);
  const TimingRun streaming = runTiming(program, Arrival::Streaming, kSteady, model);
  if (spaced.stalled || contiguous.stalled || streaming.stalled)
    return std::nullopt;
  return Timing{spaced.inferences.back().latency(), contiguous.period(kWarmUp),
                streaming.period(kWarmUp)};
}

} // namespace sluice::vm
