// Runs inferences one after the other and tells what was in every tensor row that the program
// computes, and what the program file says of it.
//
// usage: watch_rows PROGRAM.sluice ENGINE INPUT.f32... (row-major fp32, by input; of as many
//        inferences as there are numbers)
//
//   tensor NAME DATA_DIM EXTENT...
//   row CORE ADDRESS BY INSTRUCTION TENSOR ROW PARTIAL   by writer, in its order; -1 -1 0: unnamed
//   seen CORE ADDRESS LANE...                            in the order of cycles, when it changes
//
// Output rows are those of the core behind the last one.
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hw/numerics/numerics.h"
#include "runtime/addressing/addressing.h"
#include "runtime/device/device.h"
#include "runtime/device/written_rows.h"
#include "runtime/format/host_rows.h"
#include "runtime/format/packed_rows.h"
#include "runtime/format/program_file.h"

using namespace sluice;

namespace {

using Row = std::vector<uint16_t>;

std::vector<float> readFloats(const char *path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  std::vector<float> values(bytes.size() / sizeof(float));
  std::copy_n(bytes.data(), values.size() * sizeof(float), reinterpret_cast<char *>(values.data()));
  return values;
}

/// The rows of an input, in order.
std::vector<Row> rowsOf(const format::HostTensor &tensor, uint32_t lanes, const float *values) {
  std::vector<Row> rows(tensor.rows, Row(lanes, 0));
  format::hostSlots(tensor, lanes).forEach([&](int64_t position, int64_t slot) {
    rows[slot / lanes][slot % lanes] = numerics::roundToBf16(values[position]);
  });
  return rows;
}

using Address = std::pair<uint32_t, uint32_t>; // core, row

void run(device::Device &engine, const format::Program &program, const std::vector<Row> &inputs,
         size_t inferences, std::map<Address, Row> &now) {
  size_t outputs = 0;
  for (const format::HostTensor &tensor : program.models[0].outputs)
    outputs += inferences * tensor.rows;
  engine.load(program);
  for (auto &[at, row] : now)
    row = engine.readRow(at.first, at.second);
  size_t given = 0;
  size_t taken = 0;
  constexpr unsigned kBehind = 200; // cycles in which the last rows are written
  for (unsigned behind = 0; behind < kBehind; behind += taken == outputs) {
    const auto cycle = engine.step(given < inputs.size() ? inputs[given].data() : nullptr, true);
    given += cycle.inputTaken;
    if (cycle.output) {
      fmt::print("seen {} {} {}\n", program.cores.size(), cycle.output->address,
                 fmt::join(cycle.output->lanes, " "));
      ++taken;
    }
    for (auto &[at, row] : now) {
      Row next = engine.readRow(at.first, at.second);
      if (next == row)
        continue;
      row = std::move(next);
      fmt::print("seen {} {} {}\n", at.first, at.second, fmt::join(row, " "));
    }
  }
}

} // namespace

int main(int count, char **arguments) {
  if (count < 3)
    return 2;
  const format::ReadResult read = format::readFile(arguments[1]);
  if (!read.program) {
    fmt::print(stderr, "{}\n", read.problems.front().message);
    return 1;
  }
  const format::Program &program = *read.program;
  const uint32_t lanes = program.geometry.lanes;
  for (const format::ModelTensor &tensor : program.tensors)
    fmt::print("tensor {} {} {} as {}\n", tensor.name, tensor.dataDim, fmt::join(tensor.shape, " "),
               fmt::join(format::PackedRows(tensor).packed, " "));
  std::map<Address, Row> now;
  for (uint32_t core = 0; core < program.cores.size(); ++core)
    device::followRows(program, core, [&](const device::WrittenRow &row) {
      for (uint32_t to = 0; to <= program.cores.size(); ++to) {
        const bool host = to == program.cores.size();
        if (host ? !row.toHost : (row.cores >> to & 1) == 0)
          continue;
        if (!host)
          now[{to, row.address}];
        fmt::print("row {} {} {} {} {} {} {}\n", to, row.address, row.core, row.instruction,
                   row.holds ? static_cast<int64_t>(row.holds->tensor) : -1,
                   row.holds ? static_cast<int64_t>(row.holds->row) : -1,
                   row.holds && row.holds->partial ? 1 : 0);
      }
    });
  std::vector<std::vector<float>> values;
  size_t inferences = 1;
  for (size_t i = 0; i < program.models[0].inputs.size(); ++i) {
    values.push_back(readFloats(arguments[3 + i]));
    inferences = values[i].size() / addressing::elementsOf(program.models[0].inputs[i].shape);
  }
  std::vector<Row> inputs;
  for (size_t inference = 0; inference < inferences; ++inference)
    for (size_t i = 0; i < values.size(); ++i) {
      const format::HostTensor &tensor = program.models[0].inputs[i];
      const auto rows = rowsOf(tensor, lanes,
                               values[i].data() + inference * addressing::elementsOf(tensor.shape));
      inputs.insert(inputs.end(), rows.begin(), rows.end());
    }
  const auto engine =
      std::string(arguments[2]) == "rtl" ? device::makeRtl(program.geometry) : device::makeVm();
  run(*engine, program, inputs, inferences, now);
  return 0;
}
