// Networks with a memory while a host does to them what it may: inferences at any pace, in a row
// or one by one, output that is taken late, resets at any time, states saved and restored. The
// engines agree in every cycle, and each inference gives, bit for bit, what it gives behind the
// same ones on a machine to which nothing else has happened: nothing is left of other streams.
// SLUICE_STREAM_PROGRAMS is another folder of programs, SLUICE_STREAM_EVENTS how often a stream is
// interrupted, SLUICE_STREAM_SEED the first seed.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>

#include <gtest/gtest.h>

#include "runtime/device/device.h"
#include "runtime/format/packed_rows.h"
#include "runtime/format/program_file.h"
#include "runtime/format/state.h"
#include "runtime/format/targets.h"
#include "tests/support/environment.h"
#include "tests/support/rng.h"

namespace sluice::fixtures {
namespace {

using Rows = std::vector<std::vector<uint16_t>>;
using History = std::vector<uint64_t>; ///< of a stream: the seeds of its inferences' inputs

/// Cycles without progress after which a machine is at rest.
constexpr unsigned kRest = 128;
constexpr uint64_t kTooLong = 100000;

uint32_t rowsOf(const std::vector<format::HostTensor> &tensors) {
  uint32_t rows = 0;
  for (const format::HostTensor &tensor : tensors)
    rows += tensor.rows;
  return rows;
}

/// The rows of one inference, bf16 in [-1, 1]: lanes beyond a tensor are zero.
Rows inputOf(const format::Program &program, uint64_t seed) {
  Rng rng(seed);
  const size_t lanes = program.geometry.lanes;
  Rows rows(rowsOf(program.models[0].inputs), std::vector<uint16_t>(lanes, 0));
  for (const format::HostTensor &tensor : program.models[0].inputs)
    for (uint32_t row = 0; row < tensor.rows; ++row)
      for (size_t lane = 0; lane < lanes; ++lane) {
        const std::vector<int64_t> packed = format::PackedRows(tensor, 1).packed;
        const auto extent = static_cast<size_t>(packed.empty() ? 1 : packed[tensor.dataDim]);
        const size_t blocks = (extent + lanes - 1) / lanes;
        if (row % blocks * lanes + lane < extent)
          rows[tensor.firstRow + row][lane] =
              static_cast<uint16_t>(rng.range(0x3D00, 0x3F80) | rng.range(0, 1) << 15);
      }
  return rows;
}

/// One engine, or two of which each cycle is compared.
class Machine {
public:
  Machine(const format::Program &program, device::Device &model, device::Device *other)
      : program(program), model(model), other(other) {
    model.load(program);
    if (other)
      other->load(program);
  }

  device::Device::Cycle step(const uint16_t *row, bool ready) {
    device::Device::Cycle cycle = model.step(row, ready);
    if (other) {
      const device::Device::Cycle theirs = other->step(row, ready);
      EXPECT_EQ(cycle.inputTaken, theirs.inputTaken) << "cycle " << model.cycle();
      EXPECT_EQ(cycle.progress, theirs.progress) << "cycle " << model.cycle();
      EXPECT_EQ(cycle.output.has_value(), theirs.output.has_value()) << "cycle " << model.cycle();
      if (cycle.output && theirs.output) {
        EXPECT_EQ(cycle.output->address, theirs.output->address) << "cycle " << model.cycle();
        EXPECT_EQ(cycle.output->lanes, theirs.output->lanes) << "cycle " << model.cycle();
      }
    }
    ++cycles;
    return cycle;
  }

  void rest() {
    for (unsigned quiet = 0, all = 0; quiet < kRest; ++all) {
      const device::Device::Cycle cycle = step(nullptr, true);
      quiet = cycle.progress ? 0 : quiet + 1;
      ASSERT_FALSE(cycle.output) << "row " << cycle.output->address << " too often";
      ASSERT_LT(all, kTooLong) << "does not come to rest";
    }
  }

