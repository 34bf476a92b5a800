#include "tests/ops/engines.h"

#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "runtime/api/inference_rows.h"
#include "runtime/device/device.h"

namespace sluice::ops_test {
namespace {

using runtime::Row;

constexpr uint64_t kQuietLimit = 1000; ///< cycles without progress: a stall

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
    const std::vector<Row> rows =
        runtime::packInference(program.models[0], program.geometry.lanes, inputs);
    offered.insert(offered.end(), rows.begin(), rows.end());
  }
  const size_t rows = runtime::rowsPerStep(program.models[0].outputs);
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
        results.push_back(
            {counted ? "" : "the counters differ, or do not add up to the cycles",
             runtime::unpackInference(program.models[0], program.geometry.lanes,
                                      std::span(taken).subspan(inference * steps, steps)),
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
