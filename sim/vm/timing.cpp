#include "sim/vm/timing.h"

#include "sim/vm/machine.h"

namespace sluice::vm {

namespace {

/// Inferences of a steady-state run, those that fill the pipeline included.
constexpr unsigned kWarmUp = 4, kSteady = 12;

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
  Machine machine(program, false);
  machine.setWatch(watch);
  TimingRun run;
  std::vector<Cycle> starts; // first input of each inference begun
  uint64_t taken = 0, delivered = 0;

  while (run.inferences.size() < inferences) {
    const bool between = taken % rowsIn == 0;
    const bool mayStart =
        arrival == Arrival::Streaming || // beyond the last one too: no end is in sight
        (starts.size() < inferences && run.inferences.size() == starts.size());
    bool offered = !between || mayStart;
    Cycle next = machine.nextEvent(offered);
    if (between && offered && arrival == Arrival::Spaced) {
      const Cycle rest = machine.nextEvent(false);
      offered = rest == kNever;
      if (!offered)
        next = rest;
    }
    if (next >= maxCycles) // or never
      break;
    machine.skipTo(next);
    const Machine::Events events = machine.step(offered, nullptr, true);
    if (events.inputTaken && taken++ % rowsIn == 0)
      starts.push_back(next);
    if (events.output && ++delivered % rowsOut == 0 && run.inferences.size() < starts.size())
      run.inferences.push_back({starts[run.inferences.size()], next});
  }
  run.stalled = run.inferences.size() < inferences;
  run.status = machine.status();
  return run;
}

std::optional<Timing> measureTiming(const format::Program &program, size_t model) {
  const TimingRun spaced = runTiming(program, Arrival::Spaced, 2, model);
  const TimingRun contiguous = runTiming(program, Arrival::Contiguous, kSteady, model);
  const TimingRun streaming = runTiming(program, Arrival::Streaming, kSteady, model);
  if (spaced.stalled || contiguous.stalled || streaming.stalled)
    return std::nullopt;
  return Timing{spaced.inferences.back().latency(), contiguous.period(kWarmUp),
                streaming.period(kWarmUp)};
}

} // namespace sluice::vm
