// Cycles and bits of small programs, derived by hand from docs/machine.md.
// The first unit instruction of a sequencer is held in cycle 0, pushed in 1,
// taken in 2 and active in 3.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/sim/vm/test_machine.h"

namespace sluice::vm {
namespace {

using device::UnitCounters;
using device::UnitStatus;
using Block = UnitStatus::Block;
using ::testing::ElementsAre;
using ::testing::SizeIs;

constexpr uint16_t kOne = 0x3F80, kTwo = 0x4000, kThree = 0x4040;
constexpr uint64_t kFirstIssue = 3;
/// Issue of a vector beat with no operation to the host taking its row: the
/// pipeline (vec_read + vec_out), granted the cycle after, net_hop.
constexpr uint64_t kSend = 3 + 1 + 3;

std::vector<uint64_t> cyclesOf(const std::vector<Arrived> &outputs) {
  std::vector<uint64_t> cycles;
  for (const Arrived &row : outputs)
    cycles.push_back(row.cycle);
  return cycles;
}

std::vector<uint32_t> addressesOf(const std::vector<Arrived> &outputs) {
  std::vector<uint32_t> addresses;
  for (const Arrived &row : outputs)
    addresses.push_back(row.address);
  return addresses;
}

/// A row from the host, through the identity of core 0, to row 9 of the host.
TestProgram hostToHost() {
  TestProgram test;
  test.identity(0, 5);
  isa::Input input;
  input.dst = 7;
  input.mask = 1;
  gives(input, 4, 1);
  isa::Mm mm = product(5, 7);
  waitsFor(mm, 4, 1);
  test.host({input, isa::Halt{}});
  test.core(0, {mm, sendResult(9), isa::Halt{}});
  test.core(1, {isa::Halt{}});
  return test;
}

TEST(Machine, OneBlockFromHostToHost) {
  TestMachine machine(hostToHost().program);
  const std::vector<uint16_t> row{kOne, kTwo, kThree, 0, 0x8000, 0x0001, 0xC000, 0x4780};
  machine.run(40, {row});
  EXPECT_THAT(machine.taken, ElementsAre(3));
  // In the FIFO from 4, granted in 4, at the core from 7: the beat issues in 7.
  // A = 7+2+2+5+2-1 = 17, the result is pushed in 20 and popped in 21; the row is
  // in the outbox from 25, granted in 25 and at the host from 28.
  ASSERT_THAT(machine.outputs, SizeIs(1));
  EXPECT_EQ(machine.outputs[0].cycle, 28U);
  EXPECT_EQ(machine.outputs[0].address, 9U);
  // The denormal and -0 count as zero and sum to +0.
  EXPECT_THAT(machine.outputs[0].lanes, ElementsAre(kOne, kTwo, kThree, 0, 0, 0, 0xC000, 0x4780));
}

/// The cycles of a unit in the order of Activity.
device::ActivityCycles countersOf(const TestMachine &machine, UnitCounters::Unit unit,
                                  uint32_t core) {
  for (const UnitCounters &one : machine.device->counters())
    if (one.unit == unit && one.core == core)
      return one.cycles;
  return {};
}

TEST(Machine, CountsWhatEveryUnitDoes) {
  using Unit = UnitCounters::Unit;
  TestMachine machine(hostToHost().program);
  // The row is offered in 5. In the FIFO from 6, granted in 6, at the core from 9:
  // the beat issues in 9, its result is popped in 23 and leaves for the host in 27.
  machine.run(5);
  machine.run(35, {std::vector<uint16_t>(8)});
  EXPECT_EQ(machine.taken, std::vector<uint64_t>{5});
  ASSERT_THAT(machine.device->counters(), SizeIs(11));
  // busy, token, result, taker, network, pipeline, host, idle, queue, turn, output
  EXPECT_THAT(countersOf(machine, Unit::Input, 2), ElementsAre(1, 0, 0, 0, 0, 0, 2, 37, 0, 0, 0));
  EXPECT_THAT(countersOf(machine, Unit::Sequencer, 2),
              ElementsAre(3, 0, 0, 0, 0, 0, 0, 37, 0, 0, 0));
  EXPECT_THAT(countersOf(machine, Unit::Network, 2), ElementsAre(1, 0, 0, 0, 0, 0, 0, 39, 0, 0, 0));
  EXPECT_THAT(countersOf(machine, Unit::Matrix, 0),
              ElementsAre(1, 6, 0, 0, 0, 0, 0, 33, 0, 0, 0)); // token from 3 to 8
  EXPECT_THAT(countersOf(machine, Unit::Vector, 0),
              ElementsAre(1, 0, 19, 0, 0, 0, 0, 20, 0, 0, 0)); // result from 4 to 22
  EXPECT_THAT(countersOf(machine, Unit::Sequencer, 0),
              ElementsAre(4, 0, 0, 0, 0, 0, 0, 36, 0, 0, 0));
  EXPECT_THAT(countersOf(machine, Unit::Network, 0), ElementsAre(1, 0, 0, 0, 0, 0, 0, 39, 0, 0, 0));
  EXPECT_THAT(countersOf(machine, Unit::Matrix, 1), ElementsAre(0, 0, 0, 0, 0, 0, 0, 40, 0, 0, 0));
  EXPECT_THAT(countersOf(machine, Unit::Sequencer, 1),
              ElementsAre(2, 0, 0, 0, 0, 0, 0, 38, 0, 0, 0));
}

TEST(Machine, ALongerChainTakesACycleForEveryProcessingElement) {
  TestProgram test;
  test.program.geometry.peTerms = 2; // P = 4
  test.core(0, {product(0, 0), sendResult(0), isa::Halt{}});
  TestMachine machine(test.program);
  machine.run(40);
  // A = 3+2+2+5+4-1 = 15, popped in 19.
  EXPECT_THAT(cyclesOf(machine.outputs), ElementsAre(19 + kSend));
}

TEST(Machine, InstructionsTakeACycleJumpsTwoAndUnitsHaveNoBubbleBetweenThem) {
  TestProgram test;
  isa::Vec four = sendRow(0, 0);
  four.n[2] = 4;
  four.dstStride[2] = 1;
  test.core(0, {four, sendRow(0, 4), sendRow(0, 5), isa::Halt{}});
  test.core(1, {isa::Loop{2}, isa::Endloop{}, isa::Setreg{1, 0}, isa::Setreg{2, 0}, sendRow(0, 6),
                isa::Halt{}});
  TestMachine machine(test.program);
  machine.run(40);
  // Core 1: loop 1, endloop 2 and 4, setreg 5 and 6, vec pushed in 7, issues in 9,
  // and its packet has to wait for nobody.
  EXPECT_THAT(addressesOf(machine.outputs), ElementsAre(0, 1, 2, 3, 4, 5, 6));
  EXPECT_THAT(cyclesOf(machine.outputs), ElementsAre(10, 11, 12, 13, 14, 15, 9 + kSend));
}

TEST(Machine, RegistersAndLoopsMoveTheBases) {
  TestProgram test;
  test.row(0, 10, kOne);
  test.row(0, 12, kTwo);
  isa::Vec vec = sendRow(9, 100);
  vec.aReg = 2;
  vec.dstReg = 3;
  test.core(0, {isa::Setreg{2, 1}, isa::Setreg{3, -100}, isa::Loop{2}, vec, isa::Addreg{2, 2},
                isa::Addreg{3, 5}, isa::Endloop{}, isa::Halt{}});
  TestMachine machine(test.program);
  machine.run(60);
  EXPECT_THAT(addressesOf(machine.outputs), ElementsAre(0, 5));
  EXPECT_EQ(machine.outputs[0].lanes[0], kOne);
  EXPECT_EQ(machine.outputs[1].lanes[0], kTwo);
}

/// Five rows of the host go round four inbox rows, each by its own `input`, whose
/// register counts downwards; the core sends each of them back from the same place.
TEST(Machine, HostRowsGoRoundARing) {
  TestProgram test;
  isa::Input input;
  input.dst = 9; // rows 8 to 11
  input.dstReg = 1;
  input.dstRing = 2;
  input.mask = 1;
  gives(input, 0, 2);
  test.host({isa::Loop{5}, input, isa::Addreg{1, -1}, isa::Endloop{}, isa::Halt{}});
  isa::Vec back = sendRow(8, 0);
  back.n[1] = 5;
  back.aStride[1] = 7; // backwards, from the second
  back.aReg = 3;
  back.aRing = 2;
  back.dstStride[1] = 1;
  waitsFor(back, 0, 1, 4);
  test.core(0, {isa::Setreg{3, 4 * 1000 + 1}, back, isa::Halt{}});
  TestMachine machine(test.program);
  machine.run(60, {test.lanes(kOne), test.lanes(kTwo), test.lanes(kThree), test.lanes(0x4080),
                   test.lanes(0x40A0)});
  ASSERT_THAT(machine.outputs, SizeIs(5));
  EXPECT_THAT(addressesOf(machine.outputs), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_EQ(machine.outputs[0].lanes[0], kOne);
  EXPECT_EQ(machine.outputs[4].lanes[0], 0x40A0);
  // The fifth row has taken the place of the first.
  EXPECT_EQ(machine.device->readRow(0, 9), test.lanes(0x40A0));
  EXPECT_EQ(machine.device->readRow(0, 8), test.lanes(kTwo));
  EXPECT_EQ(machine.device->readRow(0, 11), test.lanes(kThree));
  EXPECT_EQ(machine.device->readRow(0, 10), test.lanes(0x4080));
  EXPECT_EQ(machine.device->readRow(0, 7), test.lanes(0));
  EXPECT_EQ(machine.device->readRow(0, 12), test.lanes(0));
}

TEST(Machine, EveryStreamOfAVectorInstructionHasARing) {
  TestProgram test;
  test.row(0, 1, kOne);
  test.row(0, 2, kTwo);
  test.row(0, 20, kThree);
  isa::Vec vec; // a 3, 2, 3, 2; b 21, 20, 21, 20; c 0, 1, 0, 1
  vec.n[3] = 4;
  vec.aSrc = isa::Source::Ram;
  vec.a = 3;
  vec.aStride[3] = -1;
  vec.aRing = 1;
  vec.bEn = vec.cEn = 1;
  vec.b = 21;
  vec.bStride[3] = 1;
  vec.bRing = 1;
  vec.cStride[3] = -1;
  vec.cRing = 1;
  vec.alu1 = vec.alu2 = isa::Alu::Add;
  vec.dstKind = isa::Dst::Local;
  vec.dst = isa::kLocalBase + 7;
  vec.dstStride[3] = 1;
  vec.dstRing = 2; // rows 7, 4, 5, 6
  test.core(0, {vec, isa::Halt{}});
  TestMachine machine(test.program);
  machine.run(40);
  const auto local = [&](uint32_t row) {
    return machine.device->readRow(0, isa::kLocalBase + row)[0];
  };
  EXPECT_EQ(local(7), 0);      // 0 + 0 + 0
  EXPECT_EQ(local(4), 0x40C0); // 2 + 3 + 1
  EXPECT_EQ(local(5), 0);
  EXPECT_EQ(local(6), 0x40C0);
  EXPECT_EQ(local(8), 0);
}

TEST(Machine, ARingOfTheMatrixUnit) {
  TestProgram test;
  test.identity(0, 5);
  test.row(0, 16, kOne);
  test.row(0, 19, kTwo);
  isa::Mm mm = product(5, 18);
  mm.n[3] = 3;
  mm.xStride[3] = -32767; // to 19 and 16: strides count modulo the ring
  mm.xRing = 2;
  mm.emitLevel = mm.initLevel = isa::kLoopDepth;
  isa::Vec send = sendResult(0);
  send.n[3] = 3;
  send.dstStride[3] = 1;
  test.core(0, {mm, send, isa::Halt{}});
  TestMachine machine(test.program);
  machine.run(60);
  ASSERT_THAT(machine.outputs, SizeIs(3));
  EXPECT_EQ(machine.outputs[0].lanes[0], 0);
  EXPECT_EQ(machine.outputs[1].lanes[0], kTwo);
  EXPECT_EQ(machine.outputs[2].lanes[0], kOne);
}

TEST(Machine, WaitsTakeTokensStepByStep) {
  TestProgram test;
  // Three beats wait for 2 of tokens 31, 1 and 3; core 1 gives token 31 twice,
  // 1 twice and 3 once.
  isa::Vec waits = sendRow(0, 0);
  waits.n[0] = 3;
  waits.dstStride[0] = 1;
  waitsFor(waits, 31, 2, 1);
  waits.waitStep = 2;
  const auto giver = [](uint32_t token, uint32_t times) {
    isa::Vec vec;
    vec.n[3] = times;
    vec.dstKind = isa::Dst::Signal;
    vec.mask = 1;
    gives(vec, token, 2, 4);
    return vec;
  };
  test.core(0, {waits, isa::Halt{}});
  test.core(1, {giver(31, 2), giver(1, 2), giver(3, 1), isa::Halt{}});
  TestMachine machine(test.program);
  machine.run(60);
  // Tokens show from issue + 7: 10, 11 | 12, 13 | 14.
  EXPECT_THAT(cyclesOf(machine.outputs), ElementsAre(11 + kSend, 13 + kSend));
  const UnitStatus status = machine.status("vector", 0);
  EXPECT_EQ(status.block, Block::Token);
  EXPECT_EQ(status.token, 3U);
  EXPECT_EQ(status.have, 1U);
  EXPECT_EQ(status.need, 2U);
  EXPECT_EQ(machine.status("vector", 1).block, Block::Idle);
}

TEST(Machine, MatrixSignalsCountAfterTheAccumulation) {
  TestProgram test;
  isa::Mm mm = product(0, 0);
  mm.emit = isa::Emit::None;
  gives(mm, 0, 2);
  isa::Vec vec = sendRow(0, 0);
  waitsFor(vec, 0, 1);
  test.core(0, {mm, vec, isa::Halt{}});
  TestMachine machine(test.program);
  machine.run(40);
  // A = 13; counted in 14, seen in 15.
  EXPECT_THAT(cyclesOf(machine.outputs), ElementsAre(15 + kSend));
}

TEST(Machine, TheResultFifoStopsTheMatrixUnit) {
  TestProgram test;
  isa::Mm mm = product(0, 0);
  mm.n[3] = 40;
  mm.emitLevel = 4;
  test.core(0, {mm, isa::Halt{}});
  TestMachine machine(test.program);
  machine.run(3 + isa::kResultFifoDepth);
  EXPECT_EQ(machine.status("matrix", 0).block, Block::ResultFifoFull);
  EXPECT_EQ(machine.status("vector", 0).block, Block::Idle);
}

TEST(Machine, TheHostStopsTheNetworkAndTheNetworkTheVectorUnit) {
  TestProgram test;
  isa::Vec vec = sendRow(0, 0);
  vec.n[3] = 100;
  vec.dstStride[3] = 1;
  test.core(0, {vec, isa::Halt{}});
  TestMachine machine(test.program);
  machine.run(100, {}, false);
  EXPECT_EQ(machine.status("vector", 0).block, Block::OutboxFull);
  EXPECT_THAT(machine.outputs, SizeIs(0));
  // 16 rows in the host's output, 16 packets in the outbox. A row taken in t
  // lets one be granted in t+1 and a beat issue in t+2.
  machine.run(1);
  EXPECT_EQ(machine.status("vector", 0).block, Block::OutboxFull);
  machine.run(1, {}, false);
  EXPECT_EQ(machine.status("vector", 0).block, Block::None);
  machine.run(120);
  std::vector<uint32_t> inOrder(100);
  for (uint32_t i = 0; i < 100; ++i)
    inOrder[i] = i;
  EXPECT_EQ(addressesOf(machine.outputs), inOrder);
}

TEST(Machine, TheArbiterTakesTurns) {
  TestProgram test;
  for (uint32_t core : {0U, 1U}) {
    isa::Vec vec = sendRow(0, 100 * core);
    vec.n[3] = 3;
    vec.dstStride[3] = 1;
    test.core(core, {vec, isa::Halt{}});
  }
  TestMachine machine(test.program);
  machine.run(40);
  EXPECT_THAT(addressesOf(machine.outputs), ElementsAre(0, 100, 1, 101, 2, 102));
  EXPECT_THAT(cyclesOf(machine.outputs), ElementsAre(10, 11, 12, 13, 14, 15));
}

TEST(Machine, APacketReachesEveryCoreOfItsMaskInOneCycle) {
  TestProgram test;
  test.row(0, 32768, kThree);
  isa::Vec vec = sendRow(32768, 20);
  vec.mask = 3;
  test.core(0, {vec, isa::Halt{}});
  TestMachine machine(test.program);
  machine.run(kFirstIssue + kSend - 1);
  EXPECT_EQ(machine.device->readRow(0, 20)[0], 0);
  machine.run(1);
  EXPECT_EQ(machine.device->readRow(0, 20)[7], kThree);
  EXPECT_EQ(machine.device->readRow(1, 20)[7], kThree);
}

TEST(Machine, ATokenThatPassesItsMaximumIsAFault) {
  TestProgram test;
  isa::Vec vec;
  vec.n[3] = 256;
  gives(vec, 0, 1, 4);
  test.core(0, {vec, isa::Halt{}});
  TestMachine machine(test.program);
  machine.run(kFirstIssue + 255 + 3); // 255 gives
  EXPECT_FALSE(machine.device->tokenFault());
  machine.run(1);
  EXPECT_TRUE(machine.device->tokenFault());
}

TEST(Machine, AccumulatorsGoThroughThePreloadRam) {
  TestProgram test;
  test.identity(0, 0);
  test.row(0, 0, kOne);
  // 1 + 1 unrounded into preload row 3, read back a safe distance later, plus 1.
  isa::Mm first = product(0, 0);
  first.n[3] = 2;
  first.emit = isa::Emit::Raw;
  first.p = 3;
  gives(first, 0, 1);
  isa::Mm second = product(0, 0);
  second.init = isa::Init::Preload;
  second.p = 3;
  second.acc = 1;
  waitsFor(second, 0, 1);
  // The accumulator kept its content: 2 + 1 as well.
  isa::Mm third = product(0, 0);
  third.init = isa::Init::Keep;
  third.emit = isa::Emit::Fp32;
  isa::Vec both = sendResult(0);
  both.n[3] = 2;
  test.core(0, {first, second, third, both, isa::Halt{}});
  TestMachine machine(test.program);
  machine.run(80);
  ASSERT_THAT(machine.outputs, SizeIs(2));
  EXPECT_EQ(machine.outputs[0].lanes[4], kThree);
  EXPECT_EQ(machine.outputs[1].lanes[4], kThree);
}

TEST(Machine, APreloadReadSeesARawWriteFromThreeBeatsOn) {
  // Beat 0 writes the preload row in A+1; beat k reads it in A+k-1, and sees
  // what was written from k = 3 on.
  for (uint32_t distance : {1U, 2U, 3U}) {
    TestProgram test;
    test.identity(0, 0);
    test.row(0, 0, kOne);
    isa::Mm write = product(0, 0);
    write.emit = isa::Emit::Raw;
    isa::Mm between = product(0, 1);
    between.n[3] = std::max(distance, 2U) - 1;
    between.emit = isa::Emit::None;
    isa::Mm read = product(0, 1);
    read.init = isa::Init::Preload;
    // Queue all of them behind a beat that waits, so that they issue in a row.
    isa::Mm gate;
    gate.skip = 1;
    waitsFor(gate, 0, 1);
    isa::Vec open;
    open.n[3] = 20;
    gives(open, 0, 1);
    if (distance == 1)
      test.core(0, {open, gate, write, read, sendResult(0), isa::Halt{}});
    else
      test.core(0, {open, gate, write, between, read, sendResult(0), isa::Halt{}});
    TestMachine machine(test.program);
    machine.run(80);
    ASSERT_THAT(machine.outputs, SizeIs(1));
    EXPECT_EQ(machine.outputs[0].lanes[0], distance < 3 ? 0 : kOne) << distance;
  }
}

TEST(Machine, ProcessingElementsReadTheirWeightsInTheirOwnCycle) {
  // Four elements of two terms read a beat's weights in t+3, t+3, t+4, t+5. A
  // row of ones is written over zero weights of output lane 0 at the end of
  // cycle w: the sum is 2 for every element that reads later.
  for (uint32_t shift = 0; shift < 6; ++shift) {
    TestProgram test;
    test.program.geometry.peTerms = 2;
    test.row(0, 0, kOne);
    isa::Mm gate; // issues from 4 on
    gate.skip = 1;
    gate.n[3] = 18 + shift;
    isa::Vec wait; // the write issues in 20, w = 23
    wait.n[3] = 17;
    isa::Vec write;
    write.aSrc = isa::Source::Ram;
    write.dstKind = isa::Dst::Wrow;
    isa::Mm mm = product(0, 0);
    test.core(0, {wait, gate, write, mm, sendResult(0), isa::Halt{}});
    TestMachine machine(test.program);
    machine.run(100);
    // The matrix unit starts a cycle after the vector unit: t = 22 + shift;
    // element reads from t+2 = 24 + shift on are all later than w.
    ASSERT_THAT(machine.outputs, SizeIs(1));
    EXPECT_EQ(machine.outputs[0].lanes[0], 0x4100) << shift; // 8
  }
  for (uint32_t lead = 0; lead < 5; ++lead) {
    TestProgram test;
    test.program.geometry.peTerms = 2;
    test.row(0, 0, kOne);
    isa::Mm gate; // issues from 3 on; the product in t = 20
    gate.skip = 1;
    gate.n[3] = 17;
    isa::Vec wait; // issues from 4 on; the write in 20 + lead, w = 23 + lead
    wait.n[3] = 16 + lead;
    isa::Vec write;
    write.aSrc = isa::Source::Ram;
    write.dstKind = isa::Dst::Wrow;
    isa::Mm mm = product(0, 0);
    test.core(0, {gate, wait, mm, write, sendResult(0), isa::Halt{}});
    TestMachine machine(test.program);
    machine.run(100);
    // Reads in 22, 22, 23, 24 against writes visible from w + 1 = 24 + lead.
    const std::vector<uint16_t> sums{0x4000, 0, 0, 0, 0}; // 2, 0
    ASSERT_THAT(machine.outputs, SizeIs(1));
    EXPECT_EQ(machine.outputs[0].lanes[0], sums[lead]) << lead;
    EXPECT_EQ(machine.outputs[0].lanes[1], 0);
  }
}

TEST(Machine, AColumnOfWeightsIsOneInputPosition) {
  TestProgram test;
  test.row(0, 0, kOne);
  test.row(0, 1, kTwo);
  isa::Vec write;
  write.aSrc = isa::Source::Ram;
  write.a = 1;
  write.dstKind = isa::Dst::Wcol;
  write.dst = 3 * 8 + 5; // block 3, input position 5
  gives(write, 0, 1);
  isa::Mm mm = product(3, 0);
  waitsFor(mm, 0, 1);
  test.core(0, {write, mm, sendResult(0), isa::Halt{}});
  TestMachine machine(test.program);
  machine.run(60);
  ASSERT_THAT(machine.outputs, SizeIs(1));
  EXPECT_EQ(machine.outputs[0].lanes, test.lanes(kTwo));
}

} // namespace
} // namespace sluice::vm
