// Memories and multipliers, as portable SystemVerilog and as a part's cells, against plain arrays
// and products: every form is the same function.
#include <array>
#include <vector>

#include <gtest/gtest.h>

#include SLUICE_HEADER
#include "tests/rtl/control/testbench.h"
#include "tests/rtl/datapath/wide.h"

namespace sluice::rtltest {
namespace {

constexpr std::array<unsigned, 7> kRows{16, 1024, 2048, 4096, 8192, 16384, 600};
constexpr std::array<unsigned, 4> kWidths{8, 9, 12, 18};

unsigned bitsOf(unsigned rows) {
  unsigned bits = 0;
  while (1U << bits < rows)
    ++bits;
  return bits;
}

TEST(Cells, MemoriesReturnWhatWasWritten) {
  for (uint32_t seed = 0; seed < 4; ++seed) {
    Testbench<SLUICE_CLASS> cells(seed);
    // Of each memory and port: the row that was read, and the register behind it.
    std::array<std::vector<uint32_t>, kRows.size()> written;
    std::array<std::array<uint32_t, 2>, kRows.size()> row{}, late{};
    for (size_t i = 0; i < kRows.size(); ++i)
      written[i].resize(kRows[i]);
    cells->enable_i = 0;
    bool known = false; // what the registers have
    const auto step = [&](bool write, bool read, bool keep, const std::array<unsigned, 3> &place) {
      const uint32_t data = cells.pick(1U << 20);
      cells->write_i = write;
      cells->write_addr_i = place[0];
      cells->write_data_i = data;
      cells->read_i = read;
      cells->read_addr_i = place[1] | place[2] << 14;
      cells->keep_i = keep;
      cells.clock();
      for (size_t i = 0; i < kRows.size(); ++i) {
        const unsigned mask = (1U << bitsOf(kRows[i])) - 1;
        if (keep)
          late[i] = row[i];
        if (read)
          row[i] = {written[i][place[1] & mask], written[i][place[2] & mask]};
        if (write)
          written[i][place[0] & mask] = data;
        for (unsigned port = 0; known && port < 2; ++port)
          ASSERT_EQ(field(cells->read_data_o, i * 40 + port * 20, 20), late[i][port])
              << "seed " << seed << ", memory of " << kRows[i] << " rows, port " << port;
      }
    };
    // Places below 600 in the low ten bits are rows of every memory.
    const auto place = [&] { return cells.pick(16) << 10 | cells.pick(600); };
    for (unsigned high = 0; high < 16; ++high)
      for (unsigned low = 0; low < 600; ++low)
        ASSERT_NO_FATAL_FAILURE(step(true, false, false, {high << 10 | low, 0, 0}));
    ASSERT_NO_FATAL_FAILURE(step(false, true, false, {0, place(), place()}));
    ASSERT_NO_FATAL_FAILURE(step(false, false, true, {0, 0, 0}));
    known = true;
    for (int cycle = 0; cycle < 20000; ++cycle) {
      const std::array<unsigned, 3> places{place(), place(), place()};
      // A read must not meet a write of its row, in the smallest memory neither.
      const bool meets = places[0] % 16 == places[1] % 16 || places[0] % 16 == places[2] % 16;
      const bool write = cells.pick(2);
      ASSERT_NO_FATAL_FAILURE(
          step(write, !(write && meets) && cells.pick(2), cells.pick(2), places));
    }
  }
}

TEST(Cells, MultipliersMultiply) {
  Testbench<SLUICE_CLASS> cells(1);
  cells->write_i = cells->read_i = cells->keep_i = 0;
  std::array<uint64_t, kWidths.size()> product{};
  for (int cycle = 0; cycle < 20000; ++cycle) {
    const bool extreme = cells.pick(16) == 0;
    const uint32_t left = extreme ? (1U << 18) - 1 : cells.pick(1U << 18);
    const uint32_t right = extreme ? (1U << 18) - 1 : cells.pick(1U << 18);
    const bool enable = cycle == 0 || cells.pick(4) != 0;
    cells->left_i = left;
    cells->right_i = right;
    cells->enable_i = enable;
    cells.clock();
    for (size_t i = 0; i < kWidths.size(); ++i) {
      const uint64_t mask = (uint64_t{1} << kWidths[i]) - 1;
      if (enable)
        product[i] = (left & mask) * (right & mask);
      ASSERT_EQ(field(cells->product_o, i * 36, 36), product[i]) << kWidths[i] << " bits";
    }
  }
}

} // namespace
} // namespace sluice::rtltest
