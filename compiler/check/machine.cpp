#include "compiler/check/machine.h"

#include "runtime/api/host_input.h"
#include "runtime/device/stall.h"
#include "runtime/format/state.h"

namespace sluice::check {
namespace {

constexpr uint64_t kQuietLimit = 10'000; ///< cycles without progress: a stall
constexpr uint64_t kQuietAtEnd = 200;    ///< more than a pipeline and the network take
constexpr uint64_t kMostDrained = 100'000;

} // namespace

Machine::Machine(const format::Program &program)
    : program(program), model(program.models.front()), engine(device::makeVm()) {
  // The inputs and outputs of the function are what the host has made already, but for parts that
  // it selects: then the arrays are the inputs of the function.
  const bool selects = runtime::selectsInputs(model);
  if (!selects)
    model.arrays.clear();
  for (std::vector<format::HostTensor> *tensors : {&model.inputs, &model.outputs})
    for (format::HostTensor &tensor : *tensors) {
      if (!selects)
        tensor.array = 0;
      tensor.lookup.reset();
      tensor.quantised.reset();
      tensor.codes = false;
    }
  engine->load(program);
}

void Machine::reset() { engine->restart({}, format::initialState(program)); }

device::Device::Cycle Machine::step(const uint16_t *row) {
  ++passed;
  return engine->step(row, true);
}

void Machine::drain() {
  uint64_t quiet = 0;
  for (uint64_t cycle = 0; cycle < kMostDrained && quiet < kQuietAtEnd; ++cycle)
    quiet = step(nullptr).progress ? 0 : quiet + 1;
}

std::optional<runtime::Arrays> Machine::infer(const runtime::Arrays &inputs) {
  if (model.steps > 1)
    reset(); // an inference of several steps begins with the initial state
  const std::vector<runtime::Row> offered =
      runtime::packInference(model, program.geometry.lanes, inputs);
  const size_t rows = runtime::rowsPerStep(model.outputs);
  // The k-th arrival of a row belongs to step k: early rows of a step may come before late rows
  // of the step before.
  std::vector<std::vector<runtime::Row>> taken(model.steps, std::vector<runtime::Row>(rows));
  std::vector<size_t> arrivals(rows);
  size_t next = 0, count = 0;
  // Outputs may be complete before the last input rows, which nothing depends on, are taken.
  for (uint64_t quiet = 0; count < rows * model.steps || next < offered.size(); ++quiet) {
    const auto cycle = step(next < offered.size() ? offered[next].data() : nullptr);
    next += cycle.inputTaken ? 1 : 0;
    if (cycle.output) {
      const uint32_t address = cycle.output->address;
      if (address >= rows || arrivals[address] == model.steps) {
        why = "output row " + std::to_string(address) + " arrives too often";
        return std::nullopt;
      }
      taken[arrivals[address]++][address] = cycle.output->lanes;
      ++count;
    }
    if (cycle.progress)
      quiet = 0;
    if (quiet > kQuietLimit || engine->tokenFault()) {
      why = device::describeStall(program, engine->status(), quiet);
      return std::nullopt;
    }
  }
  return runtime::unpackInference(model, program.geometry.lanes, taken);
}

} // namespace sluice::check
