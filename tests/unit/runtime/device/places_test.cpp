// What is in a row, by hand.
#include "runtime/device/places.h"

#include <gtest/gtest.h>

#include "hw/isa/isa.h"
#include "runtime/format/targets.h"
#include "tests/unit/runtime/small_program.h"

namespace sluice::device {
namespace {

using Names = std::vector<std::string>;

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
            "reads a[0, 0, 8..9] or a[1, 1, 8..9] to a[0, 1, 8..9] or a[1, 2, 8..9], s, writes "
            "y[0..2, 1] to y[0..2, 3]");
  EXPECT_EQ(places.movedBy(1, 2), "reads internal to node 7 \"add\" (Add)");
  EXPECT_EQ(places.at(1, isa::kLocalBase + 2), Names{"internal to node 7 \"add\" (Add)"});
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
