// Resets in the queue of jobs.
#include <array>

#include <gtest/gtest.h>

#include "tests/unit/runtime/api/machine.h"

namespace sluice {
namespace {

using test::cyclesOf;
using test::Machine;
using test::statefulProgram;
using test::Values;

/// What the stateful program computes in inference `n` after a reset.
Values afterReset(int n, const Values &x) {
  Values y;
  for (int i = 0; i < 8; ++i)
    y[i] = std::max(0.0F, 2 * x[i] + float(i + n));
  return y;
}

sluice_rt_job *submitReset(Machine &machine, void *context = nullptr) {
  sluice_rt_job *job = nullptr;
  EXPECT_EQ(sluice_rt_submit_reset(machine.device, context, &job), SLUICE_RT_OK)
      << sluice_rt_last_error();
  return job;
}

/// A reset writes the rows of the state, between a cycle of reset and one of the start.
constexpr uint64_t kResetCycles = 1U + 5 + 1;

/// Runs inferences with a reset before the third and fifth. Returns the cycles of all jobs.
std::vector<sluice_rt_job_cycles> runWithResets(sluice_rt_pacing pacing, bool waits) {
  Machine machine(statefulProgram());
  EXPECT_EQ(sluice_rt_device_set_pacing(machine.device, pacing), SLUICE_RT_OK);
  EXPECT_EQ(sluice_rt_device_hold(machine.device, waits ? 0 : 1), SLUICE_RT_OK);
  const Values x{1, 2};
  std::array<Values, 6> y{};
  std::vector<sluice_rt_job *> jobs;
  const auto submitted = [&](sluice_rt_job *job) {
    jobs.push_back(job);
    if (waits)
      EXPECT_EQ(sluice_rt_job_wait(job), SLUICE_RT_OK) << sluice_rt_last_error();
  };
  for (int i = 0; i < 6; ++i) {
    if (i == 2 || i == 4)
      submitted(submitReset(machine));
    submitted(machine.submit(x, y[i]));
  }
  EXPECT_EQ(sluice_rt_device_hold(machine.device, 0), SLUICE_RT_OK);
  std::vector<sluice_rt_job_cycles> cycles;
  for (sluice_rt_job *job : jobs) {
    EXPECT_EQ(sluice_rt_job_wait(job), SLUICE_RT_OK) << sluice_rt_last_error();
    cycles.push_back(cyclesOf(job));
    sluice_rt_job_release(job);
  }
  for (int i = 0; i < 6; ++i)
    EXPECT_EQ(y[i], afterReset(i % 2, x)) << i;
  auto counters = test::sized<sluice_rt_counters>();
  EXPECT_EQ(sluice_rt_device_counters(machine.device, &counters), SLUICE_RT_OK);
  EXPECT_EQ(counters.jobs_submitted, 8U);
  EXPECT_EQ(counters.jobs_completed, 8U);
  EXPECT_EQ(counters.input_rows, 6U);
  EXPECT_EQ(counters.switch_cycles, kResetCycles);
  EXPECT_EQ(counters.cycles, cycles.back().last_output + 1);
  return cycles;
}

TEST(QueuedReset, KeepsTheOrderOfJobs) {
  for (const sluice_rt_pacing pacing : {SLUICE_RT_QUEUED, SLUICE_RT_CONTIGUOUS, SLUICE_RT_SPACED}) {
    const std::vector<sluice_rt_job_cycles> cycles = runWithResets(pacing, false);
    for (const size_t reset : {2U, 5U}) {
      EXPECT_EQ(cycles[reset].latency, kResetCycles);
      EXPECT_EQ(cycles[reset].first_input, cycles[reset - 1].last_output + 1);
      EXPECT_EQ(cycles[reset].last_output, cycles[reset].first_input + kResetCycles);
      EXPECT_EQ(cycles[reset].interval, 0U);
      EXPECT_GE(cycles[reset + 1].first_input, cycles[reset].last_output);
    }
    EXPECT_EQ(cycles[3].latency, cycles[0].latency);
    EXPECT_EQ(cycles[6].latency, cycles[0].latency);
  }
}

TEST(QueuedReset, TakesTheSameCyclesHoweverLateItIsSubmitted) {
  const auto first = runWithResets(SLUICE_RT_CONTIGUOUS, false);
  const auto late = runWithResets(SLUICE_RT_CONTIGUOUS, true);
  ASSERT_EQ(first.size(), late.size());
  for (size_t i = 0; i < first.size(); ++i) {
    EXPECT_EQ(first[i].first_input, late[i].first_input) << i;
    EXPECT_EQ(first[i].last_output, late[i].last_output) << i;
  }
}

TEST(QueuedReset, IsAJobThatEnds) {
  Machine machine(statefulProgram());
  int context = 0;
  sluice_rt_job *job = submitReset(machine, &context), *ended = nullptr;
  ASSERT_EQ(sluice_rt_device_next_ended(machine.device, 10'000, &ended), SLUICE_RT_OK);
  void *found = nullptr;
  EXPECT_EQ(sluice_rt_job_context(ended, &found), SLUICE_RT_OK);
  EXPECT_EQ(found, &context);
  EXPECT_EQ(sluice_rt_job_poll(job), SLUICE_RT_OK);
  sluice_rt_job_release(ended);
  sluice_rt_job_release(job);
  EXPECT_EQ(sluice_rt_submit_reset(machine.device, nullptr, nullptr), SLUICE_RT_OK); // no handle
  EXPECT_EQ(sluice_rt_device_next_ended(machine.device, 10'000, &ended), SLUICE_RT_OK);
  sluice_rt_job_release(ended);
}

TEST(QueuedReset, OfAProgramWithoutState) {
  Machine machine;
  const Values x{1, 2, 3};
  for (int round = 0; round < 3; ++round) {
    Values y{};
    sluice_rt_job *job = machine.submit(x, y), *reset = submitReset(machine);
    EXPECT_EQ(sluice_rt_job_wait(reset), SLUICE_RT_OK);
    EXPECT_EQ(sluice_rt_job_poll(job), SLUICE_RT_OK); // it was submitted before
    EXPECT_EQ(y, test::expected(x));
    sluice_rt_job_release(job);
    sluice_rt_job_release(reset);
  }
}

TEST(QueuedReset, IsCancelledByAResetThatCancels) {
  Machine machine(statefulProgram());
  ASSERT_EQ(sluice_rt_device_hold(machine.device, 1), SLUICE_RT_OK);
  Values y{};
  sluice_rt_job *inference = machine.submit(Values{1}, y), *waiting = submitReset(machine);
  EXPECT_EQ(sluice_rt_job_poll(waiting), SLUICE_RT_PENDING);
  ASSERT_EQ(sluice_rt_device_reset(machine.device), SLUICE_RT_OK);
  for (sluice_rt_job *job : {inference, waiting}) {
    EXPECT_EQ(sluice_rt_job_wait(job), SLUICE_RT_CANCELLED);
    sluice_rt_job_release(job);
  }
  // One that the machine waits for, and one behind it: both end when the device closes.
  sluice_rt_job *open = machine.submit(Values{1}, y), *behind = submitReset(machine);
  sluice_rt_device_close(machine.device);
  machine.device = nullptr;
  for (sluice_rt_job *job : {open, behind}) {
    EXPECT_EQ(sluice_rt_job_wait(job), SLUICE_RT_CANCELLED);
    sluice_rt_job_release(job);
  }
}

TEST(QueuedReset, NeedsAProgram) {
  sluice_rt_job *job = nullptr;
  EXPECT_EQ(sluice_rt_submit_reset(nullptr, nullptr, &job), SLUICE_RT_INVALID_ARGUMENT);
  EXPECT_STREQ(sluice_rt_last_error(), "null device");
  sluice_rt_device *device = nullptr;
  ASSERT_EQ(sluice_rt_device_open("vm", &device), SLUICE_RT_OK);
  EXPECT_EQ(sluice_rt_submit_reset(device, nullptr, &job), SLUICE_RT_INVALID_ARGUMENT);
  EXPECT_STREQ(sluice_rt_last_error(), "the device has no program loaded");
  EXPECT_EQ(job, nullptr);
  sluice_rt_device_close(device);
}

} // namespace
} // namespace sluice
