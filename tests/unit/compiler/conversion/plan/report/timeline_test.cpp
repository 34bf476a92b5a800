// Plans of a few beats, written down by hand: their timeline has the cycles of docs/machine.md,
// and those of the engine that computes values. The target has two cores of eight lanes.
#include "compiler/conversion/plan/report/timeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/conversion/plan/beats/images.h"
#include "compiler/conversion/plan/beats/pauses.h"
#include "compiler/conversion/plan/beats/schedule.h"
#include "runtime/device/device.h"
#include "runtime/format/program.h"
#include "tests/support/rows/graphs.h"

namespace sluice::plan::test {
namespace {

using ::testing::ElementsAre;

constexpr uint32_t kHostToken = 1, kDone = 6;
constexpr uint32_t kMatrix = 0, kVector = 2; ///< units, the first of each

struct Timelines : testing::Test {
  GraphBuilder builder{"c2b8", 1};
  MachineBeats beats;
  std::optional<Timeline> timeline;

  Timelines() {
    beats.matrix.resize(2);
    beats.vector.resize(2);
    beats.weights.resize(2);
    beats.doneToken = kDone;
  }

  /// A beat of a row, or one that only waits.
  static void add(UnitBeats &unit, const isa::Instruction &form, Beat beat,
                  rows::RowId row = rows::kNoRow) {
    beat.form = unit.formOf(form);
    unit.beats.push_back(beat);
    BeatOrigin &origin = unit.origins.emplace_back();
    origin.row = row;
    origin.time = unit.beats.size();
  }
  /// A row from the host for matrix units or, as said, others.
  void input(int32_t address, uint32_t mask = 1, uint32_t units = kMatrixBit) {
    isa::Input form;
    form.mask = mask;
    add(beats.host, form, {.address = {address}, .wait = {}, .signal = {true, kHostToken, units}},
        0);
  }
  /// A row of one product with an inbox row, which waits for so many of the host's.
  void product(uint32_t core, int32_t x, uint32_t waits) {
    isa::Mm form;
    form.emit = isa::Emit::Bf16;
    add(beats.matrix[core], form,
        {.address = {x, 0, 0, 0},
         .init = isa::Init::Zero,
         .last = true,
         .wait = {1, waits},
         .signal = {}},
        0);
  }
  /// A row for the host; `signal`: the last of its core.
  void output(uint32_t core, isa::Vec form, int32_t row, bool last, Wait wait = {}) {
    form.dstKind = isa::Dst::Net;
    form.mask = kHostMask;
    add(beats.vector[core], form,
        {.address = {0, 0, 0, row}, .wait = wait, .signal = {last, last ? kDone : 0, 0}}, 0);
  }
  static isa::Vec result() {
    isa::Vec form;
    form.aSrc = isa::Source::Mxu;
    return form;
  }
  static isa::Vec row() {
    isa::Vec form;
    form.aSrc = isa::Source::Ram;
    return form;
  }

  /// Runs the beats as a program of so many rows in and out.
  void run(uint32_t in, uint32_t out, uint32_t busyCores = 1) {
    isa::Input pause;
    pause.skip = 1;
    add(beats.host, pause, {.wait = {kDone, busyCores}, .signal = {}});
    builder.output(std::vector<rows::RowId>(out, builder.input(in)[0]));
    const auto schedule = makeSchedule(builder.graph, beats);
    ASSERT_TRUE(schedule);
    format::Program program = makeShell(builder.graph);
    for (size_t list = 0; list < schedule->lists.size(); ++list)
      for (const Scheduled &one : schedule->lists[list])
        (list < program.cores.size() ? program.cores[list].instructions : program.hostInstructions)
            .push_back(*isa::encode(one.instruction));
    timeline = Timeline::run(builder.graph, beats, program);
    ASSERT_TRUE(timeline);
    EXPECT_EQ(timeline->latency(), computed(program, in, out));
  }

