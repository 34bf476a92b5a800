#include "tests/ops/engines.h"

#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "runtime/api/packing.h"
#include "runtime/device/device.h"

namespace sluice::ops_test {
namespace {

using Row = std::vector<uint16_t>;

constexpr uint64_t kQuietLimit = 1000; ///< cycles without progress: a stall

/// The rows the host port offers, step after step.
std::vector<Row> inputRows(const format::Program &program,
                           const std::vector<std::vector<double>> &inputs) {
  const uint32_t lanes = program.geometry.lanes, steps = program.models[0].steps;
  const auto &tensors = program.models[0].inputs;
  uint32_t each = 0; // rows of a step
  for (const format::HostTensor &tensor : tensors)
    each = std::max(each, tensor.firstRow + tensor.rows);
  std::vector<Row> rows(size_t{each} * steps);
  for (size_t i = 0; i < tensors.size(); ++i) {
    const uint32_t parts = tensors[i].stepAxis ? steps : 1; // the others come with every step
    std::vector<uint16_t> packed(size_t{tensors[i].rows} * lanes * parts);
    runtime::pack(tensors[i], lanes, inputs[i].data(), format::HostType::Float64, packed, parts);
    for (uint32_t step = 0; step < steps; ++step)
      for (uint32_t row = 0; row < tensors[i].rows; ++row) {
        const auto from = packed.begin() + (size_t{step % parts} * tensors[i].rows + row) * lanes;
        rows[size_t{step} * each + tensors[i].firstRow + row].assign(from, from + lanes);
      }
  }
  return rows;
}

std::string difference(const device::Device::Cycle &vm, const device::Device::Cycle &rtl) {
  if (vm.inputTaken != rtl.inputTaken)
    return "one engine took an input row";
  if (vm.output.has_value() != rtl.output.has_value())
    return "one engine gave an output row";
  if (vm.output && vm.output->address != rtl.output->address)
    return "output rows of different addresses";
  if (vm.output && vm.output->lanes != rtl.output->lanes)
    return "output rows of different bits";
  return vm.progress == rtl.progress ? "" : "one engine made progress";
}

/// The outputs of one inference from its rows, by step and address.
std::vector<std::vector<double>> unpackAll(const format::Program &program,
                                           std::span<const std::vector<Row>> steps) {
  std::vector<std::vector<double>> outputs;
  for (const format::HostTensor &tensor : program.models[0].outputs) {
    const auto parts = tensor.stepAxis ? steps : steps.last(1); // the newest
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

/// Inferences one after the other on a machine that has just been loaded.
std::vector<RunResult> runLoaded(const format::Program &program, device::Device &vm,
                                 device::Device &rtl,
                                 std::span<const std::vector<std::vector<double>>> inferences) {
  const uint32_t steps = program.models[0].steps;
  std::vector<RunResult> results;
  vm.load(program);
  rtl.load(program);
  std::vector<Row> offered;
  for (const auto &inputs : inferences) {
    const std::vector<Row> rows = inputRows(program, inputs);
    offered.insert(offered.end(), rows.begin(), rows.end());
  }
  size_t rows = 0;
  for (const format::HostTensor &tensor : program.models[0].outputs)
    rows = std::max<size_t>(rows, tensor.firstRow + tensor.rows);
  // The k-th arrival of a row belongs to the k-th step: early rows of the next
  // one may come before late rows of this one.
  std::vector<std::vector<Row>> taken(inferences.size() * steps, std::vector<Row>(rows));
  std::vector<size_t> arrivals(rows), counts(inferences.size());
  size_t next = 0;
  for (uint64_t quiet = 0; results.size() < inferences.size(); ++quiet) {
    const uint16_t *row = next < offered.size() ? offered[next].data() : nullptr;
    const auto one = vm.step(row, true), other = rtl.step(row, true);
    if (const std::string why = difference(one, other); !why.empty()) {
      results.push_back({fmt::format("cycle {}: {}", vm.cycle(), why), {}, vm.cycle()});
      return results;
    }
    next += one.inputTaken ? 1 : 0;
    if (one.output) {
      const size_t step = arrivals.at(one.output->address)++, inference = step / steps;
      taken.at(step).at(one.output->address) = one.output->lanes;
      if (++counts.at(inference) == rows * steps) {
        const auto counters = vm.counters();
        const auto isWhole = [&](const device::UnitCounters &unit) {
          return unit.total() == vm.cycle();
        };
        const bool counted = counters == rtl.counters() && std::ranges::all_of(counters, isWhole);
        results.push_back({counted ? "" : "the counters differ, or do not add up to the cycles",
                           unpackAll(program, std::span(taken).subspan(inference * steps, steps)),
                           vm.cycle()});
      }
    }
    if (one.progress)
      quiet = 0;
    if (quiet > kQuietLimit || vm.tokenFault() || rtl.tokenFault()) {
      results.push_back({fmt::format("cycle {}: a stall or a fault, {} output rows missing",
                                     vm.cycle(), rows * steps - counts[results.size()]),
                         {},
                         vm.cycle()});
      return results;
    }
  }
  return results;
}

} // namespace

std::vector<RunResult>
runSequence(const format::Program &program,
            const std::vector<std::vector<std::vector<double>>> &inferences) {
  const auto vm = device::makeVm();
  const auto rtl = device::makeRtl(program.geometry);
  // What steps leave is for the steps of the same inference.
  const size_t together = program.models[0].steps == 1 ? inferences.size() : 1;
  std::vector<RunResult> results;
  for (size_t first = 0; first < inferences.size(); first += together) {
    const auto some = runLoaded(program, *vm, *rtl, std::span(inferences).subspan(first, together));
    results.insert(results.end(), some.begin(), some.end());
    if (!some.back().problem.empty())
      break;
  }
  return results;
}

RunResult runOnBoth(const format::Program &program,
                    const std::vector<std::vector<double>> &inputs) {
  return runSequence(program, {inputs}).at(0);
}

} // namespace sluice::ops_test
