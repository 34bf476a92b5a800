#include "compiler/check/machine.h"

#include <algorithm>
#include <span>

#include "runtime/api/packing.h"
#include "runtime/device/stall.h"
#include "runtime/format/state.h"

namespace sluice::check {
namespace {

constexpr uint64_t kQuietLimit = 10'000; ///< cycles without progress: a stall

/// Rows of one step of an inference.
size_t rowsPerStep(const std::vector<format::HostTensor> &tensors) {
  size_t rows = 0;
  for (const format::HostTensor &tensor : tensors)
    rows = std::max<size_t>(rows, tensor.firstRow + tensor.rows);
  return rows;
}

} // namespace

Machine::Machine(const format::Program &program)
    : program(program), tensors(program.models.front().inputs), engine(device::makeVm()) {
  for (format::HostTensor &tensor : tensors)
    tensor.lookup.reset(); // the inputs of the function are looked up already
  engine->load(program);
}

void Machine::reset() { engine->restart({}, format::initialState(program)); }

std::vector<Machine::Row> Machine::rowsOf(const Arrays &inputs) const {
  const format::Model &model = program.models.front();
  const uint32_t lanes = program.geometry.lanes;
  const size_t each = rowsPerStep(model.inputs);
  std::vector<Row> rows(each * model.steps);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const format::HostTensor &tensor = tensors[i];
    const uint32_t parts = tensor.stepAxis ? model.steps : 1; // others come with every step
    std::vector<uint16_t> packed(size_t{tensor.rows} * lanes * parts);
    runtime::pack(tensor, lanes, inputs[i].data(), format::HostType::Float64, packed, parts);
    for (uint32_t step = 0; step < model.steps; ++step)
      for (uint32_t row = 0; row < tensor.rows; ++row) {
        const auto from = packed.begin() + static_cast<std::ptrdiff_t>(
                                               (size_t{step % parts} * tensor.rows + row) * lanes);
        rows[step * each + tensor.firstRow + row].assign(from, from + lanes);
      }
  }
  return rows;
}

Machine::Arrays Machine::outputsOf(const std::vector<std::vector<Row>> &steps) const {
  const std::span all(steps);
  Arrays outputs;
  for (const format::HostTensor &tensor : program.models.front().outputs) {
    const auto parts = tensor.stepAxis ? all : all.last(1); // the newest
    std::vector<uint16_t> packed;
    for (const std::vector<Row> &rows : parts)
      for (uint32_t row = 0; row < tensor.rows; ++row)
        packed.insert(packed.end(), rows[tensor.firstRow + row].begin(),
                      rows[tensor.firstRow + row].end());
    outputs.emplace_back(runtime::elementCount(tensor));
    runtime::unpack(tensor, program.geometry.lanes, packed, outputs.back().data(),
                    format::HostType::Float64, static_cast<uint32_t>(parts.size()));
  }
  return outputs;
}

device::Device::Cycle Machine::step(const uint16_t *row) {
  auto cycle = engine->step(row, true);
  ++passed;
  if (watch)
    watch(*engine);
  return cycle;
}

std::optional<Machine::Arrays> Machine::infer(const Arrays &inputs) {
  const format::Model &model = program.models.front();
  if (model.steps > 1)
    reset(); // an inference of several steps begins with the initial state
  const std::vector<Row> offered = rowsOf(inputs);
  const size_t rows = rowsPerStep(model.outputs);
  // The k-th arrival of a row belongs to step k: early rows of a step may come before late rows
  // of the step before.
  std::vector<std::vector<Row>> taken(model.steps, std::vector<Row>(rows));
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
  return outputsOf(taken);
}

} // namespace sluice::check