  /// Latency of the second inference, from rest, on the engine that computes.
  static uint64_t computed(const format::Program &program, uint32_t in, uint32_t out) {
    const std::unique_ptr<device::Device> device = device::makeVm();
    device->load(program);
    const std::vector<uint16_t> lanes(program.geometry.lanes, 0);
    uint64_t first = 0, last = 0;
    for (int inference = 0; inference < 2; ++inference) {
      for (int rest = 0; rest < 200; ++rest)
        device->step(nullptr, true);
      for (uint32_t given = 0, taken = 0; taken < out;) {
        const uint64_t now = device->cycle();
        if (now > 10000)
          return 0;
        const auto cycle = device->step(given < in ? lanes.data() : nullptr, true);
        if (cycle.inputTaken && given++ == 0)
          first = now;
        if (cycle.output) {
          ++taken;
          last = now;
        }
      }
    }
    return last - first + 1;
  }

  /// Issues of a unit in the second inference, counted from its first input row.
  std::vector<uint64_t> issues(uint32_t unit) const {
    std::vector<uint64_t> result;
    for (const uint64_t cycle : timeline->issuesOf(unit))
      if (cycle >= timeline->start())
        result.push_back(cycle - timeline->start());
    return result;
  }

  static std::vector<std::pair<Delay, uint64_t>> passed(const std::vector<Passed> &steps) {
    std::vector<std::pair<Delay, uint64_t>> result;
    for (const Passed &step : steps)
      result.emplace_back(step.delay, step.cycles());
    return result;
  }
  /// Why the last output row was taken no earlier.
  std::vector<std::pair<Delay, uint64_t>> way() const { return passed(timeline->beforeEnd(0)); }
  /// Why beat `index` of a unit in the second inference was issued no earlier than `until`,
  /// counted from the first input row.
  std::vector<std::pair<Delay, uint64_t>> before(uint32_t unit, size_t index,
                                                 uint64_t until) const {
    const size_t all = timeline->issuesOf(unit).size() / 2;
    return passed(timeline->before({unit, all + index}, timeline->start() + until));
  }
};

TEST_F(Timelines, OneProduct) {
  input(0);
  product(0, 0, 1);
  output(0, result(), 0, true);
  run(1, 1);
  EXPECT_THAT(issues(kMatrix), ElementsAre(4));
  EXPECT_THAT(issues(kVector), ElementsAre(18));
  EXPECT_EQ(timeline->latency(), 26U);
  EXPECT_THAT(way(),
              ElementsAre(std::pair(Delay::HostRows, 1), std::pair(Delay::Network, 3),
                          std::pair(Delay::VectorDepth, 4), std::pair(Delay::MatrixDepth, 14),
                          std::pair(Delay::Network, 3), std::pair(Delay::HostRows, 1)));
}

TEST_F(Timelines, ProductsOneByOne) {
  input(0);
  for (int32_t i = 0; i < 4; ++i) {
    product(0, 0, i == 0);
    output(0, result(), i, i == 3);
  }
  run(1, 4);
  EXPECT_THAT(issues(kMatrix), ElementsAre(4, 5, 6, 7));
  EXPECT_THAT(issues(kVector), ElementsAre(18, 19, 20, 21));
  EXPECT_EQ(timeline->latency(), 29U);
  EXPECT_THAT(before(kMatrix, 3, 4),
              ElementsAre(std::pair(Delay::Products, 1), std::pair(Delay::Products, 1),
                          std::pair(Delay::Products, 1)));
  EXPECT_THAT(before(kVector, 3, 4),
              ElementsAre(std::pair(Delay::MatrixDepth, 14), std::pair(Delay::Products, 1),
                          std::pair(Delay::Products, 1), std::pair(Delay::Products, 1)));
}

TEST_F(Timelines, RowsThroughTheHostPortOneByOne) {
  for (int32_t i = 0; i < 3; ++i)
    input(i);
  product(0, 2, 3);
  output(0, result(), 0, true);
  run(3, 1);
  EXPECT_THAT(issues(kMatrix), ElementsAre(6));
  EXPECT_THAT(before(kMatrix, 0, 0),
              ElementsAre(std::pair(Delay::Network, 3), std::pair(Delay::HostRows, 1),
                          std::pair(Delay::HostRows, 1), std::pair(Delay::HostRows, 1)));
}

TEST_F(Timelines, TwoPacketsInOneCycle) {
  input(0, 3);
  for (uint32_t core : {0, 1}) {
    product(core, 0, 1);
    output(core, result(), static_cast<int32_t>(core), true);
  }
  run(1, 2, 2);
  EXPECT_THAT(issues(kVector), ElementsAre(18));
  EXPECT_THAT(issues(kVector + 1), ElementsAre(18));
  EXPECT_EQ(timeline->latency(), 27U);
  EXPECT_THAT(way(), testing::Contains(std::pair(Delay::Arbitration, 1)));
}

TEST_F(Timelines, AShorterPathComesBehindTheLonger) {
  isa::Vec shift = row();
  shift.alu1 = isa::Alu::Add;
  shift.rhs1 = isa::Rhs1::Imm;
  input(0, 1, kVectorBit);
  output(0, shift, 0, false, {kHostToken, 1});
  output(0, row(), 1, true);
  run(1, 2);
  EXPECT_THAT(issues(kVector), ElementsAre(4, 4 + 6 + 1)); // an adder takes 6 cycles
  EXPECT_THAT(before(kVector, 1, 4), ElementsAre(std::pair(Delay::PathChange, 7)));
}

TEST_F(Timelines, BeatsThatOnlyWait) {
  input(0, 1, kVectorBit);
  input(1, 1, kVectorBit);
  const isa::Vec form = row();
  add(beats.vector[0], vectorPause(form), {.wait = {kHostToken, 2}, .signal = {}});
  output(0, form, 0, true);
  run(2, 1);
  EXPECT_THAT(issues(kVector), ElementsAre(5, 6));
  EXPECT_TRUE(timeline->pauses({kVector, 0}));
  EXPECT_FALSE(timeline->pauses({kVector, 1}));
  EXPECT_THAT(before(kVector, 1, 5), ElementsAre(std::pair(Delay::WaitBeats, 1)));
}

TEST_F(Timelines, ResultsThatNobodyTakesFillTheirFifo) {
  input(0, 1, kMatrixBit | kVectorBit);
  input(1, 1, kVectorBit);
  constexpr int32_t kRows = static_cast<int32_t>(isa::kResultFifoDepth) + 1;
  for (int32_t i = 0; i < kRows; ++i) {
    product(0, 0, i == 0);
    output(0, result(), i, i + 1 == kRows, {kHostToken, i == 0 ? 2U : 0U});
  }
  run(2, kRows);
  // The vector unit waits for nothing but its first result, in cycle 18; the 33rd product
  // for the place that this leaves.
  EXPECT_EQ(issues(kVector).front(), 18U);
  EXPECT_EQ(issues(kMatrix)[kRows - 1], 36U);
}

TEST_F(Timelines, WhatStallsHasNone) {
  input(0);
  product(0, 0, 2); // one comes
  output(0, result(), 0, true);
  builder.output(builder.input(1));
  const auto schedule = makeSchedule(builder.graph, beats);
  format::Program program = makeShell(builder.graph);
  for (size_t list = 0; list < 2; ++list)
    for (const Scheduled &one : schedule->lists[list])
      program.cores[list].instructions.push_back(*isa::encode(one.instruction));
  program.hostInstructions.push_back(*isa::encode(schedule->lists[2][0].instruction));
  EXPECT_FALSE(Timeline::run(builder.graph, beats, program));
}

} // namespace
} // namespace sluice::plan::test
