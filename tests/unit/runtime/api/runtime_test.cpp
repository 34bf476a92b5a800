// The C API on the vm engine.
#include "runtime/api/sluice_rt.h"

#include <array>
#include <memory>
#include <string_view>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/format/program_file.h"
#include "tests/unit/runtime/api/machine.h"

extern "C" int sluiceHeaderVersionFromC(void);

namespace sluice {
namespace {

using testing::HasSubstr;

using test::cyclesOf;
using test::expected;
using test::Machine;
using test::Values;

TEST(Runtime, HeaderIsC) { EXPECT_EQ(sluiceHeaderVersionFromC(), 1); }

TEST(Runtime, Queries) {
  const Machine machine;
  auto info = test::sized<sluice_rt_machine>();
  ASSERT_EQ(sluice_rt_program_machine(machine.program, &info), SLUICE_RT_OK);
  EXPECT_STREQ(info.target, "c2b8");
  EXPECT_EQ(info.lanes, 8U);
  auto model = test::sized<sluice_rt_model_info>();
  ASSERT_EQ(sluice_rt_program_model(machine.program, 0, &model), SLUICE_RT_OK);
  EXPECT_STREQ(model.name, "small");
  EXPECT_EQ(model.macs, 64U);
  auto input = test::sized<sluice_rt_tensor_info>();
  ASSERT_EQ(sluice_rt_program_input(machine.program, 0, 0, &input), SLUICE_RT_OK);
  EXPECT_STREQ(input.name, "x");
  EXPECT_EQ(input.rank, 2U);
  EXPECT_EQ(input.shape[1], 8);
  EXPECT_EQ(input.data_dim, 1U);
  EXPECT_EQ(input.elements, 8U);
  EXPECT_EQ(sluice_rt_program_input(machine.program, 0, 1, &input), SLUICE_RT_INVALID_ARGUMENT);
  EXPECT_STREQ(sluice_rt_last_error(), "input is 1, allowed: 0 to 0");
  EXPECT_EQ(sluice_rt_program_model(machine.program, 1, &model), SLUICE_RT_INVALID_ARGUMENT);
}

TEST(Runtime, ComputesAndCountsCycles) {
  Machine machine;
  const Values x{1, -1, 2, -2, 0.5, 100, -100, 0};
  Values y{};
  sluice_rt_job *job = machine.submit(x, y);
  ASSERT_EQ(sluice_rt_job_wait(job), SLUICE_RT_OK) << sluice_rt_last_error();
  EXPECT_EQ(sluice_rt_job_poll(job), SLUICE_RT_OK);
  EXPECT_EQ(y, expected(x));
  const sluice_rt_job_cycles cycles = cyclesOf(job);
  EXPECT_EQ(cycles.latency, cycles.last_output - cycles.first_input + 1);
  EXPECT_GT(cycles.latency, 20U);
  EXPECT_LT(cycles.latency, 100U);
  auto counters = test::sized<sluice_rt_counters>();
  ASSERT_EQ(sluice_rt_device_counters(machine.device, &counters), SLUICE_RT_OK);
  EXPECT_EQ(counters.cycles, cycles.last_output + 1);
  EXPECT_EQ(counters.input_rows, 1U);
  EXPECT_EQ(counters.output_rows, 1U);
  EXPECT_EQ(counters.jobs_completed, 1U);
  sluice_rt_job_release(job);
}

TEST(Runtime, PacingDecidesWhenAJobBegins) {
  // Same jobs, same pacing: same cycles, however the host's threads run.
  auto run = [](sluice_rt_pacing pacing) {
    Machine machine;
    EXPECT_EQ(sluice_rt_device_set_pacing(machine.device, pacing), SLUICE_RT_OK);
    EXPECT_EQ(sluice_rt_device_hold(machine.device, 1), SLUICE_RT_OK);
    std::array<Values, 6> y;
    std::vector<sluice_rt_job *> jobs;
    for (int i = 0; i < 6; ++i)
      jobs.push_back(machine.submit(Values{float(i)}, y[i]));
    EXPECT_EQ(sluice_rt_job_poll(jobs[0]), SLUICE_RT_PENDING);
    EXPECT_EQ(sluice_rt_device_hold(machine.device, 0), SLUICE_RT_OK);
    std::vector<sluice_rt_job_cycles> cycles;
    for (int i = 0; i < 6; ++i) {
      EXPECT_EQ(sluice_rt_job_wait(jobs[i]), SLUICE_RT_OK);
      EXPECT_EQ(y[i], expected(Values{float(i)}));
      cycles.push_back(cyclesOf(jobs[i]));
      sluice_rt_job_release(jobs[i]);
    }
    return cycles;
  };
  const auto spaced = run(SLUICE_RT_SPACED);
  const auto contiguous = run(SLUICE_RT_CONTIGUOUS);
  const auto queued = run(SLUICE_RT_QUEUED);
  EXPECT_EQ(spaced[4].latency, spaced[5].latency);
  EXPECT_GT(spaced[5].first_input - spaced[4].last_output, 64U);
  EXPECT_GT(contiguous[5].first_input, contiguous[4].last_output);
  EXPECT_EQ(contiguous[5].interval, contiguous[4].interval);
  EXPECT_LE(queued[5].interval, contiguous[5].interval);
  const auto again = run(SLUICE_RT_QUEUED);
  for (int i = 0; i < 6; ++i)
    EXPECT_EQ(queued[i].last_output, again[i].last_output);
}

TEST(Runtime, JobsOfOneModelEndInOrder) {
  Machine machine;
  std::array<Values, 50> y;
  std::array<int, 50> numbers;
  std::vector<sluice_rt_job *> jobs;
  for (int i = 0; i < 50; ++i) {
    numbers[i] = i;
    jobs.push_back(machine.submit(Values{float(i), 1, 2}, y[i], &numbers[i]));
  }
  for (int i = 0; i < 50; ++i) {
    sluice_rt_job *job = nullptr;
    ASSERT_EQ(sluice_rt_device_next_ended(machine.device, 10000, &job), SLUICE_RT_OK);
    void *context = nullptr;
    ASSERT_EQ(sluice_rt_job_context(job, &context), SLUICE_RT_OK);
    EXPECT_EQ(*static_cast<int *>(context), i);
    EXPECT_EQ(sluice_rt_job_poll(job), SLUICE_RT_OK);
    EXPECT_EQ(y[i], expected(Values{float(i), 1, 2}));
    // Two handles of one job: each works without the other.
    sluice_rt_job_release(i % 2 ? job : jobs[i]);
    EXPECT_EQ(sluice_rt_job_poll(i % 2 ? jobs[i] : job), SLUICE_RT_OK);
    sluice_rt_job_release(i % 2 ? jobs[i] : job);
  }
  sluice_rt_job *none = jobs[0];
  EXPECT_EQ(sluice_rt_device_next_ended(machine.device, 0, &none), SLUICE_RT_PENDING);
  EXPECT_EQ(none, nullptr);
}

TEST(Runtime, HostTypes) {
  Machine machine;
  const std::array<double, 8> x{1, 2, 3, 4, 5, 6, 7, 8};
  std::array<uint16_t, 8> y{};
  const sluice_rt_input in{sizeof in, x.data(), sizeof(x), SLUICE_RT_FLOAT64};
  sluice_rt_output out{sizeof out, y.data(), sizeof(y), SLUICE_RT_FLOAT16};
  sluice_rt_job *job = nullptr;
  ASSERT_EQ(sluice_rt_submit(machine.device, 0, &in, 1, &out, 1, nullptr, &job), SLUICE_RT_OK);
  ASSERT_EQ(sluice_rt_job_wait(job), SLUICE_RT_OK);
  EXPECT_EQ(y[0], 0x4000); // 2
  EXPECT_EQ(y[7], 0x4DC0); // 23
  sluice_rt_job_release(job);
  out.bytes = 15;
  EXPECT_EQ(sluice_rt_submit(machine.device, 0, &in, 1, &out, 1, nullptr, &job),
            SLUICE_RT_INVALID_ARGUMENT);
  EXPECT_STREQ(sluice_rt_last_error(), "output 'y' has 15 bytes, expected 16");
  EXPECT_EQ(sluice_rt_submit(machine.device, 0, &in, 0, &out, 1, nullptr, &job),
            SLUICE_RT_INVALID_ARGUMENT);
  EXPECT_STREQ(sluice_rt_last_error(), "got 0 inputs, the model has 1");
}

/// The small program whose matrix unit waits for a token that nobody gives.
format::Program stalling() {
  format::Program program = test::smallProgram();
  isa::Mm mm = test::smallMm();
  mm.waitToken = 7;
  mm.waitCount = 2;
  program.cores[0].instructions[0] = test::encoded(mm);
  return program;
}

TEST(Runtime, AStallNamesUnitCoreTokenAndNode) {
  Machine machine(stalling());
  Values y{};
  sluice_rt_job *job = machine.submit({}, y);
  EXPECT_EQ(sluice_rt_job_wait(job), SLUICE_RT_STALLED);
  EXPECT_STREQ(sluice_rt_last_error_code(), "E0607");
  EXPECT_THAT(sluice_rt_last_error(),
              HasSubstr("no progress for 1000 cycles: the matrix unit of core 0 waits for token 7 "
                        "(has 0, needs 2) in instruction 0, node 0 \"fc\" (Gemm)"));
  sluice_rt_job_release(job);
  // The machine stays stalled until it is reset.
  job = machine.submit({}, y);
  EXPECT_EQ(sluice_rt_job_wait(job), SLUICE_RT_STALLED);
  sluice_rt_job_release(job);
}

TEST(Runtime, ResetCancelsAndStartsAgain) {
  Machine machine;
  Values y{};
  ASSERT_EQ(sluice_rt_device_hold(machine.device, 1), SLUICE_RT_OK);
  sluice_rt_job *job = machine.submit({}, y);
  ASSERT_EQ(sluice_rt_device_reset(machine.device), SLUICE_RT_OK);
  EXPECT_EQ(sluice_rt_job_wait(job), SLUICE_RT_CANCELLED);
  EXPECT_STREQ(sluice_rt_last_error(), "the device was reset");
  auto cycles = test::sized<sluice_rt_job_cycles>();
  EXPECT_EQ(sluice_rt_job_cycles_of(job, &cycles), SLUICE_RT_INVALID_ARGUMENT);
  EXPECT_STREQ(sluice_rt_last_error(), "the job is pending or has failed");
  sluice_rt_job_release(job);
  ASSERT_EQ(sluice_rt_device_hold(machine.device, 0), SLUICE_RT_OK);
  job = machine.submit({3}, y);
  ASSERT_EQ(sluice_rt_job_wait_for(job, 60'000), SLUICE_RT_OK);
  EXPECT_EQ(y, expected({3}));
  const uint64_t first = cyclesOf(job).first_input;
  sluice_rt_job_release(job);
  ASSERT_EQ(sluice_rt_device_reset(machine.device), SLUICE_RT_OK);
  job = machine.submit({3}, y);
  ASSERT_EQ(sluice_rt_job_wait(job), SLUICE_RT_OK);
  EXPECT_EQ(cyclesOf(job).first_input, first);
  sluice_rt_job_release(job);
}

TEST(Runtime, JobsOutliveTheirDevice) {
  auto machine = std::make_unique<Machine>(stalling(), 1'000'000'000);
  Values y{};
  sluice_rt_job *kept = machine->submit({}, y);
  sluice_rt_job *dropped = machine->submit({}, y);
  sluice_rt_job_release(dropped);
  EXPECT_EQ(sluice_rt_job_poll(kept), SLUICE_RT_PENDING);
  EXPECT_EQ(sluice_rt_job_wait_for(kept, 1), SLUICE_RT_PENDING);
  machine.reset();
  EXPECT_EQ(sluice_rt_job_wait(kept), SLUICE_RT_CANCELLED);
  EXPECT_EQ(sluice_rt_job_wait_for(kept, 0), SLUICE_RT_CANCELLED);
  EXPECT_STREQ(sluice_rt_last_error(), "the device was closed or loaded with another program");
  sluice_rt_job_release(kept);
}

#if defined(__has_feature)
constexpr bool kHasThreadSanitizer = __has_feature(thread_sanitizer);
#else
constexpr bool kHasThreadSanitizer = false;
#endif

/// The thread of a device stays in the process that opened it: a child must not wait for it.
TEST(Runtime, AForkedChildIsTold) {
  Machine machine;
  const Values x{1, 2};
  Values y{};
  sluice_rt_job *job = machine.submit(x, y);
  const pid_t child = fork();
  if (child == 0) {
    const std::string_view told =
        "the device was opened before the process forked; open one in the new process";
    const sluice_rt_input in{sizeof in, x.data(), sizeof x, SLUICE_RT_FLOAT32};
    const sluice_rt_output out{sizeof out, y.data(), sizeof y, SLUICE_RT_FLOAT32};
    sluice_rt_job *other = nullptr;
    int wrong = 0;
    const auto check = [&](sluice_rt_status status) {
      wrong += status != SLUICE_RT_INVALID_ARGUMENT || told != sluice_rt_last_error() ? 1 : 0;
    };
    check(sluice_rt_submit(machine.device, 0, &in, 1, &out, 1, nullptr, &other));
    check(sluice_rt_job_wait(job));
    check(sluice_rt_job_wait_for(job, 1));
    check(sluice_rt_job_poll(job));
    check(sluice_rt_device_load(machine.device, machine.program));
    check(sluice_rt_device_hold(machine.device, 1));
    check(sluice_rt_device_reset(machine.device));
    sluice_rt_job_release(job);
    sluice_rt_device_close(machine.device);
    if (!kHasThreadSanitizer) { // which allows no threads after a fork
      Machine own;
      sluice_rt_job *mine = own.submit(x, y);
      wrong += sluice_rt_job_wait(mine) != SLUICE_RT_OK || y != expected(x) ? 1 : 0;
      sluice_rt_job_release(mine);
    }
    _exit(wrong);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  ASSERT_EQ(sluice_rt_job_wait(job), SLUICE_RT_OK) << sluice_rt_last_error();
  EXPECT_EQ(y, expected(x));
  sluice_rt_job_release(job);
}

TEST(Runtime, BadUse) {
  sluice_rt_device *device = nullptr;
  EXPECT_EQ(sluice_rt_device_open("gpu", &device), SLUICE_RT_INVALID_ARGUMENT);
  EXPECT_STREQ(sluice_rt_last_error(), "unknown engine 'gpu', allowed: vm, rtl");
  EXPECT_EQ(sluice_rt_device_open("vm", nullptr), SLUICE_RT_INVALID_ARGUMENT);
  EXPECT_EQ(sluice_rt_job_wait(nullptr), SLUICE_RT_INVALID_ARGUMENT);
  EXPECT_EQ(sluice_rt_job_wait_for(nullptr, 1), SLUICE_RT_INVALID_ARGUMENT);
  ASSERT_EQ(sluice_rt_device_open("vm", &device), SLUICE_RT_OK);
  EXPECT_EQ(sluice_rt_device_reset(device), SLUICE_RT_INVALID_ARGUMENT);
  EXPECT_STREQ(sluice_rt_last_error(), "the device has no program loaded");
  EXPECT_EQ(sluice_rt_device_set_stall_limit(device, 255), SLUICE_RT_INVALID_ARGUMENT);
  EXPECT_STREQ(sluice_rt_last_error(), "the stall limit is 255, allowed: 256 or more");
  EXPECT_EQ(sluice_rt_device_set_pacing(device, sluice_rt_pacing(3)), SLUICE_RT_INVALID_ARGUMENT);
  EXPECT_STREQ(sluice_rt_last_error(), "pacing is 3, allowed: 0 to 2");
  EXPECT_EQ(sluice_rt_device_reset(nullptr), SLUICE_RT_INVALID_ARGUMENT);
  EXPECT_STREQ(sluice_rt_last_error(), "null device");
  sluice_rt_device_close(device);
  sluice_rt_device_close(nullptr);
  sluice_rt_program *program = nullptr;
  EXPECT_EQ(sluice_rt_program_load_buffer("text", 4, &program), SLUICE_RT_BAD_PROGRAM);
  EXPECT_STREQ(sluice_rt_last_error_code(), "E0502");
  EXPECT_EQ(sluice_rt_program_load_file("/nonexistent", &program), SLUICE_RT_BAD_PROGRAM);
  EXPECT_STREQ(sluice_rt_last_error(), "cannot read '/nonexistent': No such file or directory");
  EXPECT_EQ(program, nullptr);
}

TEST(Runtime, BadArrays) {
  Machine machine;
  auto info = test::sized<sluice_rt_model_info>();
  EXPECT_EQ(sluice_rt_program_model(machine.program, 1, &info), SLUICE_RT_INVALID_ARGUMENT);
  EXPECT_STREQ(sluice_rt_last_error(), "model is 1, allowed: 0 to 0");
  Values y{};
  const sluice_rt_input untyped{sizeof untyped, y.data(), sizeof(y), sluice_rt_type(14)};
  const sluice_rt_output out{sizeof out, y.data(), sizeof(y), SLUICE_RT_FLOAT32};
  sluice_rt_job *job = nullptr;
  EXPECT_EQ(sluice_rt_submit(machine.device, 0, &untyped, 1, &out, 1, nullptr, &job),
            SLUICE_RT_INVALID_ARGUMENT);
  EXPECT_STREQ(sluice_rt_last_error(), "input 'x' has type 14, allowed: 1 to 13");
}

/// Every type of array, for an input and an output of the types that a program may have.
TEST(Runtime, IntegersAreExactOrRefused) {
  format::Program program = test::smallProgram();
  format::HostTensor &x = program.models[0].inputs[0], &y = program.models[0].outputs[0];
  x.type = y.type = format::HostType::Int32;
  x.limits = {-256, 255};
  Machine machine(program);
  std::array<int64_t, 8> in{1, 2, 3, 4, 5, 6, 7, 8};
  std::array<int32_t, 8> out{};
  const sluice_rt_input input{sizeof input, in.data(), sizeof(in), SLUICE_RT_INT64};
  sluice_rt_output output{sizeof output, out.data(), sizeof(out), SLUICE_RT_INT32};
  const auto submit = [&] {
    sluice_rt_job *job = nullptr;
    const sluice_rt_status status =
        sluice_rt_submit(machine.device, 0, &input, 1, &output, 1, nullptr, &job);
    if (status == SLUICE_RT_OK)
      EXPECT_EQ(sluice_rt_job_wait(job), SLUICE_RT_OK);
    sluice_rt_job_release(job);
    return status;
  };
  ASSERT_EQ(submit(), SLUICE_RT_OK);
  EXPECT_EQ(out[0], 2);
  EXPECT_EQ(out[7], 23);
  std::array<int8_t, 8> small{};
  output = {sizeof output, small.data(), sizeof(small), SLUICE_RT_INT8};
  ASSERT_EQ(submit(), SLUICE_RT_OK);
  EXPECT_EQ(small[7], 23);
  in[5] = 256;
  ASSERT_EQ(submit(), SLUICE_RT_INVALID_ARGUMENT);
  EXPECT_STREQ(sluice_rt_last_error_code(), "E0618");
  EXPECT_STREQ(sluice_rt_last_error(), "input 'x' has 256 at [0, 5], allowed: integers from -256 "
                                       "to 255 (int32 in the model)");
  auto info = test::sized<sluice_rt_tensor_info>();
  ASSERT_EQ(sluice_rt_program_input(machine.program, 0, 0, &info), SLUICE_RT_OK);
  EXPECT_EQ(info.type, SLUICE_RT_INT32);
  EXPECT_EQ(info.low, -256);
  EXPECT_EQ(info.high, 255);
}

/// A caller that was built before the limits were in the struct.
TEST(Runtime, AnOlderTensorInfo) {
  Machine machine;
  sluice_rt_tensor_info info{};
  info.size = offsetof(sluice_rt_tensor_info, low);
  info.low = 77;
  ASSERT_EQ(sluice_rt_program_input(machine.program, 0, 0, &info), SLUICE_RT_OK);
  EXPECT_EQ(info.elements, 8U);
  EXPECT_EQ(info.low, 77);
}

TEST(Runtime, AFloatOutputIsNotAnInteger) {
  Machine machine;
  const Values in{};
  std::array<int32_t, 8> out{};
  const sluice_rt_input input{sizeof input, in.data(), sizeof(in), SLUICE_RT_FLOAT32};
  const sluice_rt_output output{sizeof output, out.data(), sizeof(out), SLUICE_RT_INT32};
  sluice_rt_job *job = nullptr;
  EXPECT_EQ(sluice_rt_submit(machine.device, 0, &input, 1, &output, 1, nullptr, &job),
            SLUICE_RT_INVALID_ARGUMENT);
  EXPECT_STREQ(sluice_rt_last_error(), "output 'y' of type float32 is given int32 elements, "
                                       "allowed: floating-point types");
}

TEST(Runtime, ErrorsBelongToTheThread) {
  sluice_rt_job_wait(nullptr);
  std::string other;
  std::thread([&] { other = sluice_rt_last_error(); }).join();
  EXPECT_EQ(other, "");
  EXPECT_STREQ(sluice_rt_last_error(), "null job");
}

} // namespace
} // namespace sluice
