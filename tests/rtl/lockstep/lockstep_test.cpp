// Random programs on the C++ model and on the Verilated machine: equal bits and
// equal cycles. SLUICE_LOCKSTEP_INSTRUCTIONS sets how many instructions to run
// (the default takes some seconds), SLUICE_LOCKSTEP_ASSERTING how many of them on
// the flavour with assertions, SLUICE_LOCKSTEP_SMALLEST how many to run on one core of
// four lanes, SLUICE_LOCKSTEP_SEED the first seed.
#include <iostream>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "hw/isa/isa.h"
#include "runtime/device/device.h"
#include "runtime/format/program_file.h"
#include "runtime/format/targets.h"
#include "tests/support/environment.h"
#include "tests/support/lockstep.h"
#include "tests/support/rng.h"

namespace sluice::fixtures {
namespace {

uint64_t firstSeed() { return fromEnvironment("SLUICE_LOCKSTEP_SEED", 1); }
uint64_t instructions() { return fromEnvironment("SLUICE_LOCKSTEP_INSTRUCTIONS", 20000); }

const format::Geometry &tiny() { return *format::findPreset("c2b8"); }

using Unit = device::UnitCounters::Unit;
using device::Activity;

/// Everything that a unit may do, so that it is counted, must happen.
void expectEveryActivity(const std::map<std::pair<Unit, Activity>, uint64_t> &seen) {
  const std::pair<Unit, std::vector<Activity>> waits[] = {
      {Unit::Matrix, {Activity::WaitsToken, Activity::WaitsTaker}},
      {Unit::Vector,
       {Activity::WaitsToken, Activity::WaitsResult, Activity::WaitsNetwork,
        Activity::WaitsPipeline}},
      {Unit::Input, {Activity::WaitsToken, Activity::WaitsNetwork, Activity::WaitsHost}},
      {Unit::Sequencer, {Activity::WaitsQueue}},
      {Unit::Network, {Activity::WaitsTurn, Activity::WaitsOutput}},
  };
  size_t kinds = 0;
  for (const auto &[unit, activities] : waits) {
    for (const Activity activity : activities)
      EXPECT_TRUE(seen.contains({unit, activity}))
          << "unit " << static_cast<int>(unit) << ", activity " << static_cast<int>(activity);
    kinds += activities.size() + 2; // busy and idle
  }
  EXPECT_EQ(seen.size(), kinds) << "something else was counted";
}

/// Runs programs until so many instructions have been run.
void runPrograms(const format::Geometry &geometry, uint64_t instructions, device::Device *rtl,
                 bool everything = false) {
  const std::unique_ptr<device::Device> vm = device::makeVm();
  uint64_t run = 0, cycles = 0, seed = firstSeed();
  std::map<std::pair<Unit, Activity>, uint64_t> seen;
  for (; run < instructions; ++seed) {
    const LockstepResult result = runLockstep(makeRandomProgram(seed, geometry), *vm, rtl);
    run += result.instructions;
    cycles += result.cycles;
    for (const device::UnitCounters &unit : result.counters)
      for (size_t i = 0; i < unit.cycles.size(); ++i)
        if (unit.cycles[i] != 0)
          seen[{unit.unit, static_cast<Activity>(i)}] += unit.cycles[i];
    ASSERT_EQ(result.difference, "");
  }
  std::cout << seed - firstSeed() << " programs, " << run << " instructions, " << cycles
            << " cycles without a difference\n";
  if (everything)
    expectEveryActivity(seen);
}

TEST(RandomPrograms, PassTheLoadersChecks) {
  for (uint64_t seed = firstSeed(); seed < firstSeed() + 100; ++seed) {
    const RandomProgram random = makeRandomProgram(seed, tiny());
    for (const format::FileProblem &problem : format::check(random.program))
      ADD_FAILURE() << "seed " << seed << ": " << problem.code << " " << problem.message;
  }
}

TEST(RandomPrograms, ComeToRestOnTheModel) { runPrograms(tiny(), instructions(), nullptr, true); }

TEST(RandomPrograms, ComeToRestOnOtherGeometries) {
  struct Shape {
    uint32_t cores, lanes, peTerms;
  };
  for (const Shape shape : {Shape{1, 4, 1}, Shape{1, 8, 4}, Shape{5, 16, 2}}) {
    format::Geometry geometry = tiny();
    geometry.cores = shape.cores;
    geometry.lanes = shape.lanes;
    geometry.peTerms = shape.peTerms;
    SCOPED_TRACE(testing::Message() << shape.cores << " cores, " << shape.lanes << " lanes");
    runPrograms(geometry, instructions() / 4, nullptr);
  }
  for (const format::Geometry &preset : format::targetPresets())
    if (preset.name != tiny().name) {
      SCOPED_TRACE(preset.name);
      runPrograms(preset, instructions() / 50, nullptr);
    }
}

/// Null if this build has none.
std::unique_ptr<device::Device> makeRtl(const format::Geometry &geometry, bool withAssertions) {
#ifdef SLUICE_HAS_RTL
  return device::makeRtl(geometry, withAssertions);
#else
  return nullptr;
#endif
}

TEST(Lockstep, ModelAndRtlAgree) {
  const std::unique_ptr<device::Device> rtl = makeRtl(tiny(), false);
  if (!rtl)
    GTEST_SKIP() << "this build has no RTL of " << tiny().name;
  runPrograms(tiny(), instructions(), rtl.get());
}

/// A table per instruction, beat behind beat, alone and behind the first arithmetic unit.
RandomProgram tableAfterTable() {
  RandomProgram out;
  out.program.geometry = tiny();
  out.program.cores.resize(tiny().cores);
  format::CoreImage &core = out.program.cores[0];
  core.rows.push_back({0, std::vector<uint16_t>(tiny().lanes, 0x3F80)});
  for (uint32_t table = 0; table < tiny().tables; ++table)
    core.tables.push_back(
        {table, {120 << 8, 0, 0, 0}, std::vector<uint16_t>(isa::kTableEntries, 0x4000 + table)});
  for (uint32_t i = 0; i < 4 * tiny().tables; ++i) {
    isa::Vec vec;
    vec.n[3] = 4;
    vec.aSrc = isa::Source::Ram;
    vec.alu1 = i < 2 * tiny().tables ? isa::Alu::Max : isa::Alu::Pass;
    vec.rhs1 = isa::Rhs1::A;
    vec.tableEn = 1;
    vec.tableId = i % tiny().tables;
    vec.dstKind = isa::Dst::Local;
    vec.dst = isa::kLocalBase + 4 * i;
    vec.dstStride[3] = 1;
    core.instructions.push_back(isa::encode(vec).value());
  }
  for (format::CoreImage &each : out.program.cores)
    each.instructions.push_back(isa::encode(isa::Halt{}).value());
  out.program.hostInstructions = {isa::encode(isa::Halt{}).value()};
  return out;
}

TEST(Lockstep, EveryBeatLooksIntoItsOwnTable) {
  const std::unique_ptr<device::Device> vm = device::makeVm(), rtl = makeRtl(tiny(), false);
  if (!rtl)
    GTEST_SKIP() << "this build has no RTL of " << tiny().name;
  ASSERT_EQ(runLockstep(tableAfterTable(), *vm, rtl.get()).difference, "");
  for (uint32_t row = 0; row < 16 * tiny().tables; ++row)
    EXPECT_EQ(rtl->readRow(0, isa::kLocalBase + row),
              std::vector<uint16_t>(tiny().lanes, 0x4000 + row / 4 % tiny().tables));
}

/// The flavour with assertions; registers and memories start with random
/// contents, others in every program. Clearing the memories takes most of it.
TEST(Lockstep, ModelAndRtlAgreeFromRandomContents) {
  const std::unique_ptr<device::Device> rtl = makeRtl(tiny(), true);
  if (!rtl)
    GTEST_SKIP() << "this build has no RTL of " << tiny().name << " with assertions";
  runPrograms(tiny(), fromEnvironment("SLUICE_LOCKSTEP_ASSERTING", instructions() / 20), rtl.get());
}

/// Runs a program for some cycles, as a host that offers and takes rows at random.
void runForSomeTime(const RandomProgram &random, device::Device &rtl) {
  Rng rng(random.seed);
  rtl.load(random.program);
  size_t row = 0;
  for (int64_t cycles = rng.range(1, 600); cycles > 0; --cycles) {
    const bool offers = row < random.inputRows.size() && rng.percent(random.validPercent);
    const uint16_t *offered = offers ? random.inputRows[row].data() : nullptr;
    row += rtl.step(offered, rng.percent(random.readyPercent)).inputTaken;
  }
}

/// The second load of the flavour with assertions resets the machine in the middle of a program.
TEST(Lockstep, ModelAndRtlAgreeAfterAReset) {
  const std::unique_ptr<device::Device> vm = device::makeVm(), rtl = makeRtl(tiny(), true);
  if (!rtl)
    GTEST_SKIP() << "this build has no RTL of " << tiny().name << " with assertions";
  const uint64_t programs = 1 + instructions() / 2000;
  for (uint64_t seed = firstSeed(); seed < firstSeed() + programs; ++seed) {
    runForSomeTime(makeRandomProgram(seed, tiny()), *rtl);
    ASSERT_EQ(runLockstep(makeRandomProgram(programs + seed, tiny()), *vm, rtl.get()).difference,
              "");
  }
}

/// One core of four lanes, the smallest machine.
TEST(Lockstep, ModelAndRtlAgreeOnTheSmallestMachine) {
  const format::Geometry &smallest = *format::findPreset("ecp5-85f");
  ASSERT_EQ(std::pair(smallest.cores, smallest.lanes), std::pair(1U, 4U));
  const uint64_t count = fromEnvironment("SLUICE_LOCKSTEP_SMALLEST", instructions() / 4);
  bool built = false;
  for (const bool withAssertions : {false, true})
    if (const std::unique_ptr<device::Device> rtl = makeRtl(smallest, withAssertions)) {
      built = true;
      runPrograms(smallest, withAssertions ? count / 20 : count, rtl.get());
    }
  if (!built)
    GTEST_SKIP() << "this build has no RTL of " << smallest.name;
}

/// Every other target that is built; they are large, so only a few programs.
TEST(Lockstep, ModelAndRtlAgreeOnLargeTargets) {
  unsigned targets = 0;
  for (const format::Geometry &geometry : format::targetPresets()) {
    const std::unique_ptr<device::Device> rtl = makeRtl(geometry, false);
    if (!rtl || geometry.name == tiny().name)
      continue;
    ++targets;
    SCOPED_TRACE(geometry.name);
    runPrograms(geometry, instructions() / 50, rtl.get());
  }
  if (targets == 0)
    GTEST_SKIP() << "this build has no RTL but that of " << tiny().name;
}

} // namespace
} // namespace sluice::fixtures
