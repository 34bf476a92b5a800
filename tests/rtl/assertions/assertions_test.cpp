// Programs that the loader would refuse, and writes out of turn, on the flavour with
// assertions: each must stop at the assertion that guards against it.
#include <unistd.h>

#include <functional>

#include <gtest/gtest.h>

#include "hw/isa/isa.h"
#include "runtime/device/device.h"
#include "runtime/format/program.h"
#include "runtime/format/targets.h"
#include "sim/verilator/model.h"

namespace sluice::device {
namespace {

using format::CoreImage;
using isa::Mm;
using isa::Vec;
using verilator::Memory;

const format::Geometry &tiny() { return *format::findPreset("c2b8"); }

/// The simulator reports on the standard output, which death tests do not read.
void reportToError() { dup2(STDERR_FILENO, STDOUT_FILENO); }

template <class Inst> void append(CoreImage &core, const Inst &inst) {
  core.instructions.push_back(isa::encode(inst).value());
}

void run(const CoreImage &core) {
  reportToError();
  format::Program program;
  program.geometry = tiny();
  program.cores = {core, {}};
  append(program.cores[0], isa::Halt{});
  append(program.cores[1], isa::Halt{});
  program.hostInstructions = {isa::encode(isa::Halt{}).value()};
  const std::unique_ptr<Device> device = makeRtl(tiny(), true);
  device->load(program);
  for (int cycle = 0; cycle < 10000; ++cycle)
    device->step(nullptr, true);
}

struct Breach {
  std::string name;
  std::string place; ///< instance whose assertion stops it
  std::function<void()> act;

