// Jobs of a model of several steps: its parts in and out, and the state from one to the next.
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/runtime/api/machine.h"

namespace sluice {
namespace {

using test::Machine;
using Array = std::vector<float>;

constexpr uint32_t kSteps = 3;

/// The stateful program, three times in an inference: [3, 8] to [3, 8].
format::Program threeSteps() {
  format::Program program = test::statefulProgram();
  format::Model &model = program.models[0];
  model.steps = kSteps;
  for (format::HostTensor *tensor : {&model.inputs[0], &model.outputs[0]}) {
    tensor->shape = {kSteps, 8};
    tensor->dataDim = 1;
    tensor->stepAxis = 0;
  }
  // It is not saved.
  program.cores[0].instructions.resize(program.state.save[0]);
  program.hostInstructions.resize(program.state.save.back());
  program.state.save.clear();
  return program;
}

/// Element i of the input in each step.
Array ascending(size_t steps, float first) {
  Array x(steps * 8);
  std::iota(x.begin(), x.end(), first);
  return x;
}

/// What step `n` computes of its eight elements.
Array inStep(size_t n, const float *x) {
  Array y(8);
  for (size_t i = 0; i < 8; ++i)
    y[i] = std::max(0.0F, 2 * x[i] + static_cast<float>(i + n));
  return y;
}

Array inSteps(const Array &x) {
  Array y;
  for (size_t n = 0; n < kSteps; ++n) {
    const Array part = inStep(n, &x[n * 8]);
    y.insert(y.end(), part.begin(), part.end());
  }
  return y;
}

/// The cycles of a job that has ended, which is released.
sluice_rt_job_cycles cyclesOf(sluice_rt_job *job) {
  EXPECT_EQ(sluice_rt_job_wait(job), SLUICE_RT_OK) << sluice_rt_last_error();
  auto cycles = test::sized<sluice_rt_job_cycles>();
  EXPECT_EQ(sluice_rt_job_cycles_of(job, &cycles), SLUICE_RT_OK);
  sluice_rt_job_release(job);
  return cycles;
}

TEST(Steps, EveryJobBeginsWithTheInitialState) {
  for (const sluice_rt_pacing pacing : {SLUICE_RT_QUEUED, SLUICE_RT_CONTIGUOUS, SLUICE_RT_SPACED}) {
    Machine machine(threeSteps());
    ASSERT_EQ(sluice_rt_device_set_pacing(machine.device, pacing), SLUICE_RT_OK);
    std::vector<Array> x, y(4, Array(kSteps * 8));
    std::vector<sluice_rt_job *> jobs;
    for (size_t i = 0; i < y.size(); ++i) {
      x.push_back(ascending(kSteps, static_cast<float>(i)));
      jobs.push_back(machine.submitArrays(x[i], y[i]));
    }
    std::vector<sluice_rt_job_cycles> cycles;
    for (sluice_rt_job *job : jobs)
      cycles.push_back(cyclesOf(job));
    for (size_t i = 0; i < y.size(); ++i) {
      EXPECT_EQ(y[i], inSteps(x[i])) << "job " << i;
      // The cycles of all jobs are on one scale, the start between them included.
      if (i > 0) {
        EXPECT_GT(cycles[i].first_input, cycles[i - 1].last_output + 1 + 5 + 1);
        EXPECT_EQ(cycles[i].interval, cycles[i].last_output - cycles[i - 1].last_output);
        EXPECT_EQ(cycles[i].latency, cycles[1].latency);
      }
    }
    auto counters = test::sized<sluice_rt_counters>();
    ASSERT_EQ(sluice_rt_device_counters(machine.device, &counters), SLUICE_RT_OK);
    EXPECT_EQ(counters.input_rows, 4 * kSteps);
    EXPECT_EQ(counters.cycles, cycles.back().last_output + 1);
    EXPECT_EQ(counters.switch_cycles, 1U + 5 + 1);
  }
}

TEST(Steps, CountersAreOfAllInferences) {
  Machine machine(threeSteps());
  const Array x = ascending(kSteps, 0);
  Array y(kSteps * 8);
  const auto busy = [&] {
    sluice_rt_unit_counters *counters = nullptr;
    EXPECT_EQ(sluice_rt_device_unit_counters(machine.device, &counters), SLUICE_RT_OK);
    auto unit = test::sized<sluice_rt_unit_cycles>();
    EXPECT_EQ(sluice_rt_unit_counters_unit(counters, 0, &unit), SLUICE_RT_OK);
    const uint64_t cycles = unit.cycles[SLUICE_RT_BUSY];
    sluice_rt_unit_counters_release(counters);
    return cycles;
  };
  cyclesOf(machine.submitArrays(x, y));
  const uint64_t once = busy();
  EXPECT_GT(once, 0U);
  cyclesOf(machine.submitArrays(x, y));
  EXPECT_EQ(busy(), 2 * once);
}

TEST(Steps, WithoutAnAxisTheInputIsOfferedAgainAndTheLastOutputStays) {
  format::Program program = threeSteps();
  format::Model &model = program.models[0];
  model.inputs[0].shape = {1, 8};
  model.inputs[0].stepAxis.reset();
  // There must be an input with parts: one that nobody reads would be a row too many, so the
  // loader is not asked.
  EXPECT_EQ(format::check(program).front().message,
            "model 'small': the model has 3 steps, but no input has a step axis");
  program = threeSteps();
  program.models[0].outputs[0].shape = {8};
  program.models[0].outputs[0].dataDim = 0;
  program.models[0].outputs[0].stepAxis.reset();
  Machine machine(program);
  const Array x = ascending(kSteps, 0);
  Array y(8);
  cyclesOf(machine.submitArrays(x, y));
  EXPECT_EQ(y, inStep(2, &x[16]));
}

TEST(Steps, PositionsBeforeTheFirstAreDropped) {
  format::Program program = threeSteps();
  program.models[0].outputs[0].shape = {2, 8};
  program.models[0].outputs[0].skipped = 1;
  Machine machine(program);
  const Array x = ascending(kSteps, 0);
  Array y(16);
  cyclesOf(machine.submitArrays(x, y));
  const Array all = inSteps(x);
  EXPECT_EQ(y, Array(all.begin() + 8, all.end()));
}

TEST(Steps, NoStateIsSeenFromOutside) {
  Machine machine(threeSteps());
  size_t size = 1;
  ASSERT_EQ(sluice_rt_program_state_size(machine.program, &size), SLUICE_RT_OK);
  EXPECT_EQ(size, 0U);
}

} // namespace
} // namespace sluice
