// The cells in which a memory of the hardware is built.
#pragma once

#include <cstdint>
#include <vector>

namespace sluice::format {

/// A memory with one write port.
struct Memory {
  uint64_t depth = 0;          ///< words
  uint64_t width = 0;          ///< bits of a word
  std::vector<uint64_t> reads; ///< bits that each read port uses, from the lowest on
  uint64_t enable = 0;         ///< bits with a write enable of their own; 0: the whole word
  /// Whether reads are registered. If not, their address is, and a read returns what is written in
  /// the cycle before; a block RAM takes this register in.
  bool registered = true;
};

/// The cells of a memory in UltraScale+ parts.
struct MemoryCells {
  uint64_t halfBlocks = 0; ///< block RAMs of 18 Kbit
  uint64_t ultraRams = 0;  ///< of 288 Kbit
  uint64_t lutRams = 0;    ///< LUTs used as RAM
  uint64_t luts = 0;       ///< LUTs that select between the cells of a deep memory
  uint64_t flipFlops = 0;  ///< registers behind LUT RAM, and those that forward a write
};

/// Returns the cells that yosys takes for a memory: those of the lowest cost, as its pass
/// memory_libmap and its lists of UltraScale+ memories define it. Each read port has a copy of the
/// memory. Reads and writes of one address in one cycle cost nothing here.
MemoryCells mapMemory(const Memory &memory);

} // namespace sluice::format