  friend void PrintTo(const Breach &breach, std::ostream *os) { *os << breach.name; }
};

Breach matrix(const std::string &name, const std::string &place, const Mm &mm) {
  return {name, place, [mm] {
            CoreImage core;
            append(core, mm);
            run(core);
          }};
}

Breach vector(const std::string &name, const std::string &place, const Vec &vec) {
  return {name, place, [vec] {
            CoreImage core;
            append(core, vec);
            run(core);
          }};
}

/// Calls `act` with the model that has assertions, after a reset.
void withModel(const std::function<void(verilator::Model &)> &act) {
  reportToError();
  for (const verilator::ModelEntry &entry : verilator::models()) {
    if (!entry.waves || entry.geometry.rtl != tiny().rtl)
      continue;
    const std::unique_ptr<verilator::Model> model = entry.make(1);
    model->reset(); // the first evaluation sees no edge
    model->reset();
    act(*model);
  }
}

/// When a write of the configuration port arrives: before any start, in the cycle of the start,
/// or after it.
enum class When : uint8_t { Stopped, AtStart, Running };

Breach configuration(const std::string &name, const std::string &place, Memory memory,
                     uint32_t address, When when = When::Stopped) {
  return {name, place, [=] {
            withModel([&](verilator::Model &model) {
              const std::vector<uint16_t> row(tiny().lanes);
              // A write arrives one cycle later; one to no core lets the one before it arrive.
              model.configure(1, Memory::Instruction, 0, row);
              model.configure(0, Memory::Instruction, 0, row);
              if (when == When::Running)
                model.start();
              model.configure(1, memory, address, row);
              if (when == When::AtStart)
                model.start();
              model.configure(0, memory, 0, row);
            });
          }};
}

/// Entries of a table are written while beats look theirs up.
void writeTableDuringLookUps() {
  withModel([](verilator::Model &model) {
    Vec vec;
    vec.n = {1, 1, 1, 1000};
    vec.tableEn = 1;
    const auto words = isa::encode(vec).value();
    const uint32_t lanes = tiny().lanes;
    for (uint32_t chunk = 0; chunk * lanes * 16 < isa::kInstBits; ++chunk) {
      std::vector<uint16_t> row(lanes);
      for (uint32_t i = 0; i < lanes; ++i)
        if (const uint32_t bit = (chunk * lanes + i) * 16; bit < isa::kInstBits)
          row[i] = static_cast<uint16_t>(words[bit / 64] >> bit % 64);
      model.configure(1, Memory::Instruction, chunk, row);
    }
    const std::vector<uint16_t> row(lanes);
    model.configure(0, Memory::Instruction, 0, row);
    model.start();
    for (int cycle = 0; cycle < 100; ++cycle)
      model.configure(1, Memory::Table, 0, row);
  });
}

/// The largest sum an accumulator holds, and a product of the same anchor on top.
void overflowAccumulator() {
  constexpr uint16_t kLarge = 0x7F00; // 2^127
  const uint32_t lanes = tiny().lanes;
  CoreImage core;
  core.rows.push_back({0, std::vector<uint16_t>(lanes, kLarge)});
  core.weights.push_back({0, std::vector<uint16_t>(size_t{lanes} * lanes, kLarge)});
  const uint64_t sum = (uint64_t{1} << (isa::kAccBits - 1)) - 1;
  core.preloads.push_back({0, std::vector<uint64_t>(lanes, sum | uint64_t{63} << isa::kAccBits)});
  Mm mm;
  mm.init = isa::Init::Preload;
  append(core, mm);
  run(core);
}

/// More than 2^15 lanes of the largest value and one sign.
void overflowSum() {
  constexpr uint16_t kLarge = 0x7BFF; // the most significant of the largest shift
  CoreImage core;
  core.rows.push_back({0, std::vector<uint16_t>(tiny().lanes, kLarge)});
  Vec vec;
  vec.n = {1, 1, 2, 4095};
  vec.aSrc = isa::Source::Ram;
  vec.reduce = isa::Reduce::Sum;
  append(core, vec);
  run(core);
}

std::vector<Breach> breaches() {
  const format::Geometry &size = tiny();
  const auto local = [&](uint32_t row) { return isa::kLocalBase + row; };
  const auto with = [](auto inst, auto change) {
    change(inst);
    return inst;
  };
  const auto read = [&](uint32_t a) {
    return with(Vec{}, [&](Vec &vec) {
      vec.aSrc = isa::Source::Ram;
      vec.a = a;
    });
  };
  const auto write = [&](isa::Dst kind, uint32_t dst, uint32_t mask = 0) {
    return with(Vec{}, [&](Vec &vec) {
      vec.dstKind = kind;
      vec.dst = dst;
      vec.mask = mask;
    });
  };
  const auto preload = [&](isa::Init init, isa::Emit emit) {
    return with(Mm{}, [&](Mm &mm) {
      mm.p = size.preloadRows;
      mm.init = init;
      mm.emit = emit;
    });
  };
  const Vec lookUp = with(Vec{}, [&](Vec &vec) {
    vec.tableEn = 1;
    vec.tableId = size.tables;
  });
  return {
      matrix("MatrixReadsBeyondTheLocalRows", "u_tensor",
             with(Mm{}, [&](Mm &mm) { mm.x = local(size.localRows); })),
      vector("VectorReadsBeyondTheInbox", "u_tensor", read(size.inboxRows)),
      matrix("RingThatIsLargerThanTheInbox", "u_tensor",
             with(Mm{},
                  [&](Mm &mm) {
                    mm.x = size.inboxRows - 1;
                    mm.n[3] = 2;
                    mm.xStride[3] = 1;
                    mm.xRing = 11;
                  })),
      vector("VectorReadsBeyondTheLocalRows", "u_tensor", read(local(size.localRows))),
      vector("LocalWriteBeyondTheEnd", "u_tensor", write(isa::Dst::Local, local(size.localRows))),
      vector("LocalWriteIntoTheInbox", "u_tensor", write(isa::Dst::Local, 0)),
      vector("InboxWriteBeyondTheEnd", "u_tensor", write(isa::Dst::Net, size.inboxRows, 2)),
      vector("InboxAddressTooWide", "u_core", write(isa::Dst::Net, 1 << 16, 2)),
      vector("PacketToNobody", "u_network", write(isa::Dst::Net, 0, 0)),
      vector("PacketToACoreThatIsNotThere", "u_network", write(isa::Dst::Net, 0, 1 << 2)),
      matrix("WeightBlockBeyondTheEnd", "u_matrix",
             with(Mm{}, [&](Mm &mm) { mm.w = size.weightBlocks; })),
      vector("WeightRowBeyondTheEnd", "u_matrix",
             write(isa::Dst::Wrow, size.weightBlocks * size.lanes)),
      vector("WeightColumnBeyondTheEnd", "u_matrix",
             write(isa::Dst::Wcol, size.weightBlocks * size.lanes)),
      matrix("AccumulatorBeyondTheEnd", "u_accumulator",
             with(Mm{}, [&](Mm &mm) { mm.acc = size.accumulators; })),
      matrix("PreloadReadBeyondTheEnd", "u_preload", preload(isa::Init::Preload, isa::Emit::None)),
      matrix("PreloadWriteBeyondTheEnd", "u_preload", preload(isa::Init::Zero, isa::Emit::Raw)),
      vector("TableThatIsNotThere", "u_table", lookUp),
      {"AccumulatorOverflows", "u_accumulator", overflowAccumulator},
      {"SumOverflows", "u_sum", overflowSum},
      {"TableWrittenDuringLookUps", "u_table", writeTableDuringLookUps},
      configuration("InstructionsBeyondTheEnd", "u_sequencer", Memory::Instruction,
                    size.instructions * 8),
      configuration("InstructionsWhileRunning", "u_sequencer", Memory::Instruction, 0,
                    When::Running),
      configuration("InstructionsAtTheStart", "u_sequencer", Memory::Instruction, 0, When::AtStart),
      configuration("ConfigurationAddressTooWide", "u_core", Memory::Inbox, 1 << 16),
      configuration("WeightsBeyondTheEnd", "u_matrix", Memory::Weights,
                    size.weightBlocks * size.lanes),
      configuration("InboxBeyondTheEnd", "u_tensor", Memory::Inbox, size.inboxRows),
      configuration("LocalBeyondTheEnd", "u_tensor", Memory::Local, local(size.localRows)),
      configuration("PreloadBeyondTheEnd", "u_preload", Memory::Preload, size.preloadRows * 4),
      configuration("TableBeyondTheEnd", "u_table", Memory::Table,
                    size.tables * isa::kTableEntries),
      configuration("TableHeaderBeyondTheEnd", "u_table", Memory::TableHeader, size.tables * 4),
  };
}

class Assertions : public ::testing::TestWithParam<Breach> {};

TEST_P(Assertions, Stop) {
  if (!makeRtl(tiny(), true))
    GTEST_SKIP() << "this build has no RTL of " << tiny().name << " with assertions";
  EXPECT_DEATH(GetParam().act(),
               "Assertion failed in [^ ]*" + GetParam().place + "(.gen_[a-z]*.[0-9]*.)?: ");
}

INSTANTIATE_TEST_SUITE_P(Breaches, Assertions, ::testing::ValuesIn(breaches()),
                         [](const auto &info) { return info.param.name; });

} // namespace
} // namespace sluice::device
