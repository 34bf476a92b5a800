#include "runtime/format/memory_area.h"

#include <gtest/gtest.h>

namespace sluice::format {
namespace {

Memory whole(uint64_t depth, uint64_t width) { return {depth, width, {width}}; }

uint64_t halfBlocks(const Memory &memory) { return mapMemory(memory).halfBlocks; }
uint64_t ultraRams(const Memory &memory) { return mapMemory(memory).ultraRams; }

/// Rows of a tensor RAM: a mark above each lane of 16 bits, which the first of four ports ignores.
Memory rows(uint64_t depth, uint64_t lanes) {
  return {depth, lanes * 17, {lanes * 16, lanes * 17, lanes * 17, lanes * 17}};
}

// The figures of these tests are those of yosys 0.23.

TEST(MemoryArea, TensorRam) {
  // With 32 lanes, halves of 9 bits and of 18 bits; the marks of the first port go with their
  // cells.
  EXPECT_EQ(halfBlocks(rows(2048, 32)), 240);
  EXPECT_EQ(halfBlocks(rows(1024, 32)), 122);
}

TEST(MemoryArea, PreloadRam) {
  EXPECT_EQ(halfBlocks(whole(256, 128)), 4); // two of 72 bits, not four of 36
  EXPECT_EQ(halfBlocks(whole(256, 56)), 2);
}

TEST(MemoryArea, WeightRam) {
  // 16 bits have a write enable of their own and fill 18 bits of a block RAM.
  EXPECT_EQ(halfBlocks({512, 256, {256}, 16}), 8);
  EXPECT_EQ(ultraRams({2048, 64, {64}, 16}), 1);
  EXPECT_EQ(ultraRams({4096, 256, {256}, 16}), 4);
}

TEST(MemoryArea, FunctionTables) {
  // Four entries of 16 bits share a word of an UltraRAM; each lane has a copy and selects one.
  const MemoryCells cells = mapMemory({16384, 16, std::vector<uint64_t>(8, 16)});
  EXPECT_EQ(cells.ultraRams, 8);
  EXPECT_EQ(cells.luts, 8 * 16);
  EXPECT_EQ(cells.halfBlocks, 0);
}

TEST(MemoryArea, Accumulators) {
  const MemoryCells heads = mapMemory({32, 56, {56}, 0, false});
  const MemoryCells integers = mapMemory({32, 384, {384}, 0, false});
  EXPECT_EQ(heads.lutRams, 4 * 8);
  EXPECT_EQ(integers.lutRams, 28 * 8);
  EXPECT_EQ(heads.flipFlops, 0);
  // Twice the words need the other shape, with half the bits.
  EXPECT_EQ(mapMemory({64, 384, {384}, 0, false}).lutRams, 55 * 8);
  // With 128 words, a block RAM takes in the register of the address; a register forwards writes.
  const MemoryCells large = mapMemory({128, 192, {192}, 0, false});
  EXPECT_EQ(large.halfBlocks, 6);
  EXPECT_EQ(large.flipFlops, 192);
  EXPECT_EQ(halfBlocks({128, 28, {28}, 0, false}), 1);
}

TEST(MemoryArea, SmallMemoriesAreLutRam) {
  const MemoryCells cells = mapMemory(whole(64, 128));
  EXPECT_EQ(cells.halfBlocks, 0);
  EXPECT_EQ(cells.lutRams, 19 * 8);
  EXPECT_EQ(cells.flipFlops, 128);
}

TEST(MemoryArea, DeepMemoriesSelectBetweenCells) {
  EXPECT_EQ(mapMemory(whole(4096, 72)).luts, 0);
  EXPECT_EQ(mapMemory(whole(8192, 72)).luts, 72);
  EXPECT_EQ(mapMemory(whole(32768, 72)).luts, 2 * 72);
  EXPECT_EQ(ultraRams(whole(32768, 72)), 8);
}

} // namespace
} // namespace sluice::format