  void restart(const format::EntryPoint &entry, std::span<const uint16_t> state) {
    const uint64_t took = model.restart(entry, state);
    if (other) {
      EXPECT_EQ(other->restart(entry, state), took);
    }
  }

  /// What the program sends of its state; then it goes on with it.
  std::vector<uint16_t> save() {
    restart(program.state.save, {});
    const size_t lanes = program.geometry.lanes, rows = format::stateRows(program.state);
    std::vector<uint16_t> image(rows * lanes);
    size_t missing = rows;
    for (uint64_t all = 0; missing > 0 && all < kTooLong; ++all) {
      const device::Device::Cycle cycle = step(nullptr, true);
      if (!cycle.output)
        continue;
      if (cycle.output->address >= rows) {
        ADD_FAILURE() << "row " << cycle.output->address << " of the state, which has " << rows;
        break;
      }
      std::ranges::copy(cycle.output->lanes,
                        image.begin() + static_cast<std::ptrdiff_t>(cycle.output->address * lanes));
      --missing;
    }
    EXPECT_EQ(missing, 0U) << "rows of the state";
    restart({}, {});
    return image;
  }

  uint64_t cycles = 0;

private:
  const format::Program &program;
  device::Device &model;
  device::Device *other;
};

/// Inferences one by one, at rest in between, on a machine of their own.
class Alone {
public:
  Alone(const format::Program &program, device::Device &model) : program(program), model(model) {}

  /// The output rows of the last inference of a stream.
  const Rows &last(const History &history) {
    Rows &outputs = known[history];
    if (!outputs.empty())
      return outputs;
    machine.emplace(program, model, nullptr);
    const size_t rows = rowsOf(program.models[0].outputs);
    History so;
    for (const uint64_t seed : history) {
      so.push_back(seed);
      Rows &now = known[so];
      now.assign(rows, {});
      const Rows input = inputOf(program, seed);
      size_t offered = 0;
      for (size_t came = 0, all = 0; came < rows && all < kTooLong; ++all) {
        const auto cycle =
            machine->step(offered < input.size() ? input[offered].data() : nullptr, true);
        offered += cycle.inputTaken ? 1 : 0;
        if (cycle.output) {
          now[cycle.output->address] = cycle.output->lanes;
          ++came;
        }
      }
      machine->rest();
    }
    return known[history];
  }

private:
  const format::Program &program;
  device::Device &model;
  std::optional<Machine> machine;
  std::map<History, Rows> known;
};

/// A stream on a machine, and what happens to it.
class Stream {
public:
  Stream(const format::Program &program, Machine &machine, Alone &alone, uint64_t seed)
      : program(program), machine(machine), alone(alone), rng(seed),
        initial(format::initialState(program)), outputs(rowsOf(program.models[0].outputs)) {}

  void run(uint64_t events) {
    for (uint64_t event = 0; event < events && !::testing::Test::HasFailure(); ++event) {
      const bool interrupted = rng.percent(25);
      infer(static_cast<uint64_t>(rng.range(1, 4)), interrupted);
      if (interrupted || rng.percent(25)) {
        machine.restart({}, initial);
        history.clear();
        ++resets;
        continue;
      }
      if (rng.percent(50))
        continue; // the next ones come while these are on their way
      machine.rest();
      if (program.state.save.empty())
        continue;
      if (rng.percent(60)) {
        saved.emplace_back(history, machine.save());
        ++saves;
      }
      if (!saved.empty() && rng.percent(50)) {
        const auto &[then, image] = saved[rng.next() % saved.size()];
        machine.restart({}, image);
        history = then;
        ++restores;
      }
    }
  }

