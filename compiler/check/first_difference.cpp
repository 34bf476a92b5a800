#include "compiler/check/first_difference.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "compiler/check/bound.h"
#include "compiler/check/machine.h"
#include "compiler/dialect/sluice/node.h"
#include "hw/numerics/numerics.h"
#include "runtime/device/written_rows.h"
#include "runtime/format/packed_rows.h"

namespace sluice::check {
namespace {

/// Rows that are looked at, by cycle: more would take minutes.
constexpr uint64_t kMostLooks = uint64_t{1} << 28;

/// What a row of a tensor must hold.
struct WantedRow {
  struct Lane {
    uint32_t lane;
    double low, high;
    bool isNaN;
  };
  std::vector<Lane> lanes;
  bool isSeen = false;

  [[nodiscard]] bool matches(const std::vector<uint16_t> &row) const {
    return std::ranges::all_of(lanes, [&](const Lane &one) {
      const double found = numerics::bf16ToDouble(row[one.lane]);
      return one.isNaN ? std::isnan(found) : found >= one.low && found <= one.high;
    });
  }
};

std::map<uint32_t, WantedRow> wantedRows(const format::ModelTensor &tensor, uint32_t lanes,
                                         const Spread &spread) {
  const std::vector<double> &exact = spread.exact().values, moved = spread.moved(),
                            bounds = boundsOf(moved, exact);
  const double scale = scaleOf(exact);
  std::map<uint32_t, WantedRow> rows;
  format::PackedRows(tensor).slots(lanes).forEach([&](int64_t position, int64_t slot) {
    if (!std::isfinite(moved[position]) || moved[position] > kMostMoved * scale)
      return;
    rows[static_cast<uint32_t>(slot / lanes)].lanes.push_back(
        {static_cast<uint32_t>(slot % lanes), exact[position] - bounds[position],
         exact[position] + bounds[position], std::isnan(exact[position])});
  });
  return rows;
}

} // namespace

NodeRef nodeOf(const frontend::GraphTensor &tensor) {
  mlir::Operation *op = tensor.value ? tensor.value.getDefiningOp() : nullptr;
  return op ? ir::nodeOf(op->getLoc()) : NodeRef{};
}

std::optional<Difference> firstDifference(const Oracle &oracle, const format::Program &program,
                                          const reference::Tensors &inputs) {
  if (program.models.front().steps > 1)
    return std::nullopt;
  // Which rows of which tensors come to which addresses.
  using Address = std::pair<uint32_t, uint32_t>;
  std::map<Address, std::set<std::pair<uint32_t, uint32_t>>> places; // tensor, row
  for (uint32_t core = 0; core < program.cores.size(); ++core)
    device::followRows(program, core, [&](const device::WrittenRow &row) {
      for (uint32_t to = 0; row.holds && !row.holds->partial && to < program.cores.size(); ++to)
        if (row.cores >> to & 1)
          places[{to, row.address}].insert({row.holds->tensor, row.holds->row});
    });
  std::map<std::string, uint32_t> numbers;
  for (uint32_t i = 0; i < program.tensors.size(); ++i)
    numbers[program.tensors[i].name] = i;

  llvm::DenseMap<mlir::Value, std::vector<uint32_t>> watched;
  for (const frontend::GraphTensor &tensor : oracle.tensors())
    if (const auto number = numbers.find(tensor.name);
        tensor.value && number != numbers.end() &&
        program.tensors[number->second].shape == tensor.shape)
      watched[tensor.value].push_back(number->second);
  std::map<uint32_t, std::map<uint32_t, WantedRow>> wanted; // by tensor
  Evaluator evaluator(oracle.function(), allDirections());
  evaluator.tap = [&](mlir::Value value, const Spread &spread) {
    for (const uint32_t tensor : watched.lookup(value))
      wanted[tensor] = wantedRows(program.tensors[tensor], program.geometry.lanes, spread);
  };
  evaluator.run(inputs);

  std::map<Address, std::vector<WantedRow *>> open;
  std::map<uint32_t, std::vector<WantedRow *>> ofTensor;
  for (const auto &[address, rows] : places)
    for (const auto &[tensor, row] : rows)
      if (const auto known = wanted.find(tensor); known != wanted.end())
        if (const auto found = known->second.find(row); found != known->second.end()) {
          open[address].push_back(&found->second);
          ofTensor[tensor].push_back(&found->second);
        }
  Machine machine(program);
  std::map<Address, std::vector<uint16_t>> held;
  uint64_t looks = 0;
  machine.watch = [&](const device::Device &engine) {
    looks += open.size();
    if (looks > kMostLooks)
      return;
    for (auto &[address, rows] : open) {
      std::vector<uint16_t> now = engine.readRow(address.first, address.second);
      std::vector<uint16_t> &before = held[address];
      if (now == before)
        continue;
      for (WantedRow *row : rows)
        row->isSeen = row->isSeen || row->matches(now);
      before = std::move(now);
    }
  };
  runtime::Arrays arrays;
  for (const reference::Tensor &input : inputs)
    arrays.push_back(input.values);
  if (!machine.infer(arrays) || looks > kMostLooks)
    return std::nullopt;
  for (const frontend::GraphTensor &tensor : oracle.tensors())
    for (const uint32_t number : watched.lookup(tensor.value))
      if (const auto rows = ofTensor.find(number);
          rows != ofTensor.end() &&
          !std::ranges::all_of(rows->second, [](const WantedRow *row) { return row->isSeen; }))
        return Difference{tensor.name, nodeOf(tensor)};
  return std::nullopt;
}

} // namespace sluice::check
