// Rolling keeps every beat, and finds the loops that are there.
#include "compiler/conversion/plan/beats/roll.h"

#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::plan {
namespace {

/// Unrolls everything and compares with the beats.
void expectRoundTrip(const UnitBeats &unit) {
  const auto rolled = roll(unit);
  ASSERT_TRUE(rolled);
  std::vector<Beat> beats;
  for (const Rolled &one : *rolled) {
    ASSERT_EQ(one.firstBeat, beats.size());
    ASSERT_TRUE(isa::encode(one.instruction)) << "a field overflows";
    const auto more = unroll(one.instruction, unit.beats[one.firstBeat].form);
    ASSERT_EQ(more.size(), one.beats);
    beats.insert(beats.end(), more.begin(), more.end());
  }
  EXPECT_EQ(beats, unit.beats);
}

UnitBeats matrixUnit() {
  UnitBeats unit;
  isa::Mm form;
  form.emit = isa::Emit::Bf16;
  unit.formOf(form);
  return unit;
}

Beat product(int32_t x, int32_t w, int32_t acc, isa::Init init, bool last, Wait wait) {
  Beat beat;
  beat.address = {x, w, acc, 0};
  beat.init = init;
  beat.last = last;
  beat.wait = wait;
  return beat;
}

/// `rows` rows of `terms` products, row by row; the first row waits for each
/// operand with the next of `tokens` tokens.
UnitBeats dense(int32_t rows, int32_t terms, uint32_t tokens) {
  UnitBeats unit = matrixUnit();
  for (int32_t r = 0; r < rows; ++r)
    for (int32_t k = 0; k < terms; ++k)
      unit.beats.push_back(product(100 + k, r * terms + k, r,
                                   k == 0 ? isa::Init::Zero : isa::Init::Keep, k + 1 == terms,
                                   r == 0 ? Wait{static_cast<uint32_t>(k) % tokens, 1} : Wait{}));
  return unit;
}

TEST(Roll, ADenseLayerIsTwoInstructions) {
  const UnitBeats unit = dense(5, 9, 32);
  EXPECT_EQ(roll(unit)->size(), 2U);
  expectRoundTrip(unit);
}

TEST(Roll, TokensThatWrapCostOneInstructionPerRound) {
  const UnitBeats unit = dense(5, 12, 6);
  EXPECT_EQ(roll(unit)->size(), 3U);
  expectRoundTrip(unit);
}

TEST(Roll, OperandsOutsideRowsInside) {
  UnitBeats unit = matrixUnit();
  for (int32_t k = 0; k < 7; ++k)
    for (int32_t r = 0; r < 3; ++r)
      unit.beats.push_back(product(k, k * 3 + r, r, k == 0 ? isa::Init::Preload : isa::Init::Keep,
                                   k == 6, r == 0 ? Wait{static_cast<uint32_t>(k), 1} : Wait{}));
  // The first and the last operand differ from those between.
  EXPECT_EQ(roll(unit)->size(), 3U);
  expectRoundTrip(unit);
}

TEST(Roll, AReductionEndsWithItsInstruction) {
  UnitBeats unit;
  isa::Vec form;
  form.reduce = isa::Reduce::Max;
  unit.formOf(form);
  for (int32_t i = 0; i < 12; ++i) {
    Beat beat;
    beat.address = {i, 0, 0, i / 3};
    beat.last = i % 3 == 2;
    beat.signal = {beat.last, beat.last ? 5U : 0U, beat.last ? 1U : 0U};
    beat.address[3] = 0;
    unit.beats.push_back(beat);
  }
  EXPECT_EQ(roll(unit)->size(), 1U);
  expectRoundTrip(unit);
  unit.beats[10].address[0] = 50; // no affine walk reaches the end
  EXPECT_FALSE(roll(unit));
  EXPECT_EQ(rollFrom(unit, 0)->beats, 9U) << "what comes later does not matter";
}

TEST(Roll, AddressesWrapInTheirFields) {
  UnitBeats unit = matrixUnit();
  for (int32_t i = 0; i < 2; ++i)
    unit.beats.push_back(product(i == 0 ? 3 : 65000, 0, i * 200, isa::Init::Zero, true, Wait{}));
  EXPECT_EQ(roll(unit)->size(), 1U);
  expectRoundTrip(unit);
}

TEST(Roll, UnrollsRings) {
  using ::testing::ElementsAre;
  const auto streamOf = [](const isa::Instruction &inst, unsigned stream) {
    std::vector<int32_t> addresses;
    for (const Beat &beat : unroll(inst, 0))
      addresses.push_back(beat.address[stream]);
    return addresses;
  };
  isa::Mm mm;
  mm.n[3] = 4;
  mm.x = 13;
  mm.xStride[3] = -2;
  mm.xRing = 2;
  EXPECT_THAT(streamOf(mm, 0), ElementsAre(13, 15, 13, 15));
  isa::Vec vec;
  vec.n[3] = 3;
  vec.a = vec.b = vec.c = vec.dst = 15;
  vec.aStride[3] = vec.bStride[3] = vec.cStride[3] = vec.dstStride[3] = 1;
  vec.aRing = 1;
  vec.bRing = 2;
  vec.cRing = 3;
  vec.dstRing = 4;
  EXPECT_THAT(streamOf(vec, 0), ElementsAre(15, 14, 15));
  EXPECT_THAT(streamOf(vec, 1), ElementsAre(15, 12, 13));
  EXPECT_THAT(streamOf(vec, 2), ElementsAre(15, 8, 9));
  EXPECT_THAT(streamOf(vec, 3), ElementsAre(15, 0, 1));
  isa::Input input;
  input.n[3] = 3;
  input.dst = 65535;
  input.dstStride[3] = 1;
  EXPECT_THAT(streamOf(input, 0), ElementsAre(65535, 65536, 65537));
  input.dstRing = 15;
  EXPECT_THAT(streamOf(input, 0), ElementsAre(65535, 32768, 32769));
}

/// Random concatenations of random nests, some with single beats between.
TEST(Roll, KeepsRandomSequences) {
  std::mt19937_64 random(1);
  const auto below = [&](uint64_t n) { return static_cast<uint32_t>(random() % n); };
  for (unsigned round = 0; round < 400; ++round) {
    UnitBeats unit = matrixUnit();
    isa::Mm skip;
    skip.skip = 1;
    for (unsigned part = 0, parts = 1 + below(5); part < parts; ++part) {
      isa::Mm mm;
      mm.emit = isa::Emit::Bf16;
      mm.emitLevel = below(5);
      mm.init = static_cast<isa::Init>(below(3));
      mm.initLevel = mm.init == isa::Init::Keep ? 0 : below(5);
      for (unsigned l = 0; l < 4; ++l) {
        mm.n[l] = 1 + below(4);
        mm.xStride[l] = static_cast<int32_t>(below(7)) - 3;
        mm.wStride[l] = static_cast<int32_t>(below(3));
        mm.accStride[l] = static_cast<int32_t>(below(2));
      }
      mm.x = 500;
      mm.acc = below(4);
      mm.w = below(9);
      mm.waitEn = below(2);
      mm.waitCount = 1 + below(2);
      mm.waitToken = below(32);
      mm.waitStep = static_cast<int32_t>(below(32)) - 16;
      mm.waitLevel = below(5);
      const std::vector<Beat> beats = unroll(mm, 0);
      unit.beats.insert(unit.beats.end(), beats.begin(), beats.end());
      if (below(2) != 0) {
        Beat pause;
        pause.form = unit.formOf(skip);
        pause.wait = {below(32), 1 + below(3)};
        unit.beats.push_back(pause);
      }
    }
    expectRoundTrip(unit);
  }
}

} // namespace
} // namespace sluice::plan
