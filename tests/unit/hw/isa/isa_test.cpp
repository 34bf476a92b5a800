// The encoder and decoder of the instruction set: every field round-trips, what
// does not fit is refused, what is not an instruction is not decoded.
#include "hw/isa/isa.h"

#include <random>

#include <gtest/gtest.h>

namespace sluice::isa {
namespace {

/// Words of an instruction with random field values (enumerations in range).
Words randomWords(const InstructionInfo &info, std::mt19937_64 &random) {
  Words words{};
  words[0] = static_cast<uint64_t>(info.opcode);
  for (const FieldInfo &field : info.fields)
    for (unsigned i = 0; i < field.count; ++i) {
      int64_t value = static_cast<int64_t>(random() & ((uint64_t{1} << field.bits) - 1));
      if (!field.enumName.empty())
        while (enumValueName(field.enumName, static_cast<unsigned>(value)).empty())
          value = static_cast<int64_t>(random() & ((uint64_t{1} << field.bits) - 1));
      if (field.isSigned && (value >> (field.bits - 1)) != 0)
        value -= int64_t{1} << field.bits;
      EXPECT_TRUE(setField(words, field, i, value));
      EXPECT_EQ(getField(words, field, i), value);
    }
  return words;
}

TEST(Isa, EveryInstructionRoundTrips) {
  std::mt19937_64 random(1);
  for (const InstructionInfo &info : instructions())
    for (int trial = 0; trial < 200; ++trial) {
      const Words words = randomWords(info, random);
      const std::optional<Instruction> inst = decode(words);
      ASSERT_TRUE(inst) << info.name;
      EXPECT_EQ(encode(*inst), words) << disassemble(words);
    }
}

TEST(Isa, ValuesThatDoNotFitAreRefused) {
  Mm mm;
  mm.n = {4095, 1, 1, 1};
  EXPECT_TRUE(encode(mm));
  mm.n[0] = 4096;
  EXPECT_FALSE(encode(mm));
  Vec vec;
  vec.dstStride[3] = -(1 << 17);
  EXPECT_TRUE(encode(vec));
  vec.dstStride[3] = -(1 << 17) - 1;
  EXPECT_FALSE(encode(vec));
  Input input;
  input.dstReg = 7;
  input.dstRing = 15;
  EXPECT_TRUE(encode(input));
  input.dstRing = 16;
  EXPECT_FALSE(encode(input));
}

TEST(Isa, UnknownOpcodesStrayBitsAndUnknownEnumeratorsAreNotDecoded) {
  for (unsigned opcode : {0U, 7U, 15U}) {
    Words words{};
    words[0] = opcode;
    EXPECT_FALSE(decode(words)) << opcode;
  }
  for (const InstructionInfo &info : instructions()) {
    Words words{};
    words[0] = static_cast<uint64_t>(info.opcode);
    ASSERT_TRUE(decode(words)) << info.name;
    words[info.bits / 64] |= uint64_t{1} << (info.bits % 64);
    EXPECT_FALSE(decode(words)) << info.name;
  }
  Words words = *encode(Instruction(Vec{}));
  for (const FieldInfo &field : lookup(static_cast<unsigned>(Opcode::Vec))->fields)
    if (field.name == "alu1") {
      ASSERT_TRUE(setField(words, field, 0, 31));
    }
  EXPECT_FALSE(decode(words));
}

TEST(Isa, DisassemblyNamesWhatIsNotDefault) {
  Vec vec;
  vec.n = {1, 1, 1, 3};
  vec.aSrc = Source::Mxu;
  vec.post = Post::Relu;
  vec.dstKind = Dst::Net;
  vec.dst = 7;
  vec.dstStride[3] = 2;
  vec.mask = 3;
  EXPECT_EQ(disassemble(*encode(vec)),
            "vec n=[1 1 1 3] a_src=mxu post=relu dst_kind=net dst=7 dst_stride=[0 0 0 2] mask=3");
  Input input;
  input.dst = 8;
  input.dstReg = 1;
  input.dstRing = 5;
  input.mask = 1;
  EXPECT_EQ(disassemble(*encode(input)), "input dst=8 dst_reg=1 dst_ring=5 mask=1");
}

} // namespace
} // namespace sluice::isa
