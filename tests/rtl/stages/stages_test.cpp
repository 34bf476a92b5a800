// Machines with fewer and with more stages than the presets: the C++ model and the RTL agree in
// bits and cycles on random instructions and on compiled models, whose cycles the timing-only run
// predicts. SLUICE_STAGES_INSTRUCTIONS sets how many random instructions run on each machine.
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "runtime/device/device.h"
#include "runtime/format/program_file.h"
#include "runtime/format/targets.h"
#include "sim/verilator/rtl_device.h"
#include "sim/vm/timing.h"
#include "tests/support/environment.h"
#include "tests/support/lockstep.h"
#include "tests/support/rng.h"

namespace sluice::verilator {
std::unique_ptr<Model> make_stages_few_fast(uint32_t seed);
std::unique_ptr<Model> make_stages_many_fast(uint32_t seed);
} // namespace sluice::verilator

namespace sluice::fixtures {
namespace {

struct Machine {
  const char *name;
  std::unique_ptr<verilator::Model> (*make)(uint32_t seed);
};

constexpr Machine kMachines[] = {{"stages_few", verilator::make_stages_few_fast},
                                 {"stages_many", verilator::make_stages_many_fast}};

format::Geometry geometryOf(const Machine &machine) {
  auto target = format::loadTarget(std::string(STAGES_FOLDER) + "/" + machine.name + ".json");
  if (const auto *problem = std::get_if<format::FileProblem>(&target)) {
    ADD_FAILURE() << problem->message;
    return {};
  }
  return std::get<format::Geometry>(target);
}

class Stages : public testing::TestWithParam<Machine> {
protected:
  const verilator::ModelEntry entry{.geometry = geometryOf(GetParam()), .make = GetParam().make};
  std::unique_ptr<device::Device> vm = device::makeVm(), rtl = device::makeRtl(entry);
};

TEST_P(Stages, RandomProgramsAgree) {
  const uint64_t wanted = fromEnvironment("SLUICE_STAGES_INSTRUCTIONS", 5000);
  uint64_t seed = 1, run = 0;
  for (; run < wanted; ++seed) {
    const LockstepResult result =
        runLockstep(makeRandomProgram(seed, entry.geometry), *vm, rtl.get());
    ASSERT_EQ(result.difference, "");
    run += result.instructions;
  }
  std::cout << seed - 1 << " programs, " << run << " instructions without a difference\n";
}

/// The rows of a model's inputs, bf16 in [-1, 1].
std::vector<std::vector<uint16_t>> inputOf(const format::Program &program, Rng &rng) {
  uint32_t count = 0;
  for (const format::HostTensor &tensor : program.models[0].inputs)
    count += tensor.rows;
  std::vector<std::vector<uint16_t>> rows(count, std::vector<uint16_t>(program.geometry.lanes));
  for (std::vector<uint16_t> &row : rows)
    for (uint16_t &lane : row)
      lane = static_cast<uint16_t>(rng.range(0x3D00, 0x3F80) | rng.range(0, 1) << 15);
  return rows;
}

TEST_P(Stages, ModelsAgreeAndTakeTheCyclesThatAreMeasured) {
  const std::string ending = std::string("-") + GetParam().name + ".sluice";
  unsigned programs = 0;
  for (const auto &file : std::filesystem::directory_iterator(STAGES_PROGRAMS)) {
    if (!file.path().filename().string().ends_with(ending))
      continue;
    SCOPED_TRACE(file.path());
    ++programs;
    const format::ReadResult read = format::readFile(file.path());
    ASSERT_TRUE(read.program);
    EXPECT_EQ(read.program->geometry, entry.geometry);
    const auto timing = vm::measureTiming(*read.program);
    ASSERT_TRUE(timing);
    vm->load(*read.program);
    rtl->load(*read.program);
    Rng rng(programs);
    uint64_t latency = 0;
    for (unsigned inference = 0; inference < 3; ++inference) { // spaced, at rest in between
      const auto rows = inputOf(*read.program, rng);
      size_t offered = 0;
      uint64_t first = 0;
      for (unsigned quiet = 0; quiet < 128;) {
        const uint16_t *row = offered < rows.size() ? rows[offered].data() : nullptr;
        const device::Device::Cycle one = vm->step(row, true), other = rtl->step(row, true);
        ASSERT_EQ(one.inputTaken, other.inputTaken) << "cycle " << vm->cycle();
        ASSERT_EQ(one.progress, other.progress) << "cycle " << vm->cycle();
        ASSERT_EQ(one.output.has_value(), other.output.has_value()) << "cycle " << vm->cycle();
        if (one.inputTaken && offered++ == 0)
          first = vm->cycle();
        if (one.output) {
          ASSERT_EQ(one.output->address, other.output->address) << "cycle " << vm->cycle();
          ASSERT_EQ(one.output->lanes, other.output->lanes) << "cycle " << vm->cycle();
          latency = vm->cycle() - first + 1;
        }
        quiet = one.progress ? 0 : quiet + 1;
      }
    }
    if (read.program->models[0].steps == 1) {
      EXPECT_EQ(latency, timing->spaced);
    }
  }
  EXPECT_EQ(programs, 4U);
}

/// Together the machines have every stage at a value other than that of the presets.
TEST(StagesOfMachines, AreAllTested) {
  for (const isa::StageInfo &stage : isa::kStages) {
    bool tested = false;
    for (const Machine &machine : kMachines)
      tested |= geometryOf(machine).stages.*stage.value != isa::Stages().*stage.value;
    EXPECT_TRUE(tested) << stage.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Machines, Stages, testing::ValuesIn(kMachines),
                         [](const auto &info) { return std::string(info.param.name); });

} // namespace
} // namespace sluice::fixtures
