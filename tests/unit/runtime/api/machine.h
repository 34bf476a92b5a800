// A vm with the small program, for the tests of the C API.
#pragma once

#include <algorithm>
#include <array>
#include <span>

#include <gtest/gtest.h>

#include "runtime/api/sluice_rt.h"
#include "runtime/format/program_file.h"
#include "tests/unit/runtime/small_program.h"

namespace sluice::test {

/// An empty struct of the C API, for the library to fill.
template <typename T> T sized() {
  T value{};
  value.size = sizeof(T);
  return value;
}

using Values = std::array<float, 8>;

/// A device with a program loaded.
struct Machine {
  explicit Machine(const format::Program &contents = smallProgram(), uint64_t stallLimit = 1000) {
    const std::vector<uint8_t> bytes = format::write(contents);
    EXPECT_EQ(sluice_rt_program_load_buffer(bytes.data(), bytes.size(), &program), SLUICE_RT_OK)
        << sluice_rt_last_error();
    EXPECT_EQ(sluice_rt_device_open("vm", &device), SLUICE_RT_OK);
    EXPECT_EQ(sluice_rt_device_set_stall_limit(device, stallLimit), SLUICE_RT_OK);
    EXPECT_EQ(sluice_rt_device_load(device, program), SLUICE_RT_OK) << sluice_rt_last_error();
  }
  ~Machine() {
    sluice_rt_device_close(device);
    sluice_rt_program_release(program);
  }
  sluice_rt_job *submit(const Values &x, Values &y, void *context = nullptr) {
    return submitArrays(x, y, context);
  }
  /// `y` is where the output goes when the job ends.
  sluice_rt_job *submitArrays(std::span<const float> x, std::span<float> y,
                              void *context = nullptr) {
    const sluice_rt_input in{sizeof in, x.data(), x.size_bytes(), SLUICE_RT_FLOAT32};
    const sluice_rt_output out{sizeof out, y.data(), y.size_bytes(), SLUICE_RT_FLOAT32};
    sluice_rt_job *job = nullptr;
    EXPECT_EQ(sluice_rt_submit(device, 0, &in, 1, &out, 1, context, &job), SLUICE_RT_OK)
        << sluice_rt_last_error();
    return job;
  }
  sluice_rt_program *program = nullptr;
  sluice_rt_device *device = nullptr;
};

/// The cycles of a job that ended with OK.
inline sluice_rt_job_cycles cyclesOf(const sluice_rt_job *job) {
  auto cycles = sized<sluice_rt_job_cycles>();
  EXPECT_EQ(sluice_rt_job_cycles_of(job, &cycles), SLUICE_RT_OK) << sluice_rt_last_error();
  return cycles;
}

/// What the small program computes.
inline Values expected(const Values &x) {
  Values y;
  for (int i = 0; i < 8; ++i)
    y[i] = std::max(0.0F, 2 * x[i] + float(i));
  return y;
}

} // namespace sluice::test
