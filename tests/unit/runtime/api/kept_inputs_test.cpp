// Inputs that a device keeps from job to job.
#include <gtest/gtest.h>

#include "tests/unit/runtime/api/machine.h"

namespace sluice {
namespace {

using test::expected;
using test::Machine;
using test::Values;

constexpr const char *kNeverGiven =
    "input 'x' is left out, but no job has given it since the program was loaded or reset";

/// Submits a job; of no values, the input is left out.
sluice_rt_status submitKept(Machine &machine, const Values *x, Values &y) {
  const sluice_rt_input in{sizeof in, x ? x->data() : nullptr, x ? sizeof *x : 0,
                           SLUICE_RT_FLOAT32};
  const sluice_rt_output out{sizeof out, y.data(), sizeof y, SLUICE_RT_FLOAT32};
  sluice_rt_job *job = nullptr;
  sluice_rt_status status = sluice_rt_submit(machine.device, 0, &in, 1, &out, 1, nullptr, &job);
  if (status == SLUICE_RT_OK)
    status = sluice_rt_job_wait(job);
  sluice_rt_job_release(job);
  return status;
}

Values runKept(Machine &machine, const Values *x) {
  Values y{};
  EXPECT_EQ(submitKept(machine, x, y), SLUICE_RT_OK) << sluice_rt_last_error();
  return y;
}

void expectNeverGiven(Machine &machine) {
  Values y{};
  EXPECT_EQ(submitKept(machine, nullptr, y), SLUICE_RT_INVALID_ARGUMENT);
  EXPECT_STREQ(sluice_rt_last_error_code(), "E0603");
  EXPECT_STREQ(sluice_rt_last_error(), kNeverGiven);
}

TEST(KeptInputs, AJobMayLeaveOneOut) {
  Machine machine;
  ASSERT_EQ(sluice_rt_device_keep_input(machine.device, 0, 0, 1), SLUICE_RT_OK);
  expectNeverGiven(machine);
  const Values first{1, 2, -3}, second{4, 5, -6};
  EXPECT_EQ(runKept(machine, &first), expected(first));
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(runKept(machine, nullptr), expected(first));
  ASSERT_EQ(sluice_rt_device_keep_input(machine.device, 0, 0, 1), SLUICE_RT_OK); // changes nothing
  EXPECT_EQ(runKept(machine, nullptr), expected(first));
  EXPECT_EQ(runKept(machine, &second), expected(second));
  EXPECT_EQ(runKept(machine, nullptr), expected(second));
}

TEST(KeptInputs, TheArrayIsCopied) {
  Machine machine;
  ASSERT_EQ(sluice_rt_device_keep_input(machine.device, 0, 0, 1), SLUICE_RT_OK);
  Values x{1, 2};
  const Values before = x;
  runKept(machine, &x);
  x = {};
  EXPECT_EQ(runKept(machine, nullptr), expected(before));
}

TEST(KeptInputs, ARejectedJobKeepsNothing) {
  Machine machine;
  ASSERT_EQ(sluice_rt_device_keep_input(machine.device, 0, 0, 1), SLUICE_RT_OK);
  const Values x{1};
  const sluice_rt_input in{sizeof in, x.data(), sizeof x, SLUICE_RT_FLOAT32};
  EXPECT_EQ(sluice_rt_submit(machine.device, 0, &in, 1, nullptr, 1, nullptr, nullptr),
            SLUICE_RT_INVALID_ARGUMENT);
  expectNeverGiven(machine);
}

TEST(KeptInputs, AResetForgetsTheArrays) {
  Machine machine;
  ASSERT_EQ(sluice_rt_device_keep_input(machine.device, 0, 0, 1), SLUICE_RT_OK);
  const Values x{1, 2};
  runKept(machine, &x);
  ASSERT_EQ(sluice_rt_device_reset(machine.device), SLUICE_RT_OK);
  expectNeverGiven(machine);
  runKept(machine, &x);
  ASSERT_EQ(sluice_rt_submit_reset(machine.device, nullptr, nullptr), SLUICE_RT_OK);
  expectNeverGiven(machine);
  EXPECT_EQ(runKept(machine, &x), expected(x));
  EXPECT_EQ(runKept(machine, nullptr), expected(x));
}

TEST(KeptInputs, WithoutKeepingAllAreNeeded) {
  Machine machine;
  const Values x{1};
  Values y{};
  const auto expectNeeded = [&] {
    EXPECT_EQ(submitKept(machine, nullptr, y), SLUICE_RT_INVALID_ARGUMENT);
    EXPECT_STREQ(sluice_rt_last_error(), "input 'x' has 0 bytes, expected 32");
  };
  expectNeeded();
  const auto keep = [&](int on) {
    ASSERT_EQ(sluice_rt_device_keep_input(machine.device, 0, 0, on), SLUICE_RT_OK);
  };
  keep(1);
  runKept(machine, &x);
  keep(0);
  expectNeeded();
  keep(1); // the array of before is gone
  expectNeverGiven(machine);
  // A load ends the keeping.
  runKept(machine, &x);
  ASSERT_EQ(sluice_rt_device_load(machine.device, machine.program), SLUICE_RT_OK);
  expectNeeded();
}

TEST(KeptInputs, NeedAModelAndAnInput) {
  Machine machine;
  EXPECT_EQ(sluice_rt_device_keep_input(machine.device, 1, 0, 1), SLUICE_RT_INVALID_ARGUMENT);
  EXPECT_STREQ(sluice_rt_last_error(), "model is 1, allowed: 0 to 0");
  EXPECT_EQ(sluice_rt_device_keep_input(machine.device, 0, 1, 1), SLUICE_RT_INVALID_ARGUMENT);
  EXPECT_STREQ(sluice_rt_last_error(), "input is 1, allowed: 0 to 0");
  EXPECT_EQ(sluice_rt_device_keep_input(nullptr, 0, 0, 1), SLUICE_RT_INVALID_ARGUMENT);
}

} // namespace
} // namespace sluice
