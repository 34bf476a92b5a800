#include "sim/vm/timing.h"

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

std::optional<Timing> measureTiming(const format::Program &program, size_t model) {
  const TimingRun spaced = runTiming(program, Arrival::Spaced, kSpaced, model);
  const TimingRun contiguous = runTiming(program, Arrival::Contiguous, kSteady, model);
  const TimingRun streaming = runTiming(program, Arrival::Streaming, kSteady, model);
  if (spaced.stalled || contiguous.stalled || streaming.stalled)
    return std::nullopt;
  return Timing{spaced.inferences.back().latency(), contiguous.period(kWarmUp),
                streaming.period(kWarmUp)};
}

} // namespace sluice::vm
