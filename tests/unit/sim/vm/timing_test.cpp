// The timing-only runs give the cycles of the full model.
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/vm/timing.h"
#include "tests/support/random_program.h"
#include "tests/unit/sim/vm/test_machine.h"

namespace sluice::vm {
namespace {

using ::testing::SizeIs;
using ::testing::StrEq;

/// `rows` rows in, multiplied one by one by the identity, and out again.
TestProgram rowByRow(uint32_t rows) {
  TestProgram test;
  test.identity(0, 0);
  isa::Input input;
  input.n[3] = rows;
  input.dstStride[3] = 1;
  input.mask = 1;
  gives(input, 0, 1, 4);
  isa::Mm mm = product(0, 0);
  mm.n[3] = rows;
  mm.xStride[3] = 1;
  mm.emitLevel = 4;
  mm.initLevel = 4;
  waitsFor(mm, 0, 1, 4);
  isa::Vec vec = sendResult(0);
  vec.n[3] = rows;
  vec.dstStride[3] = 1;
  test.host({input, isa::Restart{}});
  test.core(0, {mm, vec, isa::Restart{}});
  test.core(1, {isa::Halt{}});
  format::HostTensor tensor;
  tensor.rows = rows;
  test.program.models[0].inputs = {tensor};
  test.program.models[0].outputs = {tensor};
  return test;
}

TEST(Timing, MeasuresWhatTheContractSays) {
  // A row takes 26 cycles (machine_test.cpp), and rows follow each other.
  const std::optional<Timing> one = measureTiming(rowByRow(1).program);
  ASSERT_TRUE(one);
  EXPECT_EQ(one->spaced, 26U);
  EXPECT_EQ(one->contiguous, 26.0);
  EXPECT_EQ(one->period, 4.0); // the core's sequencer: three instructions, one of them a jump
  const std::optional<Timing> ten = measureTiming(rowByRow(10).program);
  ASSERT_TRUE(ten);
  EXPECT_EQ(ten->spaced, 35U);
  EXPECT_EQ(ten->contiguous, 35.0);
  EXPECT_EQ(ten->period, 20.0); // the network: ten packets in, ten out
}

TEST(Timing, StepsFollowEachOther) {
  TestProgram test = rowByRow(1);
  for (const uint32_t steps : {2U, 63U, 64U, 65U, 1000U}) {
    test.program.models[0].steps = steps;
    const std::optional<Timing> timing = measureTiming(test.program);
    ASSERT_TRUE(timing);
    // Those beyond the first 64 are told from their pattern.
    const TimingRun fromRest = runTiming(test.program, Arrival::Burst, steps);
    const TimingRun atOnce = runTiming(test.program, Arrival::Streaming, steps);
    EXPECT_EQ(timing->spaced,
              fromRest.inferences[steps - 1].lastOutput - fromRest.inferences[0].firstInput + 1);
    // In its stride the machine takes a step every four cycles.
    if (steps > 2)
      EXPECT_EQ(timing->spaced, 18U + 4 * steps);
    // The configuration port resets and starts the machine between them; there is no state.
    EXPECT_EQ(timing->period, static_cast<double>(atOnce.inferences[steps - 1].lastOutput + 1 + 2));
    EXPECT_EQ(timing->contiguous, timing->period);
  }
}

TEST(Timing, ReportsAStall) {
  TestProgram test = rowByRow(3);
  test.program.models[0].outputs[0].rows = 4; // never comes
  const TimingRun run = runTiming(test.program, Arrival::Spaced, 1);
  EXPECT_TRUE(run.stalled);
  EXPECT_THAT(run.inferences, SizeIs(0));
  ASSERT_FALSE(run.status.empty());
  EXPECT_THAT(run.status[0].unit, StrEq("matrix"));
  EXPECT_EQ(run.status[0].block, device::UnitStatus::Block::Token);
  EXPECT_FALSE(measureTiming(test.program));
}

TEST(Timing, StopsAtTheLimit) {
  const TimingRun run = runTiming(rowByRow(3).program, Arrival::Streaming, 1000000, 0, 500);
  EXPECT_TRUE(run.stalled);
  // Six packets for three rows in and three rows out.
  EXPECT_GE(run.inferences.size(), (500U - 30) / 6);
  EXPECT_LE(run.inferences.size(), 500U / 6);
}

TEST(Timing, AgreesWithTheFullModelOnRandomPrograms) {
  unsigned compared = 0, comparedSpaced = 0;
  for (uint64_t seed = 1; seed <= 400; ++seed) {
    format::Geometry geometry = *format::findPreset("c2b8");
    if (seed % 2 == 0)
      geometry.stages = fixtures::randomStages(seed);
    fixtures::RandomProgram random = fixtures::makeRandomProgram(seed, geometry);
    if (random.inputRows.empty())
      continue;
    // Every row handed out counts, also where one is written twice.
    const uint64_t rowsIn = random.inputRows.size() / random.passes;
    const uint64_t rowsOut = random.outputRows / random.passes;
    random.program.models[0].outputs.resize(1);
    random.program.models[0].outputs[0].rows = static_cast<uint32_t>(rowsOut);

    const std::vector<std::vector<uint16_t>> &rows = random.inputRows;
    const auto compare = [&](const TimingRun &run, const TestMachine &machine) {
      for (size_t i = 0; i < run.inferences.size(); ++i) {
        EXPECT_EQ(run.inferences[i].firstInput, machine.taken.at(i * rowsIn)) << "seed " << seed;
        EXPECT_EQ(run.inferences[i].lastOutput, machine.outputs.at((i + 1) * rowsOut - 1).cycle)
            << "seed " << seed;
        ++compared;
      }
    };
    TestMachine one(random.program);
    one.run(3000, {rows.begin(), rows.begin() + static_cast<int64_t>(rowsIn)});
    compare(runTiming(random.program, Arrival::Contiguous, 1, 0, 3000), one);
    const TimingRun spaced = runTiming(random.program, Arrival::Spaced, 1, 0, 4000);
    if (!spaced.stalled) { // offered when the run says that the machine is at rest
      TestMachine rested(random.program);
      rested.run(static_cast<unsigned>(spaced.inferences[0].firstInput));
      EXPECT_FALSE(rested.device->step(nullptr, true).progress) << "seed " << seed;
      TestMachine again(random.program);
      again.run(static_cast<unsigned>(spaced.inferences[0].firstInput));
      again.run(4000, {rows.begin(), rows.begin() + static_cast<int64_t>(rowsIn)});
      compare(spaced, again);
      ++comparedSpaced;
    }
    if (random.passes == 1)
      continue;
    TestMachine many(random.program);
    std::vector<std::vector<uint16_t>> again;
    while (again.size() < 3000) // one for every cycle
      again.insert(again.end(), rows.begin(), rows.end());
    many.run(3000, again);
    compare(runTiming(random.program, Arrival::Streaming, random.passes, 0, 3000), many);
  }
  EXPECT_GT(compared, 100U);
  EXPECT_GT(comparedSpaced, 100U);
}

TEST(Timing, AgreesWhereUnitsRunOnForLong) {
  // 8,000 products, each telling the vector unit, before the one that waits for a row.
  TestProgram test = rowByRow(1);
  isa::Mm many = product(0, 0);
  many.n = {1, 1, 2, 4000};
  many.emit = isa::Emit::None;
  gives(many, 5, 2, 4);
  isa::Vec count; // takes what it is told, one by one
  count.n = {1, 1, 2, 4000};
  waitsFor(count, 5, 1, 4);
  isa::Mm mm = product(0, 0);
  waitsFor(mm, 0, 1);
  test.program.cores[0].instructions.clear();
  test.core(0, {many, count, mm, sendResult(0), isa::Restart{}});
  test.program.cores[1].instructions.clear();
  test.core(1, {isa::Setreg{.index = 1, .imm = 1}, isa::Restart{}}); // never comes to rest
  const TimingRun run = runTiming(test.program, Arrival::Contiguous, 3);
  ASSERT_THAT(run.inferences, SizeIs(3));
  TestMachine machine(test.program);
  for (const InferenceTimes &one : run.inferences) {
    machine.run(static_cast<unsigned>(one.lastOutput + 1 - machine.device->cycle()),
                {test.lanes(0x3F80)});
    EXPECT_EQ(machine.taken.back(), one.firstInput);
    ASSERT_FALSE(machine.outputs.empty());
    EXPECT_EQ(machine.outputs.back().cycle, one.lastOutput);
  }
  EXPECT_TRUE(runTiming(test.program, Arrival::Spaced, 1, 0, 100000).stalled);
}

/// Counts the cycles in which each unit issued.
struct Issues final : Watch {
  std::map<std::tuple<Unit, uint32_t, uint64_t>, unsigned> at;
  std::vector<std::pair<uint32_t, uint64_t>> grants;

