// Every operation and path of the vector unit, on rows worked out by hand.
#include <cmath>
#include <limits>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/sim/vm/test_machine.h"

#include "runtime/format/images.h"

namespace sluice::vm {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

uint16_t bf16(float value) { return static_cast<uint16_t>(std::bit_cast<uint32_t>(value) >> 16); }
uint32_t fp32(float value) { return std::bit_cast<uint32_t>(value); }

/// Rows 0, 1, 2 of core 0 are a, b and c; the result goes to the host.
class VectorProgram : public TestProgram {
public:
  VectorProgram(const std::vector<float> &a, const std::vector<float> &b,
                const std::vector<float> &c) {
    format::RowImage image;
    for (const std::vector<float> *row : {&a, &b, &c}) {
      std::vector<float> padded = *row;
      padded.resize(program.geometry.lanes);
      for (float value : padded)
        image.lanes.push_back(bf16(value));
    }
    program.cores[0].rows.push_back(image);
  }
  /// Runs the instructions and gives what comes out.
  std::vector<Arrived> run(std::initializer_list<isa::Instruction> list) {
    core(0, list);
    core(0, {isa::Halt{}});
    TestMachine machine(program);
    machine.run(120);
    return machine.outputs;
  }
};

/// Reads all three operands.
isa::Vec abc() {
  isa::Vec vec = sendRow(0, 0);
  vec.bEn = 1;
  vec.b = 1;
  vec.cEn = 1;
  vec.c = 2;
  return vec;
}

struct AluCase {
  isa::Alu op;
  float left, right, result;
};

class BothAlus : public ::testing::TestWithParam<AluCase> {};

TEST_P(BothAlus, Compute) {
  const AluCase &one = GetParam();
  VectorProgram test({one.left}, {one.right}, {one.right});
  isa::Vec first = abc(), second = abc();
  first.alu1 = one.op;
  second.alu2 = one.op;
  const std::vector<Arrived> outputs = test.run({first, second});
  ASSERT_THAT(outputs, SizeIs(2));
  const uint16_t expected = std::isnan(one.result) ? 0x7FC0 : bf16(one.result);
  EXPECT_EQ(outputs[0].lanes[0], expected);
  EXPECT_EQ(outputs[1].lanes[0], expected);
}

INSTANTIATE_TEST_SUITE_P(
    Operations, BothAlus,
    ::testing::Values(
        AluCase{isa::Alu::Add, 1.5F, 2, 3.5F}, AluCase{isa::Alu::Add, kInf, -kInf, kNaN},
        AluCase{isa::Alu::Add, -0.0F, -0.0F, -0.0F}, AluCase{isa::Alu::Add, 1, -1, 0},
        AluCase{isa::Alu::Sub, 1, 3, -2}, AluCase{isa::Alu::Rsub, 1, 3, 2},
        AluCase{isa::Alu::Mul, 1.5F, -3, -4.5F}, AluCase{isa::Alu::Mul, 0, kInf, kNaN},
        AluCase{isa::Alu::Mul, 0x1p-100F, -0x1p-100F, -0.0F},
        AluCase{isa::Alu::Mul, 0x1p100F, 0x1p100F, kInf}, AluCase{isa::Alu::Max, -0.0F, 0, 0},
        AluCase{isa::Alu::Max, kNaN, 1, kNaN}, AluCase{isa::Alu::Min, 2, -7, -7},
        AluCase{isa::Alu::Lt, 1, 2, 1}, AluCase{isa::Alu::Lt, 1, kNaN, 0},
        AluCase{isa::Alu::Le, 2, 2, 1}, AluCase{isa::Alu::Eq, -0.0F, 0, 1},
        AluCase{isa::Alu::Ne, kNaN, kNaN, 1}, AluCase{isa::Alu::Ne, 3, 3, 0},
        AluCase{isa::Alu::Ge, -1, 2, 0}, AluCase{isa::Alu::Gt, kInf, 2, 1}));

TEST(VectorUnit, SelectsBetweenBAndCWhateverTheRightOperand) {
  VectorProgram test({1, 0, -0.0F, kNaN, -3}, {10, 10, 10, 10, 10, 10}, {20, 20, 20, 20, 20, 20});
  isa::Vec vec = abc();
  vec.alu2 = isa::Alu::Select;
  vec.rhs2 = isa::Rhs2::Imm;
  const std::vector<Arrived> outputs = test.run({vec});
  ASSERT_THAT(outputs, SizeIs(1));
  EXPECT_THAT(outputs[0].lanes,
              ElementsAre(bf16(10), bf16(20), bf16(20), bf16(10), bf16(10), bf16(20), 0, 0));
}

TEST(VectorUnit, RightOperandsComeFromEverySource) {
  const auto run = [](auto &&change) {
    VectorProgram test({2}, {3}, {5});
    isa::Vec vec = abc();
    change(vec);
    return test.run({vec}).at(0).lanes[0];
  };
  const auto alu1 = [&](isa::Rhs1 rhs) {
    return run([&](isa::Vec &vec) {
      vec.alu1 = isa::Alu::Mul;
      vec.rhs1 = rhs;
      vec.imm1 = fp32(7);
    });
  };
  EXPECT_EQ(alu1(isa::Rhs1::B), bf16(6));
  EXPECT_EQ(alu1(isa::Rhs1::Imm), bf16(14));
  EXPECT_EQ(alu1(isa::Rhs1::A), bf16(4));
  // alu2 sees what alu1 made, and a as it entered the pipeline.
  const auto alu2 = [&](isa::Rhs2 rhs) {
    return run([&](isa::Vec &vec) {
      vec.alu1 = isa::Alu::Add;
      vec.rhs1 = isa::Rhs1::Imm;
      vec.imm1 = fp32(1);
      vec.alu2 = isa::Alu::Mul;
      vec.rhs2 = rhs;
      vec.imm2 = fp32(11);
    });
  };
  EXPECT_EQ(alu2(isa::Rhs2::C), bf16(15));
  EXPECT_EQ(alu2(isa::Rhs2::Imm), bf16(33));
  EXPECT_EQ(alu2(isa::Rhs2::A), bf16(6));
  EXPECT_EQ(alu2(isa::Rhs2::B), bf16(9));
}

TEST(VectorUnit, OperandsThatAreNotReadAreZero) {
  VectorProgram test({2}, {3}, {5});
  isa::Vec vec = abc();
  vec.aSrc = isa::Source::None;
  vec.bEn = 0;
  vec.alu1 = isa::Alu::Add;
  const std::vector<Arrived> outputs = test.run({vec});
  ASSERT_THAT(outputs, SizeIs(1));
  EXPECT_EQ(outputs[0].lanes[0], 0);
}

TEST(VectorUnit, BroadcastsLaneZero) {
  VectorProgram test({1, 2, 3, 4, 5, 6, 7, 8}, {10, 0, 0, 0, 0, 0, 0, 0}, {100});
  isa::Vec vec = abc();
  vec.alu1 = isa::Alu::Add;
  vec.bBcast = 1;
  vec.alu2 = isa::Alu::Add;
  vec.cBcast = 1;
  const std::vector<Arrived> outputs = test.run({vec});
  ASSERT_THAT(outputs, SizeIs(1));
  EXPECT_THAT(outputs[0].lanes, ElementsAre(bf16(111), bf16(112), bf16(113), bf16(114), bf16(115),
                                            bf16(116), bf16(117), bf16(118)));
}

TEST(VectorUnit, ReducesOverLanesAndBeats) {
  VectorProgram test({1, 2, 9, 4}, {5, 6, 7, 8}, {-1, 3, 11, 2});
  isa::Vec vec = sendRow(0, 0);
  vec.reduce = isa::Reduce::Max;
  vec.reduceLevel = 1; // over the inner loop
  vec.n = {2, 2, 1, 1};
  vec.aStride = {1, 1, 0, 0};
  vec.dstStride = {1, 0, 0, 0};
  const std::vector<Arrived> outputs = test.run({vec});
  ASSERT_THAT(outputs, SizeIs(2));
  EXPECT_EQ(outputs[0].lanes, test.lanes(bf16(9)));  // rows 0 and 1
  EXPECT_EQ(outputs[1].lanes, test.lanes(bf16(11))); // rows 1 and 2
  EXPECT_EQ(outputs[1].cycle - outputs[0].cycle, 2U);
}

TEST(VectorUnit, ReluKeepsNegativeZeroAndNaN) {
  VectorProgram test({-1, -0.0F, kNaN, 2, -kInf}, {}, {});
  isa::Vec vec = sendRow(0, 0);
  vec.post = isa::Post::Relu;
  const std::vector<Arrived> outputs = test.run({vec});
  ASSERT_THAT(outputs, SizeIs(1));
  EXPECT_THAT(outputs[0].lanes, ElementsAre(0, 0x8000, 0x7FC0, bf16(2), 0, 0, 0, 0));
}

TEST(VectorUnit, LooksUpTables) {
  VectorProgram test({1, 1.5F, -1, 0, kNaN, kInf, 0x1p-20F, 0x1p20F}, {}, {});
  format::TableImage table;
  table.table = 2;
  // Direct, exponents from 127; below 4 and 5, above x * 2^1 and a constant.
  table.header = {
      uint64_t{127} << 8, uint64_t{bf16(4)} | uint64_t{bf16(5)} << 16 | uint64_t{1} << 32,
      uint64_t{1} << 4 | uint64_t{bf16(6)} << 16 | uint64_t{bf16(7)} << 48, uint64_t{bf16(8)}};
  table.entries.resize(isa::kTableEntries);
  table.entries[0] = bf16(10);    // +, exponent 127, mantissa 0
  table.entries[64] = bf16(11);   // +, exponent 127, mantissa 64
  table.entries[2048] = bf16(12); // -, exponent 127, mantissa 0
  test.program.cores[0].tables.push_back(table);
  isa::Vec vec = sendRow(0, 0);
  vec.tableEn = 1;
  vec.tableId = 2;
  const std::vector<Arrived> outputs = test.run({vec});
  ASSERT_THAT(outputs, SizeIs(1));
  EXPECT_THAT(outputs[0].lanes, ElementsAre(bf16(10), bf16(11), bf16(12), bf16(6), bf16(7), bf16(8),
                                            bf16(4), bf16(0x1p21F)));
}

/// 1 + 2^-12: bf16 does not hold it.
constexpr uint32_t kFine = 0x3F800800;

TEST(VectorUnit, WritesTheHalvesOfAResultLeftInTheFifo) {
  // Row 0 is x = 1, lane 0 of the block 1 and 2^-12: the result has both.
  VectorProgram test({1, 1}, {}, {});
  test.identity(0, 0);
  test.program.cores[0].weights[0].elements[1] = bf16(0x1p-12F);
  isa::Mm mm = product(0, 0);
  mm.emit = isa::Emit::Fp32;
  isa::Vec high = sendResult(0), low = sendResult(1);
  high.aSrc = isa::Source::Peek;
  high.part = isa::Part::High;
  low.part = isa::Part::Low;
  isa::Vec next = sendResult(2);
  const std::vector<Arrived> outputs = test.run({mm, product(0, 0), high, low, next});
  ASSERT_THAT(outputs, SizeIs(3));
  EXPECT_EQ(outputs[0].lanes[0], kFine >> 16);
  EXPECT_EQ(outputs[1].lanes[0], kFine & 0xFFFF);
  EXPECT_EQ(outputs[2].lanes[0], bf16(1)); // the second product, rounded
}

TEST(VectorUnit, ReadsAWideOperandFromTwoRows) {
  // 2^-12 is left of kFine - 1 only if every bit of the operand counts.
  for (const bool second : {false, true}) {
    VectorProgram test({-1, -1}, {std::bit_cast<float>(kFine)}, {});
    test.program.cores[0].rows[0].lanes[2 * test.program.geometry.lanes] = kFine & 0xFFFF;
    isa::Vec vec = abc();
    vec.bWide = 1;
    vec.bBcast = vec.cBcast = 1;
    if (second) {
      vec.alu2 = isa::Alu::Add;
      vec.rhs2 = isa::Rhs2::B;
    } else {
      vec.alu1 = isa::Alu::Add;
    }
    const std::vector<Arrived> outputs = test.run({vec});
    ASSERT_THAT(outputs, SizeIs(1));
    EXPECT_EQ(outputs[0].lanes[0], bf16(0x1p-12F)) << second;
    EXPECT_EQ(outputs[0].lanes[1], bf16(0x1p-12F)) << second;
  }
}

struct PathCase {
  const char *name;
  bool alu1, table;
  isa::Reduce reduce;
  bool alu2;
  uint64_t latency; ///< L for 8 lanes
};

isa::Vec onPath(const PathCase &path) {
  isa::Vec vec = sendRow(0, 0);
  vec.alu1 = path.alu1 ? isa::Alu::Add : isa::Alu::Pass;
  vec.tableEn = path.table;
  vec.reduce = path.reduce;
  vec.alu2 = path.alu2 ? isa::Alu::Add : isa::Alu::Pass;
  return vec;
}

class Paths : public ::testing::TestWithParam<PathCase> {};

TEST_P(Paths, HaveTheirLatency) {
  VectorProgram test({1}, {}, {});
  const std::vector<Arrived> outputs = test.run({onPath(GetParam())});
  ASSERT_THAT(outputs, SizeIs(1));
  EXPECT_EQ(outputs[0].cycle, 3 + GetParam().latency + 1 + 3);
}

TEST_P(Paths, AShorterPathComesBehindTheLonger) {
  VectorProgram test({1}, {}, {});
  // Behind beats on the plain path that keep the unit busy until all three are
  // in the queue: issued in 3 to 22.
  isa::Vec busy;
  busy.n[3] = 20;
  const std::vector<Arrived> outputs =
      test.run({busy, onPath(GetParam()), onPath(GetParam()), sendRow(0, 0)});
  ASSERT_THAT(outputs, SizeIs(3));
  const uint64_t latency = GetParam().latency;
  const uint64_t first = 23; // no beat of those before takes longer
  EXPECT_EQ(outputs[0].cycle, first + latency + 4);
  EXPECT_EQ(outputs[1].cycle, first + 1 + latency + 4);
  EXPECT_EQ(outputs[2].cycle, outputs[1].cycle + 1);
}

INSTANTIATE_TEST_SUITE_P(
    All, Paths,
    ::testing::Values(PathCase{"plain", false, false, isa::Reduce::None, false, 3},
                      PathCase{"alu1", true, false, isa::Reduce::None, false, 9},
                      PathCase{"table", false, true, isa::Reduce::None, false, 6},
                      PathCase{"max", false, false, isa::Reduce::Max, false, 7},
                      PathCase{"sum", false, false, isa::Reduce::Sum, false, 12},
                      PathCase{"argmax", false, false, isa::Reduce::Argmax, false, 8},
                      PathCase{"alu2", false, false, isa::Reduce::None, true, 9},
                      PathCase{"all", true, true, isa::Reduce::Sum, true, 27}),
    [](const auto &one) { return std::string(one.param.name); });

struct PairCase {
  const char *name;
  PathCase first, second;
  uint64_t distance; ///< of the two beats, if both are ready
};

class PathPairs : public ::testing::TestWithParam<PairCase> {};

TEST_P(PathPairs, EnterEveryUnitInTurn) {
  const PairCase &one = GetParam();
  VectorProgram test({1}, {}, {});
  isa::Vec busy;
  busy.n[3] = 20; // until both are in the queue
  const std::vector<Arrived> outputs = test.run({busy, onPath(one.first), onPath(one.second)});
  ASSERT_THAT(outputs, SizeIs(2));
  EXPECT_EQ(outputs[0].cycle, 23 + one.first.latency + 4);
  EXPECT_EQ(outputs[1].cycle, 23 + one.distance + one.second.latency + 4);
}

constexpr isa::Reduce kNo = isa::Reduce::None;

INSTANTIATE_TEST_SUITE_P(
    All, PathPairs,
    ::testing::Values(
        // They share no unit: at the destination in turn.
        PairCase{"alu1Alu2", {"", true, false, kNo, false, 9}, {"", false, false, kNo, true, 9}, 1},
        PairCase{
            "alu1Table", {"", true, false, kNo, false, 9}, {"", false, true, kNo, false, 6}, 4},
        // The table is 6 cycles further down behind alu1.
        PairCase{"tables", {"", true, true, kNo, false, 12}, {"", false, true, kNo, true, 12}, 7},
        PairCase{
            "tablesInTurn", {"", false, true, kNo, true, 12}, {"", true, true, kNo, false, 12}, 1},
        // So is the reduction; the sum takes 5 cycles longer than the maximum.
        PairCase{"maxima",
                 {"", true, false, isa::Reduce::Max, false, 13},
                 {"", false, false, isa::Reduce::Argmax, true, 14},
                 7},
        PairCase{"sumThenMax",
                 {"", false, false, isa::Reduce::Sum, false, 12},
                 {"", false, false, isa::Reduce::Max, false, 7},
                 6},
        PairCase{"sumThenMaxAlu2",
                 {"", false, false, isa::Reduce::Sum, false, 12},
                 {"", false, false, isa::Reduce::Max, true, 13},
                 1}),
    [](const auto &one) { return std::string(one.param.name); });

} // namespace
} // namespace sluice::vm
