// What is in a row, by hand.
#include "runtime/device/places.h"

#include <gtest/gtest.h>

#include "hw/isa/isa.h"
#include "runtime/format/targets.h"
#include "tests/unit/runtime/small_program.h"

namespace sluice::device {
namespace {

using Names = std::vector<std::string>;
using test::encoded;

TEST(Places, NamesElementsAndNodes) {
  const format::Program program = test::smallProgram();
  const Places places(program);
  EXPECT_EQ(places.at(0, 0), Names{"x[0, 0..7]"});
  EXPECT_EQ(places.at(1, 0), Names());
  EXPECT_EQ(places.at(0, isa::kLocalBase), Names{"constant"});
  EXPECT_EQ(places.at(0, isa::kLocalBase + 1), Names());
  EXPECT_EQ(places.movedBy(0, 0), "reads x[0, 0..7]");
  EXPECT_EQ(places.movedBy(0, 1), "reads constant, writes y[0..7]");
  EXPECT_EQ(places.movedBy(0, 2), "");
  EXPECT_EQ(places.movedBy(2, 0), "sends x[0, 0..7]");
  EXPECT_EQ(places.movedBy(2, 1), "");
}

TEST(Places, InstructionsOfTheSaveMoveNothingThatHasAName) {
  const format::Program program = test::statefulProgram();
  const Places places(program);
  EXPECT_EQ(places.at(0, isa::kLocalBase), Names{"state"});
  EXPECT_EQ(places.movedBy(0, 1), "reads state, writes y[0..7]");
  EXPECT_EQ(places.movedBy(0, 4), "");
}

/// Inputs "a" [2, 3, 10] along its last axis and "s", a scalar, 13 rows, to core 1 by a loop that
/// goes round a ring of eight rows at 16; s to row 40 of both cores.
format::Program ringProgram() {
  format::Program program;
  program.geometry = *format::findPreset("c2b8");
  format::Model model;
  model.name = "ring";
  model.inputs = {{"s", {}, format::HostType::Float32, 0, 12, 1},
                  {"a", {2, 3, 10}, format::HostType::Float32, 2, 0, 12}};
  model.outputs = {{"y", {3, 4}, format::HostType::Float32, 0, 5, 4}};
  program.models = {model};
  program.cores.resize(2);
  isa::Input input;
  input.n = {1, 1, 2, 3};
  input.dst = 16;
  input.dstStride = {0, 0, 3, 1};
  input.dstReg = 1;
  input.dstRing = 3;
  input.mask = 2;
  isa::Input scalar;
  scalar.dst = 40;
  scalar.mask = 3;
  const auto words = [](const isa::Instruction &one) { return *isa::encode(one); };
  program.hostInstructions = {words(isa::Setreg{1, 0}), words(isa::Loop{2}),   words(input),
                              words(isa::Addreg{1, 6}), words(isa::Endloop{}), words(scalar),
                              words(isa::Restart{})};
  isa::Vec vec;
  vec.n = {1, 1, 1, 3};
  vec.aSrc = isa::Source::Ram;
  vec.a = 17;
  vec.aStride = {0, 0, 0, 1};
  vec.bEn = 1;
  vec.b = 40;
  vec.dstKind = isa::Dst::Net;
  vec.dst = 6;
  vec.dstStride = {0, 0, 0, 1};
  vec.mask = 1U << isa::kHostBit;
  isa::Vec local = vec;
  local.dstKind = isa::Dst::Local;
  local.dst = isa::kLocalBase;
  isa::Mm mm;
  mm.n = {1, 1, 1, 2};
  mm.x = isa::kLocalBase + 1;
  mm.xStride = {0, 0, 0, 1};
  mm.init = isa::Init::Zero;
  program.cores[0].instructions = {words(isa::Halt{})};
  program.cores[1].instructions = {words(vec), words(local), words(mm), words(isa::Restart{})};
  program.nodes = {{7, "add", "Add"}};
  program.sourceMap = {{1, 1, {0}}};
  return program;
}

TEST(Places, RowsTakeTurnsInARing) {
  const format::Program program = ringProgram();
  const Places places(program);
  // Row r of a is at 16 + r mod 8: [0, 0, 0..7], [0, 0, 8..9], [0, 1, 0..7], ...
  EXPECT_EQ(places.at(1, 16), (Names{"a[0, 0, 0..7]", "a[1, 1, 0..7]"}));
  EXPECT_EQ(places.at(1, 17), (Names{"a[0, 0, 8..9]", "a[1, 1, 8..9]"}));
  EXPECT_EQ(places.at(1, 20), (Names{"a[0, 2, 0..7]"}));
  EXPECT_EQ(places.at(1, 24), Names());
  EXPECT_EQ(places.at(0, 16), Names());
  EXPECT_EQ(places.at(0, 40), Names{"s"});
  EXPECT_EQ(places.movedBy(2, 2), "sends a[0, 0, 0..7] to a[1, 2, 8..9]");
  EXPECT_EQ(places.movedBy(2, 5), "sends s");
  // Data dimension 0: a row is a column of y.
  EXPECT_EQ(places.movedBy(1, 0),
            "reads a[0, 0, 8..9] to a[1, 2, 8..9], s, writes y[0..2, 1] to y[0..2, 3]");
  EXPECT_EQ(places.movedBy(1, 2), "reads internal to node 7 \"add\" (Add)");
  EXPECT_EQ(places.at(1, isa::kLocalBase + 2), Names{"internal to node 7 \"add\" (Add)"});
}

TEST(Places, RowsOfAxesThatAreOneAreNamedByTheirEnds) {
  format::Program program = ringProgram();
  // Of a [2, 4, 11] the last two axes, 44 elements in six rows.
  program.models[0].inputs[1] = {"a", {2, 4, 11}, format::HostType::Float32, 1, 0, 12};
  program.models[0].inputs[1].packed = {2, 44};
  const Places places(program);
  EXPECT_EQ(places.at(1, 16), (Names{"a[0, 0, 0..7]", "a[1, 1, 5] to [1, 2, 1]"}));
  EXPECT_EQ(places.at(1, 17), (Names{"a[0, 0, 8] to [0, 1, 4]", "a[1, 2, 2..9]"}));
  EXPECT_EQ(places.at(1, 21), Names{"a[0, 3, 7..10]"});
  EXPECT_EQ(places.movedBy(2, 2), "sends a[0, 0, 0] to [1, 3, 10]");
  const std::vector<Places::Spot> spots{{1, 16, 2}};
  EXPECT_EQ(places.of("a", addressing::Indices{1, 1, 7}), spots);
  // Rows that are apart.
  program.models[0].inputs[1] = {"a", {60, 8}, format::HostType::Float32, 0, 0, 60};
  program.models[0].inputs[1].packed = {480};
  program.hostInstructions[1] = encoded(isa::Loop{10});
  EXPECT_EQ(Places(program).at(1, 16), Names{"a[0, 0] to [56, 7] in steps of 8 rows"});
}

TEST(Places, RowsOfRingsAreSeries) {
  // Row r of x, which is x[r, 0..7], is at 16 + r mod 8.
  format::Program program = ringProgram();
  format::Model &model = program.models[0];
  model.inputs = {{"x", {60000, 8}, format::HostType::Float32, 1, 0, 60000}};
  program.hostInstructions[1] = encoded(isa::Loop{10000});
  EXPECT_EQ(Places(program).at(1, 16), Names{"x[0..59992 by 8, 0..7]"});
  EXPECT_EQ(Places(program).at(1, 23), Names{"x[7..59999 by 8, 0..7]"});
  EXPECT_EQ(Places(program).movedBy(2, 2), "sends x[0, 0..7] to x[59999, 0..7]");
  const std::vector<Places::Spot> spots{{1, 19, 5}};
  EXPECT_EQ(Places(program).of("x", addressing::Indices{3003, 5}), spots);
  // Three rows a line: no axis that every eighth row moves along.
  model.inputs[0] = {"x", {10000, 20}, format::HostType::Float32, 1, 0, 30000};
  program.hostInstructions[1] = encoded(isa::Loop{5000});
  EXPECT_EQ(Places(program).at(1, 16), Names{"x[0, 0..7] to x[9997, 8..15] in steps of 8 rows"});
  // Then another one, in the rows that follow.
  model.inputs = {{"x", {14, 8}, format::HostType::Float32, 1, 0, 14},
                  {"z", {10, 8}, format::HostType::Float32, 1, 14, 10}};
  program.hostInstructions[1] = encoded(isa::Loop{4});
  EXPECT_EQ(Places(program).at(1, 16), (Names{"x[0..8 by 8, 0..7]", "z[2, 0..7]"}));
  EXPECT_EQ(Places(program).movedBy(2, 2),
            "sends x[0, 0..7] to x[13, 0..7] and z[0, 0..7] to z[9, 0..7]");
  EXPECT_EQ(Places(program).movedBy(1, 0),
            "reads x[1, 0..7] to x[11, 0..7] or z[3, 0..7] to z[5, 0..7], writes y[0..2, 1] to "
            "y[0..2, 3]");
}

/// What an instruction reads from rows that have little to do with each other.
TEST(Places, UnrelatedRowsAreListed) {
  format::Program program = test::smallProgram();
  isa::Vec vec;
  vec.dstKind = isa::Dst::Local;
  vec.aSrc = isa::Source::Ram;
  vec.a = 0;
  const uint32_t rows = 7;
  program.models[0].inputs.clear();
  isa::Input input;
  input.mask = 1;
  program.hostInstructions.clear();
  for (uint32_t row = 0; row < rows; ++row) {
    program.models[0].inputs.push_back(
        {std::string(1, static_cast<char>('a' + row)), {8}, format::HostType::Float32, 0, row, 1});
    input.dst = row;
    program.hostInstructions.push_back(encoded(input));
  }
  program.hostInstructions.push_back(encoded(isa::Restart{}));
  program.computedRows.clear();
  const auto moves = [&](uint32_t count, uint32_t to) {
    vec.n = {1, 1, 1, count};
    vec.aStride = vec.dstStride = {0, 0, 0, 1};
    vec.dst = to;
    program.cores[0].instructions = {encoded(vec), encoded(isa::Restart{})};
    program.sourceMap = {{0, 0, {0}}};
    return Places(program).movedBy(0, 0);
  };
  constexpr uint32_t kLocal = isa::kLocalBase;
  EXPECT_EQ(moves(2, kLocal), "reads a[0..7] and b[0..7], writes internal to node 0 \"fc\" (Gemm)");
  EXPECT_EQ(moves(4, kLocal), "reads a[0..7] and b[0..7] and c[0..7] and d[0..7], writes internal "
                              "to node 0 \"fc\" (Gemm)");
  EXPECT_EQ(moves(7, kLocal), "reads a[0..7] and b[0..7] and c[0..7] and d[0..7] and 3 others, "
                              "writes internal to node 0 \"fc\" (Gemm)");
  // Row 1 has its own result for a part of the time.
  EXPECT_EQ(moves(2, 1), "reads a[0..7] or b[0..7] or internal to node 0 \"fc\" (Gemm), "
                         "writes internal to node 0 \"fc\" (Gemm)");
}

TEST(Places, OutputsAreSentInTheirRows) {
  using Spots = std::vector<Places::OutputSpot>;
  const format::Program program = ringProgram();
  const Places places(program);
  // Data dimension 0: column j of y is row 5 + j.
  EXPECT_EQ(places.sentAs("y", addressing::Indices{1, 2}), (Spots{{7, 1}}));
  EXPECT_EQ(places.sentAs("y", addressing::Indices{3, 0}), Spots());
  EXPECT_EQ(places.sentAs("a", addressing::Indices{0, 0, 0}), Spots());
  format::Program two = test::smallProgram();
  two.models.push_back(two.models[0]);
  two.models[1].outputs[0].firstRow = 1;
  EXPECT_EQ(Places(two).sentAs("y", addressing::Indices{6}), (Spots{{0, 6}, {1, 6}}));
}

TEST(Places, PartsOfStepsAreThoseOfAStep) {
  format::Program program = test::smallProgram();
  program.models[0].steps = 4;
  program.models[0].inputs[0].shape = {4, 8};
  program.models[0].inputs[0].stepAxis = 0;
  EXPECT_EQ(Places(program).at(0, 0), Names{"x[0, 0..7] of a step"});
}

TEST(Places, SeveralModelsShareTheirRows) {
  format::Program program = test::smallProgram();
  program.models.push_back(program.models[0]);
  program.models[1].name = "other";
  program.models[1].outputs[0].firstRow = 1;
  const Places places(program);
  EXPECT_EQ(places.at(0, 0), Names());
  EXPECT_EQ(places.movedBy(0, 1), "reads constant, writes y[0..7]");
}

} // namespace
} // namespace sluice::device
