// What a program file may say: where its instructions may read and write.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/format/program_file.h"
#include "tests/unit/runtime/format/check_change.h"

namespace sluice::format {
namespace {

using test::afterMm;
using test::afterVec;
using test::encoded;
using test::problemAfter;
using test::smallInput;
using test::smallMm;
using test::smallProgram;
using test::smallVec;
using testing::HasSubstr;

TEST(Check, Addresses) {
  EXPECT_EQ(afterMm([](isa::Mm &mm) { mm.x = 1024; }),
            "E0510 core 0 instruction 0: x reaches tensor row 1024, allowed: 0 to 1023, 32768 to "
            "33023");
  EXPECT_EQ(afterMm([](isa::Mm &mm) {
              mm.n = {1, 3, 4, 1};
              mm.xStride = {0, 400, 75, 0};
            }),
            "E0510 core 0 instruction 0: x reaches tensor row 1025, allowed: 0 to 1023, 32768 to "
            "33023");
  EXPECT_EQ(afterMm([](isa::Mm &mm) { mm.x = 65535; }).substr(0, 5), "E0510");
  EXPECT_THAT(afterMm([](isa::Mm &mm) { mm.w = 2048; }), HasSubstr("w reaches weight block 2048"));
  EXPECT_THAT(afterMm([](isa::Mm &mm) { mm.acc = 32; }), HasSubstr("acc reaches accumulator 32"));
  EXPECT_THAT(afterMm([](isa::Mm &mm) {
                mm.init = isa::Init::Preload;
                mm.p = 256;
              }),
              HasSubstr("p reaches preload row 256"));
  EXPECT_THAT(afterVec([](isa::Vec &vec) { vec.b = 33024; }),
              HasSubstr("b reaches tensor row 33024"));
  EXPECT_THAT(afterVec([](isa::Vec &vec) { vec.dst = 1; }),
              HasSubstr("dst reaches host output row 1, allowed: 0 to 0"));
  EXPECT_EQ(afterVec([](isa::Vec &vec) {
              vec.dstKind = isa::Dst::Wcol;
              vec.dst = 2048 * 8;
              vec.sigUnits = 1;
            }),
            "E0510 core 0 instruction 1: dst reaches weight row or column 16384, allowed: 0 to "
            "16383");
  EXPECT_THAT(problemAfter([](Program &p) {
                isa::Input input = smallInput();
                input.dst = 1024;
                p.hostInstructions[0] = encoded(input);
              }),
              HasSubstr("host port instruction 0: dst reaches inbox row 1024"));
}

TEST(Check, AddressesThatWrapAreExact) {
  // From an inbox row to a local row: 32768 does not fit a signed stride, but
  // addresses count modulo 2^16.
  EXPECT_EQ(afterMm([](isa::Mm &mm) {
              mm.n[3] = 2;
              mm.x = 10;
              mm.xStride[3] = -32768;
            }),
            "none");
  EXPECT_EQ(afterMm([](isa::Mm &mm) {
              mm.n[3] = 3;
              mm.x = 10;
              mm.xStride[3] = 16384;
            }).substr(0, 5),
            "E0510");
}

TEST(Check, RingsReachTheirRegion) {
  // Any stride stays in the last four local rows.
  EXPECT_EQ(afterMm([](isa::Mm &mm) {
              mm.n = {100, 100, 100, 100};
              mm.x = 33021;
              mm.xStride = {1, -7, 4099, -32768};
              mm.xRing = 2;
            }),
            "none");
  // The region of the base, whatever the strides, and exactly the rows reached in it.
  EXPECT_EQ(afterMm([](isa::Mm &mm) {
              mm.n[3] = 40;
              mm.x = 1023;
              mm.xStride[3] = -32;
              mm.xRing = 11;
            }),
            "E0510 core 0 instruction 0: x reaches tensor row 1823, allowed: 0 to 1023, 32768 to "
            "33023");
  EXPECT_EQ(afterMm([](isa::Mm &mm) {
              mm.n[3] = 32;
              mm.x = 1023;
              mm.xStride[3] = -32;
              mm.xRing = 11;
            }),
            "none");
  EXPECT_EQ(afterMm([](isa::Mm &mm) {
              mm.x = 1030;
              mm.xRing = 3;
              mm.n[3] = 2;
              mm.xStride[3] = 3;
            }),
            "E0510 core 0 instruction 0: x reaches tensor row 1025, allowed: 0 to 1023, 32768 to "
            "33023");
  for (const auto &[field, change] :
       std::initializer_list<std::pair<const char *, void (*)(isa::Vec &)>>{
           {"a", [](isa::Vec &vec) { vec.aSrc = isa::Source::Ram, vec.a = 2048, vec.aRing = 4; }},
           {"b", [](isa::Vec &vec) { vec.bEn = 1, vec.b = 2048, vec.bRing = 4; }},
           {"c", [](isa::Vec &vec) { vec.cEn = 1, vec.c = 2048, vec.cRing = 4; }}})
    EXPECT_THAT(afterVec(change), HasSubstr(std::string(field) + " reaches tensor row 2048"));
  EXPECT_EQ(afterVec([](isa::Vec &vec) {
              vec.n[3] = 3;
              vec.dstStride[3] = 5;
              vec.dstRing = 1;
            }),
            "E0510 core 0 instruction 1: dst reaches host output row 1, allowed: 0 to 0");
  // A row that is written by going round.
  EXPECT_EQ(problemAfter([](Program &p) {
              p.models[0].outputs[0].rows = 2;
              p.models[0].outputs[0].shape = {2, 8};
              p.models[0].outputs[0].dataDim = 1;
              isa::Vec vec = smallVec();
              vec.n[3] = 2;
              vec.dst = 1;
              vec.dstStride[3] = 1;
              vec.dstRing = 1;
              p.cores[0].instructions[1] = encoded(vec);
            }),
            "none");
}

TEST(Check, OnlyTheBeatsThatUseAnAddressCount) {
  // The preload row is written on last beats: one address, not 300.
  EXPECT_EQ(afterMm([](isa::Mm &mm) {
              mm.n[3] = 300;
              mm.pStride[3] = 1;
              mm.init = isa::Init::Preload;
              mm.initLevel = 0;
            }),
            "none");
  // A reduction writes once per producing beat.
  EXPECT_EQ(afterVec([](isa::Vec &vec) {
              vec.n[3] = 4;
              vec.dstStride[3] = 1;
              vec.reduce = isa::Reduce::Max;
              vec.reduceLevel = 3;
            }),
            "E0510 core 0 instruction 1: dst reaches host output row 3, allowed: 0 to 0");
}

} // namespace
} // namespace sluice::format
