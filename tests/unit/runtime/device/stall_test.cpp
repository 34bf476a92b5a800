#include "runtime/device/stall.h"

#include <gtest/gtest.h>

#include "hw/isa/isa.h"
#include "runtime/format/targets.h"
#include "tests/unit/runtime/small_program.h"

namespace sluice::device {
namespace {

using Block = UnitStatus::Block;

/// Two cores; the source map knows instruction 1 of core 0 and 0 of the host port.
format::Program mapped() {
  format::Program program;
  program.geometry = *format::findPreset("c2b8");
  program.cores.resize(2);
  program.nodes = {{4, "fc1", "Gemm"}, {-1, "x", "input"}, {5, "act", "Relu"}};
  program.sourceMap = {{0, 1, {0, 2}}, {2, 0, {1}}};
  return program;
}

TEST(Stall, NamesTheSourceOfAnInstruction) {
  EXPECT_EQ(describeSource(mapped(), 0, 1), "node 4 \"fc1\" (Gemm), node 5 \"act\" (Relu)");
  EXPECT_EQ(describeSource(mapped(), 2, 0), "node \"x\" (input)");
  EXPECT_EQ(describeSource(mapped(), 0, 0), "");
  EXPECT_EQ(describeSource(mapped(), 1, 1), "");
}

TEST(Stall, NamesTheUnitsThatWaitForTokensFirst) {
  const std::vector<UnitStatus> units{
      {.unit = "vector", .core = 0, .block = Block::ResultFifoEmpty, .instruction = 1},
      {.unit = "matrix",
       .core = 1,
       .block = Block::Token,
       .instruction = 7,
       .token = 3,
       .have = 1,
       .need = 2},
      {.unit = "vector", .core = 1, .block = Block::Idle},
      {.unit = "input", .core = 2, .block = Block::HostInput, .instruction = 0}};
  EXPECT_EQ(
      describeStall(mapped(), units, 500),
      "no progress for 500 cycles: the matrix unit of core 1 waits for token 3 (has 1, needs "
      "2) in instruction 7; the vector unit of core 0 waits for a result of the matrix unit in "
      "instruction 1, node 4 \"fc1\" (Gemm), node 5 \"act\" (Relu); the host port waits for an "
      "input row in instruction 0, node \"x\" (input)");
}

TEST(Stall, SaysSoIfEveryUnitHasFinished) {
  EXPECT_EQ(describeStall(mapped(), {{.unit = "matrix", .core = 0, .block = Block::Idle}}, 300),
            "no progress for 300 cycles: all units have finished their instructions, but outputs "
            "are missing");
}

TEST(Stall, NamesTheElements) {
  const std::vector<UnitStatus> units{
      {.unit = "matrix", .core = 0, .block = Block::ResultFifoFull, .instruction = 0},
      {.unit = "vector", .core = 0, .block = Block::OutboxFull, .instruction = 1},
      {.unit = "input", .core = 2, .block = Block::HostInput, .instruction = 0}};
  EXPECT_EQ(
      describeStall(test::smallProgram(), units, 40),
      "no progress for 40 cycles: the matrix unit of core 0 waits for room in the result "
      "FIFO in instruction 0, node 0 \"fc\" (Gemm), reads x[0, 0..7]; the vector unit of core "
      "0 waits for room in its network FIFO in instruction 1, node 0 \"fc\" (Gemm), node 1 "
      "\"act\" (Relu), reads constant, writes y[0..7]; the host port waits for an input row "
      "in instruction 0, sends x[0, 0..7]");
}

/// A core that waits for a token nobody gives, on the model itself.
TEST(Stall, ComesFromTheEngine) {
  format::Program program = mapped();
  isa::Mm mm;
  mm.skip = 1;
  mm.waitEn = 1;
  mm.waitToken = 9;
  mm.waitCount = 4;
  program.cores[0].instructions = {*isa::encode(isa::Setreg{1, 0}), *isa::encode(mm),
                                   *isa::encode(isa::Halt{})};
  program.cores[1].instructions = {*isa::encode(isa::Halt{})};
  program.hostInstructions = {*isa::encode(isa::Halt{})};
  const std::unique_ptr<Device> vm = makeVm();
  vm->load(program);
  bool progress = false;
  for (int cycle = 0; cycle < 20; ++cycle)
    progress |= vm->step(nullptr, true).progress;
  EXPECT_FALSE(progress);
  EXPECT_EQ(
      describeStall(program, vm->status(), 20),
      "no progress for 20 cycles: the matrix unit of core 0 waits for token 9 (has 0, needs 4) "
      "in instruction 1, node 4 \"fc1\" (Gemm), node 5 \"act\" (Relu)");
}

} // namespace
} // namespace sluice::device