  void issued(Unit unit, uint32_t core, uint64_t first, uint64_t beats) override {
    for (uint64_t i = 0; i < beats; ++i)
      ++at[{unit, core, first + i}];
  }
  void granted(uint32_t source, uint64_t cycle) override { grants.emplace_back(source, cycle); }
};

TEST(Timing, TellsEveryBeatAlsoOfThoseItPassesOver) {
  TestProgram test = rowByRow(5);
  isa::Mm mm = product(0, 0); // five products in a row, of which three are passed over
  mm.n[3] = 5;
  waitsFor(mm, 0, 5);
  mm.emitLevel = 0;
  test.program.models[0].outputs[0].rows = 1;
  test.program.cores[0].instructions.clear();
  test.core(0, {mm, sendResult(0), isa::Restart{}});
  Issues issues;
  const TimingRun run = runTiming(test.program, Arrival::Spaced, 1, 0, 1000, &issues);
  ASSERT_FALSE(run.stalled);
  std::map<Watch::Unit, unsigned> beats;
  for (const auto &[key, count] : issues.at) {
    EXPECT_EQ(count, 1U);
    ++beats[std::get<0>(key)];
  }
  EXPECT_EQ(beats[Watch::Unit::Host], 5U);
  EXPECT_EQ(beats[Watch::Unit::Matrix], 5U);
  EXPECT_EQ(beats[Watch::Unit::Vector], 1U);
  EXPECT_THAT(issues.grants, SizeIs(6)); // five rows in, one out
  EXPECT_EQ(issues.grants.back().first, 0U);
  EXPECT_EQ(issues.grants.back().second + isa::Stages().netHop, run.inferences[0].lastOutput);
}

} // namespace
} // namespace sluice::vm
