// Instructions, nodes and recordings through the C API.
#include <map>
#include <memory>
#include <string>
#include <tuple>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "runtime/api/sluice_rt.h"
#include "runtime/device/device.h"
#include "runtime/format/program_file.h"
#include "tests/unit/runtime/api/machine.h"

namespace sluice {
namespace {

class Watch : public testing::Test {
protected:
  Watch() {
    const std::vector<uint8_t> bytes = format::write(test::smallProgram());
    EXPECT_EQ(sluice_rt_program_load_buffer(bytes.data(), bytes.size(), &program), SLUICE_RT_OK);
    EXPECT_EQ(sluice_rt_device_open("vm", &device), SLUICE_RT_OK);
    EXPECT_EQ(sluice_rt_device_set_pacing(device, SLUICE_RT_SPACED), SLUICE_RT_OK);
  }
  ~Watch() override {
    sluice_rt_device_close(device);
    sluice_rt_program_release(program);
  }

  sluice_rt_job_cycles runJob() {
    float x[8] = {1}, y[8];
    const sluice_rt_input in{sizeof in, x, sizeof(x), SLUICE_RT_FLOAT32};
    const sluice_rt_output out{sizeof out, y, sizeof(y), SLUICE_RT_FLOAT32};
    sluice_rt_job *job = nullptr;
    EXPECT_EQ(sluice_rt_submit(device, 0, &in, 1, &out, 1, nullptr, &job), SLUICE_RT_OK);
    EXPECT_EQ(sluice_rt_job_wait(job), SLUICE_RT_OK) << sluice_rt_last_error();
    auto cycles = test::sized<sluice_rt_job_cycles>();
    sluice_rt_job_cycles_of(job, &cycles);
    sluice_rt_job_release(job);
    return cycles;
  }

  std::vector<sluice_rt_span> recorded() {
    sluice_rt_recording *recording = nullptr;
    EXPECT_EQ(sluice_rt_device_recording(device, &recording), SLUICE_RT_OK)
        << sluice_rt_last_error();
    size_t count = 0;
    EXPECT_EQ(sluice_rt_recording_spans(recording, &count), SLUICE_RT_OK);
    std::vector<sluice_rt_span> spans(count, test::sized<sluice_rt_span>());
    for (size_t i = 0; i < count; ++i)
      EXPECT_EQ(sluice_rt_recording_span(recording, i, &spans[i]), SLUICE_RT_OK);
    auto none = test::sized<sluice_rt_span>();
    EXPECT_EQ(sluice_rt_recording_span(recording, count, &none), SLUICE_RT_INVALID_ARGUMENT);
    EXPECT_EQ(sluice_rt_last_error(),
              count == 0 ? std::string("span 0 does not exist, there is none")
                         : fmt::format("span is {}, allowed: 0 to {}", count, count - 1));
    sluice_rt_recording_release(recording);
    return spans;
  }

  uint64_t now() {
    auto counters = test::sized<sluice_rt_counters>();
    sluice_rt_device_counters(device, &counters);
    return counters.cycles;
  }

  sluice_rt_program *program = nullptr;
  sluice_rt_device *device = nullptr;
};

TEST_F(Watch, EveryUnitHasEveryCycleOnce) {
  sluice_rt_device_record(device, 1);
  ASSERT_EQ(sluice_rt_device_load(device, program), SLUICE_RT_OK);
  runJob();
  runJob();
  std::map<std::pair<uint32_t, sluice_rt_unit>, uint64_t> next;
  for (const sluice_rt_span &span : recorded()) {
    uint64_t &expected = next[{span.core, span.unit}];
    EXPECT_EQ(span.first, expected);
    EXPECT_GE(span.last, span.first);
    expected = span.last + 1;
  }
  EXPECT_EQ(next.size(), 5U);
  for (const auto &[unit, end] : next)
    EXPECT_EQ(end, now());
}

TEST_F(Watch, BeatsAreWhatTheProgramDoes) {
  sluice_rt_device_record(device, 1);
  ASSERT_EQ(sluice_rt_device_load(device, program), SLUICE_RT_OK);
  const sluice_rt_job_cycles cycles = runJob();
  std::map<std::tuple<uint32_t, sluice_rt_unit, uint32_t>, uint64_t> beats;
  for (const sluice_rt_span &span : recorded())
    if (span.activity == SLUICE_RT_BUSY) {
      beats[{span.core, span.unit, span.instruction}] += span.last - span.first + 1;
      // The row is accepted in the cycle of the input beat.
      if (span.unit == SLUICE_RT_INPUT && span.instruction == 0) {
        EXPECT_EQ(span.first, cycles.first_input);
      }
    }
  const decltype(beats) expected{{{0, SLUICE_RT_MATRIX, 0}, 1},
                                 {{0, SLUICE_RT_VECTOR, 1}, 1},
                                 {{2, SLUICE_RT_INPUT, 0}, 1},
                                 {{2, SLUICE_RT_INPUT, 1}, 1}};
  EXPECT_EQ(beats, expected);
}

class Counters {
public:
  explicit Counters(const sluice_rt_device *device) {
    EXPECT_EQ(sluice_rt_device_unit_counters(device, &counters), SLUICE_RT_OK);
  }
  ~Counters() { sluice_rt_unit_counters_release(counters); }
  Counters(const Counters &) = delete;
  Counters &operator=(const Counters &) = delete;

