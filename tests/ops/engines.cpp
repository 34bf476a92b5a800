#include "tests/ops/engines.h"

#include <algorithm>

#include <fmt/format.h>

#include "runtime/api/packing.h"
#include "runtime/device/device.h"

namespace sluice::ops_test {
namespace {

using Row = std::vector<uint16_t>;

constexpr uint64_t kQuietLimit = 1000; ///< cycles without progress: a stall

/// The rows the host port offers.
std::vector<Row> inputRows(const format::Program &program,
                           const std::vector<std::vector<double>> &inputs) {
  const uint32_t lanes = program.geometry.lanes;
  const auto &tensors = program.models[0].inputs;
  std::vector<Row> rows;
  for (size_t i = 0; i < tensors.size(); ++i) {
    std::vector<uint16_t> packed(size_t{tensors[i].rows} * lanes);
    runtime::pack(tensors[i], lanes, inputs[i].data(), format::HostType::Float64, packed);
    rows.resize(std::max<size_t>(rows.size(), tensors[i].firstRow + tensors[i].rows));
    for (uint32_t row = 0; row < tensors[i].rows; ++row)
      rows[tensors[i].firstRow + row].assign(packed.begin() + row * lanes,
                                             packed.begin() + (row + 1) * lanes);
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

} // namespace

RunResult runOnBoth(const format::Program &program,
                    const std::vector<std::vector<double>> &inputs) {
  RunResult result;
  const auto vm = device::makeVm();
  const auto rtl = device::makeRtl(program.geometry);
  vm->load(program);
  rtl->load(program);
  const std::vector<Row> offered = inputRows(program, inputs);
  const uint32_t lanes = program.geometry.lanes;
  const auto &tensors = program.models[0].outputs;
  size_t missing = 0;
  for (const format::HostTensor &tensor : tensors)
    missing += tensor.rows;
  std::vector<Row> taken;
  size_t next = 0;
  for (uint64_t quiet = 0; missing > 0; ++quiet) {
    const uint16_t *row = next < offered.size() ? offered[next].data() : nullptr;
    const auto one = vm->step(row, true), other = rtl->step(row, true);
    if (const std::string why = difference(one, other); !why.empty()) {
      result.problem = fmt::format("cycle {}: {}", vm->cycle(), why);
      return result;
    }
    next += one.inputTaken ? 1 : 0;
    if (one.output) {
      taken.resize(std::max<size_t>(taken.size(), one.output->address + 1));
      taken[one.output->address] = one.output->lanes;
      --missing;
    }
    if (one.progress)
      quiet = 0;
    if (quiet > kQuietLimit || vm->tokenFault() || rtl->tokenFault()) {
      result.problem =
          fmt::format("cycle {}: a stall or a fault, {} output rows missing", vm->cycle(), missing);
      return result;
    }
  }
  result.cycles = vm->cycle();
  const auto counters = vm->counters();
  const auto isWhole = [&](const device::UnitCounters &unit) {
    return unit.total() == result.cycles;
  };
  if (counters != rtl->counters() || !std::ranges::all_of(counters, isWhole)) {
    result.problem = "the counters differ, or do not add up to the cycles";
    return result;
  }
  for (const format::HostTensor &tensor : tensors) {
    std::vector<uint16_t> packed;
    for (uint32_t row = 0; row < tensor.rows; ++row)
      packed.insert(packed.end(), taken[tensor.firstRow + row].begin(),
                    taken[tensor.firstRow + row].end());
    result.outputs.emplace_back(runtime::elementCount(tensor));
    runtime::unpack(tensor, lanes, packed, result.outputs.back().data(), format::HostType::Float64);
  }
  return result;
}

} // namespace sluice::ops_test
