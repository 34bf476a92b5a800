// Random numbers that the device draws for every job.
#include <cmath>
#include <cstddef>

#include <gtest/gtest.h>

#include "runtime/api/drawn_array.h"
#include "runtime/api/element.h"
#include "runtime/random/random_field.h"
#include "tests/unit/runtime/api/machine.h"

namespace sluice {
namespace {

using test::expected;
using test::Machine;
using test::Values;

constexpr random::RandomNumbers kNormal = {random::Distribution::Normal, 1, 2, 0x123456789ABCDEF0};

/// The small program, whose input the device draws.
format::Program drawingProgram() {
  format::Program program = test::smallProgram();
  format::Model &model = program.models[0];
  model.arrays = {{"unread", {3}, format::HostType::Float32}};
  model.arrays.push_back({"x", {1, 8}, format::HostType::Float32, std::nullopt, kNormal});
  model.inputs[0].array = 1;
  return program;
}

Values run(Machine &machine) {
  const Values unread{};
  Values y{};
  sluice_rt_job *job = machine.submitArrays(std::span(unread).first(3), y);
  EXPECT_EQ(sluice_rt_job_wait(job), SLUICE_RT_OK) << sluice_rt_last_error();
  sluice_rt_job_release(job);
  return y;
}

/// What the program computes in an inference.
Values ofInference(uint64_t seed, uint64_t inference) {
  const auto rounded = [](float value) {
    return runtime::floatFromBf16(runtime::bf16FromFloat(value));
  };
  const random::RandomField field(random::keyOfInference(seed, kNormal.stream, inference));
  Values x;
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = rounded(static_cast<float>(1 + 2 * field.normal(i)));
  Values y = expected(x);
  for (float &value : y)
    value = rounded(value);
  return y;
}

TEST(Drawn, EveryJobDrawsAnew) {
  Machine machine(drawingProgram());
  for (uint64_t i = 0; i < 4; ++i)
    EXPECT_EQ(run(machine), ofInference(0, i)) << i;
  EXPECT_NE(ofInference(0, 0), ofInference(0, 1));
}

TEST(Drawn, TheSeedAndTheNumberAreSet) {
  Machine machine(drawingProgram());
  ASSERT_EQ(sluice_rt_device_set_seed(machine.device, 7, 3), SLUICE_RT_OK);
  EXPECT_EQ(run(machine), ofInference(7, 3));
  EXPECT_EQ(run(machine), ofInference(7, 4));
  ASSERT_EQ(sluice_rt_device_set_seed(machine.device, UINT64_MAX, UINT64_MAX), SLUICE_RT_OK);
  EXPECT_EQ(run(machine), ofInference(UINT64_MAX, UINT64_MAX));
  EXPECT_EQ(run(machine), ofInference(UINT64_MAX, 0));
  EXPECT_EQ(sluice_rt_device_set_seed(nullptr, 0, 0), SLUICE_RT_INVALID_ARGUMENT);
}

TEST(Drawn, ResetsBeginAnewAndKeepTheSeed) {
  Machine machine(drawingProgram());
  ASSERT_EQ(sluice_rt_device_set_seed(machine.device, 7, 3), SLUICE_RT_OK);
  run(machine);
  ASSERT_EQ(sluice_rt_device_reset(machine.device), SLUICE_RT_OK);
  EXPECT_EQ(run(machine), ofInference(7, 0));
  ASSERT_EQ(sluice_rt_submit_reset(machine.device, nullptr, nullptr), SLUICE_RT_OK);
  EXPECT_EQ(run(machine), ofInference(7, 0));
  EXPECT_EQ(run(machine), ofInference(7, 1));
  ASSERT_EQ(sluice_rt_device_load(machine.device, machine.program), SLUICE_RT_OK);
  EXPECT_EQ(run(machine), ofInference(7, 0));
}

TEST(Drawn, ARejectedJobDrawsNothing) {
  Machine machine(drawingProgram());
  EXPECT_EQ(sluice_rt_submit(machine.device, 0, nullptr, 0, nullptr, 0, nullptr, nullptr),
            SLUICE_RT_INVALID_ARGUMENT);
  EXPECT_EQ(run(machine), ofInference(0, 0));
}

TEST(Drawn, IsNoInputOfTheUser) {
  Machine machine(drawingProgram());
  auto model = test::sized<sluice_rt_model_info>();
  ASSERT_EQ(sluice_rt_program_model(machine.program, 0, &model), SLUICE_RT_OK);
  EXPECT_EQ(model.inputs, 1U);
  EXPECT_EQ(model.random_draws, 1U);
  auto info = test::sized<sluice_rt_tensor_info>();
  EXPECT_EQ(sluice_rt_program_input(machine.program, 0, 1, &info), SLUICE_RT_INVALID_ARGUMENT);
  EXPECT_EQ(sluice_rt_device_keep_input(machine.device, 0, 1, 1), SLUICE_RT_INVALID_ARGUMENT);
  model.size = offsetof(sluice_rt_model_info, random_draws); // of a caller before this member
  EXPECT_EQ(sluice_rt_program_model(machine.program, 0, &model), SLUICE_RT_OK);
}

TEST(Drawn, IsRoundedOnceToTheTypeOfTheArray) {
  const random::RandomField field(random::keyOfInference(5, kNormal.stream, 2));
  const auto drawn = [](format::HostType type) {
    return runtime::drawnArray(kNormal, type, 20000, {5, 2});
  };
  const auto floats = drawn(format::HostType::Float32), halves = drawn(format::HostType::Float16),
             bfloats = drawn(format::HostType::BFloat16);
  for (size_t i = 0; i < floats.size(); ++i) {
    const double exact = 1 + 2 * field.normal(i);
    ASSERT_EQ(floats[i], static_cast<float>(exact));
    int exponent = 0;
    std::frexp(exact, &exponent);
    const auto rounded = [&](int bits) { // to nearest, ties to even
      return std::ldexp(std::nearbyint(std::ldexp(exact, bits - exponent)), exponent - bits);
    };
    ASSERT_EQ(bfloats[i], rounded(8));
    if (exponent > -13)
      ASSERT_EQ(halves[i], rounded(11));
  }
}

} // namespace
} // namespace sluice
