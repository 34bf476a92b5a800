// Handles that several threads use at once. What is tested is what a thread
// sanitizer sees, and that nobody loses a job.
#include <array>
#include <atomic>
#include <set>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "tests/unit/runtime/api/machine.h"

namespace sluice {
namespace {

using test::expected;
using test::Machine;
using test::Values;

constexpr int kThreads = 4, kJobs = 50;

/// Runs `body` with the numbers 0 to kThreads - 1 at once.
template <typename Body> void together(Body body) {
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back(body, t);
  for (std::thread &thread : threads)
    thread.join();
}

TEST(Threads, SubmitAndWait) {
  Machine machine;
  std::atomic<int> wrong{0};
  together([&](int t) {
    for (int i = 0; i < kJobs; ++i) {
      const Values x{float(t), float(i)};
      Values y{};
      sluice_rt_job *job = machine.submit(x, y);
      wrong += sluice_rt_job_wait(job) != SLUICE_RT_OK || y != expected(x);
      sluice_rt_job_release(job);
    }
  });
  EXPECT_EQ(wrong, 0);
}

/// One thread collects while the others release the handles of the same jobs: each
/// job is handed out or released before, and what was handed out stays good.
TEST(Threads, ReleaseWhileAnotherCollects) {
  Machine machine;
  std::vector<Values> y(size_t{kThreads} * kJobs);
  std::atomic<int> releasing{kThreads};
  std::multiset<const void *> handedOut;
  std::thread collector([&] {
    while (true) {
      const bool last = releasing == 0;
      sluice_rt_job *job = nullptr;
      const sluice_rt_status status = sluice_rt_device_next_ended(machine.device, 1, &job);
      if (status == SLUICE_RT_PENDING && last)
        return;
      if (status == SLUICE_RT_PENDING)
        continue;
      void *context = nullptr;
      EXPECT_EQ(sluice_rt_job_context(job, &context), SLUICE_RT_OK);
      EXPECT_EQ(sluice_rt_job_poll(job), SLUICE_RT_OK);
      auto cycles = test::sized<sluice_rt_job_cycles>();
      EXPECT_EQ(sluice_rt_job_cycles_of(job, &cycles), SLUICE_RT_OK);
      handedOut.insert(context);
      sluice_rt_job_release(job);
    }
  });
  together([&](int t) {
    for (int i = 0; i < kJobs; ++i) {
      Values &place = y[size_t{static_cast<size_t>(t)} * kJobs + i];
      sluice_rt_job *job = machine.submit({float(i)}, place, &place);
      if (i % 2 == 0) {
        EXPECT_EQ(sluice_rt_job_wait(job), SLUICE_RT_OK);
      }
      sluice_rt_job_release(job);
    }
    --releasing;
  });
  // Those that go on without a handle must end before their arrays go away.
  auto counters = test::sized<sluice_rt_counters>();
  do
    ASSERT_EQ(sluice_rt_device_counters(machine.device, &counters), SLUICE_RT_OK);
  while (counters.jobs_completed != y.size());
  collector.join();
  for (const void *one : handedOut)
    EXPECT_EQ(handedOut.count(one), 1U);
}

/// Without a handle of submit nothing is lost.
TEST(Threads, CollectWhatOthersSubmitted) {
  Machine machine;
  std::vector<Values> y(size_t{kThreads} * kJobs);
  std::vector<std::atomic<int>> seen(y.size());
  together([&](int t) {
    for (int i = 0; i < kJobs; ++i) {
      const size_t number = size_t{static_cast<size_t>(t)} * kJobs + i;
      const Values x{float(number)};
      const sluice_rt_input in{sizeof in, x.data(), sizeof x, SLUICE_RT_FLOAT32};
      const sluice_rt_output out{sizeof out, y[number].data(), sizeof x, SLUICE_RT_FLOAT32};
      EXPECT_EQ(sluice_rt_submit(machine.device, 0, &in, 1, &out, 1, &y[number], nullptr),
                SLUICE_RT_OK);
    }
    for (int i = 0; i < kJobs; ++i) {
      sluice_rt_job *job = nullptr;
      ASSERT_EQ(sluice_rt_device_next_ended(machine.device, 10000, &job), SLUICE_RT_OK);
      void *context = nullptr;
      ASSERT_EQ(sluice_rt_job_context(job, &context), SLUICE_RT_OK);
      const auto number = static_cast<size_t>(static_cast<Values *>(context) - y.data());
      EXPECT_EQ(y[number], expected({float(number)}));
      ++seen[number];
      sluice_rt_job_release(job);
    }
  });
  for (const std::atomic<int> &times : seen)
    EXPECT_EQ(times, 1);
}

/// Jobs that come while their session is closed, and its thread still works.
TEST(Threads, SubmitWhileLoading) {
  std::array<Values, kThreads> outputs{};
  Machine machine;
  std::atomic<bool> loading{true};
  std::thread loader([&] {
    for (int i = 0; i < kJobs; ++i)
      EXPECT_EQ(sluice_rt_device_load(machine.device, machine.program), SLUICE_RT_OK);
    loading = false;
  });
  together([&](int t) {
    while (loading)
      sluice_rt_job_release(machine.submit({1}, outputs[t]));
  });
  loader.join();
}

/// Resets, loads, counters and recordings between jobs: every job ends, well or
/// cancelled.
TEST(Threads, EverythingAtOnce) {
  std::array<std::array<Values, kJobs>, kThreads> outputs{}; // outlive what nobody waits for
  Machine machine;
  together([&](int t) {
    for (int i = 0; i < kJobs; ++i) {
      Values &y = outputs[t][i];
      sluice_rt_job *job = machine.submit({1}, y);
      if (t == 0 && i % 5 == 0)
        EXPECT_EQ(sluice_rt_device_reset(machine.device), SLUICE_RT_OK);
      if (t == 1 && i % 10 == 0)
        EXPECT_EQ(sluice_rt_device_load(machine.device, machine.program), SLUICE_RT_OK);
      if (t == 2) {
        EXPECT_EQ(sluice_rt_device_record(machine.device, i % 2), SLUICE_RT_OK);
        sluice_rt_recording *recording = nullptr;
        if (i % 2) {
          EXPECT_EQ(sluice_rt_device_recording(machine.device, &recording), SLUICE_RT_OK);
        }
        sluice_rt_recording_release(recording);
      }
      if (t == 3) {
        sluice_rt_unit_counters *counters = nullptr;
        EXPECT_EQ(sluice_rt_device_unit_counters(machine.device, &counters), SLUICE_RT_OK);
        sluice_rt_unit_counters_release(counters);
        EXPECT_EQ(sluice_rt_device_hold(machine.device, i % 2), SLUICE_RT_OK);
      }
      // Thread 3 waits for nothing, so that the device goes on at some time.
      if (t == 3 && i + 1 == kJobs)
        EXPECT_EQ(sluice_rt_device_hold(machine.device, 0), SLUICE_RT_OK);
      const sluice_rt_status status = t == 3 ? SLUICE_RT_OK : sluice_rt_job_wait(job);
      EXPECT_TRUE(status == SLUICE_RT_OK || status == SLUICE_RT_CANCELLED);
      if (status == SLUICE_RT_OK && t != 3) {
        EXPECT_EQ(y, expected({1}));
      }
      sluice_rt_job_release(job);
    }
  });
}

} // namespace
} // namespace sluice
