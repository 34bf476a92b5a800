// The contents of the memories of a core before the first inference.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace sluice::format {

/// One instruction as stored: isa::kWords little-endian 64-bit words.
using InstructionWords = std::array<uint64_t, 9>;

/// Rows at consecutive addresses of one memory.
struct RowImage {
  uint32_t address = 0;
  std::vector<uint16_t> lanes; ///< bf16, whole rows
};

/// A preload row: 64 bits for each lane (docs/machine.md, Numbers).
struct PreloadImage {
  uint32_t row = 0;
  std::vector<uint64_t> lanes;
};

/// A weight block: B*B bf16, [output lane][input position].
struct WeightImage {
  uint32_t block = 0;
  std::vector<uint16_t> elements;
};

/// A function table: header words and table_entries bf16 values.
struct TableImage {
  uint32_t table = 0;
  std::array<uint64_t, 4> header{};
  std::vector<uint16_t> entries;
};

struct CoreImage {
  std::vector<InstructionWords> instructions;
  std::vector<WeightImage> weights;   ///< ascending block
  std::vector<RowImage> rows;         ///< ascending address; inbox or local
  std::vector<PreloadImage> preloads; ///< ascending row
  std::vector<TableImage> tables;     ///< ascending table
};

} // namespace sluice::format