  uint64_t inferences = 0, resets = 0, saves = 0, restores = 0;

private:
  /// `count` inferences, offered at some pace; in a row, or each when the one before is out. If
  /// interrupted, left in the midst of them.
  void infer(uint64_t count, bool interrupted) {
    const auto offers = static_cast<unsigned>(rng.pick({100, 100, 60, 15})),
               takes = static_cast<unsigned>(rng.pick({100, 100, 60, 15}));
    const bool inARow = rng.percent(60);
    Rows input;
    std::vector<History> expected;
    for (uint64_t i = 0; i < count; ++i) {
      history.push_back(rng.next());
      expected.push_back(history);
      for (std::vector<uint16_t> &row : inputOf(program, history.back()))
        input.push_back(std::move(row));
    }
    const size_t each = input.size() / count, wanted = count * outputs;
    const uint64_t last = interrupted ? static_cast<uint64_t>(rng.range(1, 400)) : kTooLong;
    std::vector<size_t> came(outputs, 0);
    size_t offered = 0, out = 0;
    for (uint64_t all = 0; out < wanted && all < last; ++all) {
      const bool mayOffer = offered < input.size() &&
                            (inARow || offered % each != 0 || offered / each * outputs <= out);
      const auto cycle = machine.step(
          mayOffer && rng.percent(offers) ? input[offered].data() : nullptr, rng.percent(takes));
      offered += cycle.inputTaken ? 1 : 0;
      if (!cycle.output)
        continue;
      ++out;
      const uint32_t row = cycle.output->address;
      ASSERT_LT(row, outputs);
      ASSERT_LT(came[row], count) << "row " << row << " too often";
      const History &behind = expected[came[row]++];
      ASSERT_EQ(cycle.output->lanes, alone.last(behind)[row])
          << "row " << row << " of inference " << behind.size() << " of its stream";
    }
    if (!interrupted) {
      ASSERT_EQ(out, wanted) << "stalls";
    }
    inferences += out / outputs;
  }

  const format::Program &program;
  Machine &machine;
  Alone &alone;
  Rng rng;
  const std::vector<uint16_t> initial;
  const size_t outputs; ///< rows of an inference
  History history;
  std::vector<std::pair<History, std::vector<uint16_t>>> saved;
};

TEST(Streams, GiveWhatTheyGiveAlone) {
  const char *given = std::getenv("SLUICE_STREAM_PROGRAMS");
  const std::filesystem::path folder = given ? given : STREAM_PROGRAMS;
  const uint64_t events = fromEnvironment("SLUICE_STREAM_EVENTS", 12),
                 first = fromEnvironment("SLUICE_STREAM_SEED", 1);
  const auto model = device::makeVm(), other = device::makeVm(),
             rtl = device::makeRtl(*format::findPreset("c2b8"));
  ASSERT_TRUE(rtl) << device::whyNoRtl(*format::findPreset("c2b8"));
  std::vector<std::filesystem::path> files;
  if (std::filesystem::exists(folder))
    for (const auto &entry : std::filesystem::directory_iterator(folder))
      if (entry.path().extension() == ".sluice")
        files.push_back(entry.path());
  ASSERT_TRUE(!given || !files.empty()) << "no programs in " << folder;
  if (files.empty())
    GTEST_SKIP() << "no programs in " << folder << ": make_programs.py makes them";
  std::sort(files.begin(), files.end());
  uint64_t inferences = 0, resets = 0, saves = 0, restores = 0, cycles = 0;
  for (const std::filesystem::path &file : files) {
    SCOPED_TRACE(file);
    const format::ReadResult read = format::readFile(file);
    ASSERT_TRUE(read.program);
    Machine machine(*read.program, *model, rtl.get());
    Alone alone(*read.program, *other);
    Stream stream(*read.program, machine, alone, first);
    stream.run(events);
    EXPECT_FALSE(model->tokenFault() || rtl->tokenFault());
    if (HasFailure())
      return;
    inferences += stream.inferences;
    resets += stream.resets;
    saves += stream.saves;
    restores += stream.restores;
    cycles += machine.cycles;
  }
  std::cout << files.size() << " programs, " << inferences << " inferences, " << resets
            << " resets, " << saves << " saves, " << restores << " restores, " << cycles
            << " cycles\n";
  EXPECT_GT(resets, files.size());
  EXPECT_GT(saves, files.size() / 2);
  EXPECT_GT(restores, files.size() / 2);
}

} // namespace
} // namespace sluice::fixtures
