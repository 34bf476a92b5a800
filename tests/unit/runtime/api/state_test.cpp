// The state of a program by the C API: reset, saved, restored.
#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/format/state.h"
#include "tests/unit/runtime/api/machine.h"

namespace sluice {
namespace {

using test::expected;
using test::Machine;
using test::statefulProgram;
using test::Values;

using Bytes = std::vector<uint8_t>;

/// Mark, version, the program's hash, a row and four quarters of one, and a hash.
constexpr size_t kStateBytes = 8 + 8 + 32 + 5 * 8 * 2 + 32;

/// What the stateful program computes in its inference `n`.
Values inInference(int n, const Values &x) {
  Values y;
  for (int i = 0; i < 8; ++i)
    y[i] = std::max(0.0F, 2 * x[i] + float(i + n));
  return y;
}

Values run(Machine &machine, const Values &x) {
  Values y{};
  sluice_rt_job *job = machine.submit(x, y);
  EXPECT_EQ(sluice_rt_job_wait(job), SLUICE_RT_OK) << sluice_rt_last_error();
  sluice_rt_job_release(job);
  return y;
}

Bytes saved(Machine &machine) {
  Bytes state(kStateBytes);
  EXPECT_EQ(sluice_rt_device_save_state(machine.device, state.data(), state.size()), SLUICE_RT_OK)
      << sluice_rt_last_error();
  return state;
}

sluice_rt_status restore(Machine &machine, const Bytes &state) {
  return sluice_rt_device_restore_state(machine.device, state.data(), state.size());
}

uint64_t switchCycles(const Machine &machine) {
  auto counters = test::sized<sluice_rt_counters>();
  EXPECT_EQ(sluice_rt_device_counters(machine.device, &counters), SLUICE_RT_OK);
  return counters.switch_cycles;
}

TEST(State, GoesOnUntilItIsReset) {
  Machine machine(statefulProgram());
  const Values x{1, 2};
  EXPECT_EQ(switchCycles(machine), 0U);
  for (int round = 0; round < 2; ++round) {
    for (int n = 0; n < 3; ++n)
      EXPECT_EQ(run(machine, x), inInference(n, x));
    ASSERT_EQ(sluice_rt_device_reset(machine.device), SLUICE_RT_OK);
    EXPECT_EQ(switchCycles(machine), 1U + 5 + 1);
  }
}

TEST(State, IsSavedAndRestored) {
  Machine machine(statefulProgram()), other(statefulProgram());
  size_t size = 0;
  ASSERT_EQ(sluice_rt_program_state_size(machine.program, &size), SLUICE_RT_OK);
  EXPECT_EQ(size, kStateBytes);
  const Values x{1, 2};
  const Bytes first = saved(machine); // before any inference
  EXPECT_EQ(run(machine, x), inInference(0, x));
  EXPECT_EQ(run(machine, x), inInference(1, x));
  const Bytes third = saved(machine);
  EXPECT_GT(switchCycles(machine), 2U + 2 + 5 + 2); // two resets, starts and entries, the rows
  EXPECT_EQ(run(machine, x), inInference(2, x));    // a save changes nothing
  ASSERT_EQ(restore(other, third), SLUICE_RT_OK) << sluice_rt_last_error();
  EXPECT_EQ(switchCycles(other), 1U + 5 + 1);
  EXPECT_EQ(run(other, x), inInference(2, x));
  ASSERT_EQ(restore(other, first), SLUICE_RT_OK);
  EXPECT_EQ(saved(other), first);
  EXPECT_EQ(run(other, x), inInference(0, x));
}

/// What a restore puts into a preload row, a save brings back, whatever it is.
TEST(State, SumsKeepEveryBit) {
  format::Program program = statefulProgram();
  for (uint64_t i = 0; i < 8; ++i)
    program.cores[0].preloads[0].lanes[i] = (0x5A'1234'5678'9ABC + i * 0x01'1111'1111'1111) >> i;
  Machine machine(program);
  const Bytes state = saved(machine);
  const std::vector<uint16_t> image = format::initialState(program);
  for (size_t i = 0; i < image.size(); ++i)
    EXPECT_EQ(state[48 + 2 * i] | state[49 + 2 * i] << 8, image[i]) << i;
  EXPECT_EQ(saved(machine), state);
}

void expectRefused(sluice_rt_status status, sluice_rt_status wanted, const char *code,
                   const std::string &message) {
  EXPECT_EQ(status, wanted);
  EXPECT_STREQ(sluice_rt_last_error_code(), code);
  EXPECT_EQ(sluice_rt_last_error(), message);
}

TEST(State, BadBuffers) {
  Machine machine(statefulProgram());
  const Values x{1, 2};
  run(machine, x);
  const Bytes good = saved(machine);
  const auto after = [&](size_t byte) {
    Bytes bad = good;
    bad[byte] ^= 1;
    return restore(machine, bad);
  };
  const auto bad = [&](sluice_rt_status status, const std::string &why) {
    expectRefused(status, SLUICE_RT_BAD_STATE, "E0616", "the state cannot be used: " + why);
  };
  bad(after(0), "the magic bytes at the start are missing");
  bad(after(8), "its version is 0, this build reads version 1");
  for (const size_t byte : {size_t{12}, size_t{16}, size_t{48}, kStateBytes - 1})
    bad(after(byte), "damaged: the SHA-256 does not match");
  format::Program program = statefulProgram();
  program.options = "others";
  Machine other(program);
  bad(restore(machine, saved(other)), "it belongs to another program file");
  EXPECT_EQ(run(machine, x), inInference(1, x)); // as before

  expectRefused(restore(machine, {1, 2, 3}), SLUICE_RT_INVALID_ARGUMENT, "E0601",
                "the state has 3 bytes, the program needs 160");
  Bytes small(10);
  expectRefused(sluice_rt_device_save_state(machine.device, small.data(), small.size()),
                SLUICE_RT_INVALID_ARGUMENT, "E0601",
                "the state has 10 bytes, the program needs 160");
  expectRefused(sluice_rt_device_save_state(machine.device, nullptr, 160),
                SLUICE_RT_INVALID_ARGUMENT, "E0601", "null argument");
  expectRefused(sluice_rt_device_save_state(nullptr, small.data(), 10), SLUICE_RT_INVALID_ARGUMENT,
                "E0601", "null device");
  size_t size = 0;
  expectRefused(sluice_rt_program_state_size(nullptr, &size), SLUICE_RT_INVALID_ARGUMENT, "E0601",
                "null argument");
}

TEST(State, ProgramsThatCannot) {
  Machine machine;
  size_t size = 1;
  ASSERT_EQ(sluice_rt_program_state_size(machine.program, &size), SLUICE_RT_OK);
  EXPECT_EQ(size, 0U);
  Bytes state(160);
  expectRefused(restore(machine, state), SLUICE_RT_UNAVAILABLE, "E0617",
                "the program keeps no state");
  format::Program program = statefulProgram();
  program.state.save.clear();
  program.cores[0].instructions.resize(4);
  program.hostInstructions.pop_back();
  Machine silent(program);
  expectRefused(sluice_rt_device_save_state(silent.device, state.data(), state.size()),
                SLUICE_RT_UNAVAILABLE, "E0617",
                "the program has no instructions to save its state; see sluice explain E0617");
}

TEST(State, NotWhileJobsArePending) {
  Machine machine(statefulProgram());
  Bytes state = saved(machine);
  ASSERT_EQ(sluice_rt_device_hold(machine.device, 1), SLUICE_RT_OK);
  Values y{}, z{};
  sluice_rt_job *one = machine.submit({1}, y);
  expectRefused(restore(machine, state), SLUICE_RT_INVALID_ARGUMENT, "E0601",
                "1 job is pending, allowed: 0 when a state is restored");
  sluice_rt_job *two = machine.submit({2}, z);
  expectRefused(sluice_rt_device_save_state(machine.device, state.data(), state.size()),
                SLUICE_RT_INVALID_ARGUMENT, "E0601",
                "2 jobs are pending, allowed: 0 when a state is saved");
  ASSERT_EQ(sluice_rt_device_hold(machine.device, 0), SLUICE_RT_OK);
  EXPECT_EQ(sluice_rt_job_wait(one), SLUICE_RT_OK);
  EXPECT_EQ(sluice_rt_job_wait(two), SLUICE_RT_OK);
  EXPECT_EQ(z, inInference(1, {2}));
  sluice_rt_job_release(one);
  sluice_rt_job_release(two);
}

/// Saves that a compiler would not write: the loader lets them pass, they do not hurt.
TEST(State, SavesThatGoWrong) {
  format::Program program = statefulProgram();
  std::vector<format::InstructionWords> &core = program.cores[0].instructions;
  core.insert(core.begin() + 5, test::encoded(test::rowToHost(isa::kLocalBase, 0)));
  Machine twice(program);
  Bytes state(kStateBytes);
  expectRefused(sluice_rt_device_save_state(twice.device, state.data(), state.size()),
                SLUICE_RT_FAULT, "E0608", "state row 0 arrived a second time");
  expectRefused(sluice_rt_device_save_state(twice.device, state.data(), state.size()),
                SLUICE_RT_FAULT, "E0608", "state row 0 arrived a second time");
  ASSERT_EQ(sluice_rt_device_reset(twice.device), SLUICE_RT_OK); // loads it again
  EXPECT_EQ(switchCycles(twice), 0U);
  EXPECT_EQ(run(twice, {1}), inInference(0, {1}));

  program = statefulProgram();
  isa::Vec waits = test::rowToHost(isa::kLocalBase, 0);
  waits.waitEn = 1;
  waits.waitCount = 1;
  program.cores[0].instructions[4] = test::encoded(waits);
  Machine never(program);
  expectRefused(sluice_rt_device_save_state(never.device, state.data(), state.size()),
                SLUICE_RT_STALLED, "E0607",
                "no progress for 1000 cycles: the vector unit of core 0 waits for token 0 (has 0, "
                "needs 1) in instruction 4");
}

} // namespace
} // namespace sluice
