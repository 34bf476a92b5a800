// Random programs on the C++ model and on the Verilated machine: equal bits and
// equal cycles. SLUICE_LOCKSTEP_INSTRUCTIONS sets how many instructions to run
// (the default takes some seconds), SLUICE_LOCKSTEP_SEED the first seed.
#include <cstdlib>
#include <iostream>
#include <string>

#include <gtest/gtest.h>

#include "runtime/device/device.h"
#include "runtime/format/program_file.h"
#include "runtime/format/targets.h"
#include "tests/support/lockstep.h"

namespace sluice::testing {
namespace {

uint64_t fromEnvironment(const char *name, uint64_t otherwise) {
  const char *text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

uint64_t firstSeed() { return fromEnvironment("SLUICE_LOCKSTEP_SEED", 1); }

const format::Geometry &tiny() { return *format::findPreset("c2b8"); }

/// Runs programs until so many instructions have been run.
void runPrograms(const format::Geometry &geometry, uint64_t instructions, device::Device *rtl) {
  const std::unique_ptr<device::Device> vm = device::makeVm();
  uint64_t run = 0, cycles = 0, seed = firstSeed();
  for (; run < instructions; ++seed) {
    const LockstepResult result = runLockstep(makeRandomProgram(seed, geometry), *vm, rtl);
    run += result.instructions;
    cycles += result.cycles;
    ASSERT_EQ(result.difference, "");
  }
  std::cout << seed - firstSeed() << " programs, " << run << " instructions, " << cycles
            << " cycles without a difference\n";
}

TEST(RandomPrograms, PassTheLoadersChecks) {
  for (uint64_t seed = firstSeed(); seed < firstSeed() + 100; ++seed) {
    const RandomProgram random = makeRandomProgram(seed, tiny());
    for (const format::FileProblem &problem : format::check(random.program))
      ADD_FAILURE() << "seed " << seed << ": " << problem.code << " " << problem.message;
  }
}

TEST(RandomPrograms, ComeToRestOnTheModel) {
  runPrograms(tiny(), fromEnvironment("SLUICE_LOCKSTEP_INSTRUCTIONS", 20000), nullptr);
}

TEST(RandomPrograms, ComeToRestOnOtherGeometries) {
  format::Geometry geometry = tiny();
  geometry.name = "c5b16";
  geometry.cores = 5;
  geometry.lanes = 16;
  geometry.peTerms = 2;
  const uint64_t instructions = fromEnvironment("SLUICE_LOCKSTEP_INSTRUCTIONS", 20000);
  runPrograms(geometry, instructions / 4, nullptr);
  for (const format::Geometry &preset : format::targetPresets())
    if (preset.name != tiny().name) {
      SCOPED_TRACE(preset.name);
      runPrograms(preset, instructions / 50, nullptr);
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
  runPrograms(tiny(), fromEnvironment("SLUICE_LOCKSTEP_INSTRUCTIONS", 20000), rtl.get());
}

/// The flavour with assertions; registers and memories start with random
/// contents, others in every program. Clearing the memories takes most of it.
TEST(Lockstep, ModelAndRtlAgreeFromRandomContents) {
  const std::unique_ptr<device::Device> rtl = makeRtl(tiny(), true);
  if (!rtl)
    GTEST_SKIP() << "this build has no RTL of " << tiny().name << " with assertions";
  runPrograms(tiny(), fromEnvironment("SLUICE_LOCKSTEP_INSTRUCTIONS", 20000) / 20, rtl.get());
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
    runPrograms(geometry, fromEnvironment("SLUICE_LOCKSTEP_INSTRUCTIONS", 20000) / 50, rtl.get());
  }
  if (targets == 0)
    GTEST_SKIP() << "this build has no RTL but that of " << tiny().name;
}

} // namespace
} // namespace sluice::testing