  uint32_t count() const {
    uint32_t units = 0;
    EXPECT_EQ(sluice_rt_unit_counters_units(counters, &units), SLUICE_RT_OK);
    return units;
  }
  sluice_rt_unit_cycles unit(uint32_t index) const {
    auto unit = test::sized<sluice_rt_unit_cycles>();
    EXPECT_EQ(sluice_rt_unit_counters_unit(counters, index, &unit), SLUICE_RT_OK);
    return unit;
  }

private:
  sluice_rt_unit_counters *counters = nullptr;
};

/// Two accounts of the same cycles: the recording is the host's, the counters are
/// the machine's.
TEST_F(Watch, CountersAreTheRecordingSummedUp) {
  sluice_rt_device_record(device, 1);
  ASSERT_EQ(sluice_rt_device_load(device, program), SLUICE_RT_OK);
  runJob();
  runJob();
  Counters all(device);
  ASSERT_EQ(all.count(), 11U);
  std::map<std::tuple<uint32_t, sluice_rt_unit, int>, uint64_t> summed;
  for (const sluice_rt_span &span : recorded())
    summed[{span.core, span.unit, span.activity}] += span.last - span.first + 1;
  for (uint32_t i = 0; i < all.count(); ++i) {
    const sluice_rt_unit_cycles unit = all.unit(i);
    uint64_t total = 0;
    for (uint32_t activity = 0; activity < unit.activities; ++activity) {
      total += unit.cycles[activity];
      if (unit.unit <= SLUICE_RT_INPUT) {
        EXPECT_EQ((summed[{unit.core, unit.unit, activity}]), unit.cycles[activity])
            << sluice_rt_unit_name(unit.unit) << ' ' << unit.core << ' '
            << sluice_rt_activity_name(static_cast<sluice_rt_activity>(activity));
      }
    }
    EXPECT_EQ(total, now());
  }
  // A copy: a reset clears the machine's, not these.
  ASSERT_EQ(sluice_rt_device_reset(device), SLUICE_RT_OK);
  EXPECT_GT(all.unit(0).cycles[SLUICE_RT_IDLE], 0U);
  EXPECT_EQ(Counters(device).unit(0).cycles[SLUICE_RT_IDLE], 0U);
}

TEST_F(Watch, CountersNeedAProgramAndAPlace) {
  sluice_rt_unit_counters *counters = nullptr;
  EXPECT_EQ(sluice_rt_device_unit_counters(device, &counters), SLUICE_RT_INVALID_ARGUMENT);
  EXPECT_STREQ(sluice_rt_last_error(), "the device has no program loaded");
  EXPECT_EQ(sluice_rt_device_unit_counters(device, nullptr), SLUICE_RT_INVALID_ARGUMENT);
  EXPECT_STREQ(sluice_rt_last_error(), "null argument");
  ASSERT_EQ(sluice_rt_device_load(device, program), SLUICE_RT_OK);
  ASSERT_EQ(sluice_rt_device_unit_counters(device, &counters), SLUICE_RT_OK);
  auto unit = test::sized<sluice_rt_unit_cycles>();
  EXPECT_EQ(sluice_rt_unit_counters_unit(counters, 11, &unit), SLUICE_RT_INVALID_ARGUMENT);
  EXPECT_STREQ(sluice_rt_last_error(), "unit is 11, allowed: 0 to 10");
  sluice_rt_unit_counters_release(counters);
  EXPECT_STREQ(sluice_rt_unit_name(SLUICE_RT_NETWORK), "network");
  EXPECT_STREQ(sluice_rt_activity_name(SLUICE_RT_WAITS_OUTPUT), "output");
  EXPECT_STREQ(sluice_rt_activity_name(static_cast<sluice_rt_activity>(11)), "");
}

/// The recording of a device against the status of another one, cycle by cycle.
TEST_F(Watch, ActivityIsTheStatusOfTheCycle) {
  sluice_rt_device_record(device, 1);
  ASSERT_EQ(sluice_rt_device_load(device, program), SLUICE_RT_OK);
  const sluice_rt_job_cycles cycles = runJob();
  const std::unique_ptr<device::Device> other = device::makeVm();
  other->load(test::smallProgram());
  std::vector<std::vector<device::UnitStatus>> states;
  const std::vector<uint16_t> row(8);
  while (other->cycle() <= cycles.last_output) {
    states.push_back(other->status());
    other->step(other->cycle() == cycles.first_input ? row.data() : nullptr, true);
  }
  for (const sluice_rt_span &span : recorded())
    for (uint64_t cycle = span.first; cycle <= span.last; ++cycle) {
      const device::UnitStatus &status = states[cycle][2 * span.core + (span.unit % 2)];
      const bool accepts = span.unit == SLUICE_RT_INPUT && cycle == cycles.first_input;
      EXPECT_EQ(span.activity, accepts ? SLUICE_RT_BUSY : static_cast<int>(status.block));
      EXPECT_EQ(span.instruction, status.instruction);
    }
}

TEST_F(Watch, RecordingForgetsAtAResetAndChangesNoCycle) {
  ASSERT_EQ(sluice_rt_device_load(device, program), SLUICE_RT_OK);
  const sluice_rt_job_cycles plain = runJob();
  ASSERT_EQ(sluice_rt_device_record(device, 1), SLUICE_RT_OK);
  EXPECT_TRUE(recorded().empty());
  const uint64_t before = now();
  runJob();
  EXPECT_EQ(recorded().front().first, before); // the clock stood
  ASSERT_EQ(sluice_rt_device_reset(device), SLUICE_RT_OK);
  const sluice_rt_job_cycles again = runJob();
  EXPECT_EQ(again.latency, plain.latency);
  EXPECT_EQ(recorded().front().first, 0U);
  ASSERT_EQ(sluice_rt_device_record(device, 0), SLUICE_RT_OK);
  sluice_rt_recording *none = nullptr;
  EXPECT_EQ(sluice_rt_device_recording(device, &none), SLUICE_RT_INVALID_ARGUMENT);
  EXPECT_STREQ(sluice_rt_last_error(), "the device has no program loaded or is not recording");
}

TEST_F(Watch, InstructionsAndNodes) {
  uint32_t count = 0;
  ASSERT_EQ(sluice_rt_program_instructions(program, 0, &count), SLUICE_RT_OK);
  EXPECT_EQ(count, 3U);
  auto info = test::sized<sluice_rt_instruction_info>();
  ASSERT_EQ(sluice_rt_program_instruction(program, 0, 0, &info), SLUICE_RT_OK);
  EXPECT_EQ(info.unit, SLUICE_RT_MATRIX);
  EXPECT_EQ(info.multiplies, 1);
  EXPECT_TRUE(std::string(info.text).starts_with("mm ")) << info.text;
  EXPECT_STREQ(info.moves, "reads x[0, 0..7]");
  ASSERT_EQ(info.node_count, 1U);
  auto node = test::sized<sluice_rt_node_info>();
  ASSERT_EQ(sluice_rt_program_node(program, info.nodes[0], &node), SLUICE_RT_OK);
  EXPECT_EQ(node.index, 0);
  EXPECT_STREQ(node.name, "fc");
  EXPECT_STREQ(node.op, "Gemm");
  ASSERT_EQ(sluice_rt_program_instruction(program, 0, 1, &info), SLUICE_RT_OK);
  EXPECT_EQ(info.unit, SLUICE_RT_VECTOR);
  EXPECT_EQ(info.multiplies, 0);
  EXPECT_EQ(info.node_count, 2U);
  EXPECT_STREQ(info.moves, "reads constant, writes y[0..7]");
  ASSERT_EQ(sluice_rt_program_instruction(program, 0, 2, &info), SLUICE_RT_OK);
  EXPECT_EQ(info.unit, SLUICE_RT_SEQUENCER);
  EXPECT_STREQ(info.moves, "");
  ASSERT_EQ(sluice_rt_program_instruction(program, 2, 0, &info), SLUICE_RT_OK);
  EXPECT_EQ(info.unit, SLUICE_RT_INPUT);
  EXPECT_EQ(info.node_count, 0U);

  EXPECT_EQ(sluice_rt_program_instruction(program, 0, 3, &info), SLUICE_RT_INVALID_ARGUMENT);
  EXPECT_STREQ(sluice_rt_last_error(), "instruction is 3, allowed: 0 to 2");
  EXPECT_EQ(sluice_rt_program_instructions(program, 3, &count), SLUICE_RT_INVALID_ARGUMENT);
  EXPECT_STREQ(sluice_rt_last_error(), "core is 3, allowed: 0 to 2");
  EXPECT_EQ(sluice_rt_program_node(program, 2, &node), SLUICE_RT_INVALID_ARGUMENT);
  EXPECT_STREQ(sluice_rt_last_error(), "node is 2, allowed: 0 to 1");
}

} // namespace
} // namespace sluice
