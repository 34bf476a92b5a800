// vec_table.sv against the library, with each number of stages: all bf16 inputs through random
// tables of all modes, unrounded inputs, and a different table in every cycle.
#include <array>
#include <deque>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include SLUICE_MODULE_HEADER
#include "runtime/format/images.h"
#include "tests/rtl/control/testbench.h"
#include "tests/rtl/datapath/wide.h"
#include "tests/unit/hw/numerics/random_tables.h"

namespace sluice::rtltest {
namespace {

using numerics::Table;
constexpr unsigned kLanes = 2, kTables = 4;

TEST(VecTable, EveryInputOfRandomTables) {
  for (uint32_t seed = 0; seed < 3; ++seed) {
    Testbench<SLUICE_MODULE> bench(seed);
    numerics::testing::Operands operands(41 + seed);
    operands.spread = 250;
    bench->valid_i = 0;
    bench->cfg_entry_i = 0;
    bench->cfg_header_i = 0;
    bench.reset();
    std::vector<Table> tables;
    for (unsigned table = 0; table < kTables; ++table) {
      const format::TableImage image = randomTable(
          operands, randomHeader(operands, static_cast<Table::Mode>((table + seed) % 3)));
      tables.emplace_back(image);
      bench->cfg_entry_i = 1;
      for (unsigned i = 0; i < isa::kTableEntries; ++i) {
        bench->cfg_addr_i = table * isa::kTableEntries + i;
        bench->cfg_data_i = image.entries[i];
        bench.clock();
      }
      bench->cfg_entry_i = 0;
      bench->cfg_header_i = 1;
      for (unsigned word = 0; word < 4; ++word) {
        bench->cfg_addr_i = table * 4 + word;
        bench->cfg_data_i = image.header[word];
        bench.clock();
      }
      bench->cfg_header_i = 0;
    }
    struct Beat {
      bool valid = false;
      std::array<uint32_t, kLanes> in{}, out{};
    };
    std::deque<Beat> beats(SLUICE_STAGES);
    // The number of the table comes a cycle before the beat.
    unsigned next = bench.pick(kTables);
    bench->table_i = next;
    bench.clock();
    for (uint32_t cycle = 0; cycle < 65536 * 2 + 40000; ++cycle) {
      Beat beat;
      beat.valid = cycle < 65536 * 2 || bench.pick(4) != 0;
      const unsigned table = std::exchange(next, bench.pick(kTables));
      for (unsigned i = 0; i < kLanes; ++i) {
        // Each bf16 twice, in different lanes and tables, then fp32 values.
        beat.in[i] = cycle < 65536 * 2 ? (cycle * 2 + i) << 16 : operands.fp32();
        setField(bench->value_i, i * 32, 32, beat.in[i]);
        beat.out[i] = tables[table](beat.in[i]);
      }
      bench->valid_i = beat.valid;
      bench->table_i = next;
      beats.push_back(beat);
      bench.settle();
      const Beat &done = beats.front();
      ASSERT_EQ(bench->valid_o, done.valid);
      for (unsigned i = 0; done.valid && i < kLanes; ++i)
        ASSERT_EQ(field(bench->value_o, i * 32, 32), done.out[i]) << std::hex << done.in[i];
      beats.pop_front();
      bench.clock();
    }
  }
}

} // namespace
} // namespace sluice::rtltest
