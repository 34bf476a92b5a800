// matrix_array.sv: rows at random distances, weights rewritten by row and by column
// while the array works, against dotRow on the weights each element had read.
#include <deque>
#include <vector>

#include <gtest/gtest.h>

#include SLUICE_MODULE_HEADER
#include "hw/numerics/numerics.h"
#include "tests/rtl/control/testbench.h"
#include "tests/rtl/datapath/wide.h"
#include "tests/unit/hw/numerics/dot_row.h"
#include "tests/unit/hw/numerics/operands.h"

namespace sluice::rtltest {
namespace {

using numerics::AccLane;
using numerics::testing::Operands;

constexpr unsigned kLanes = SLUICE_LANES, kTerms = SLUICE_TERMS, kBlocks = 16;
constexpr unsigned kElements = kLanes / kTerms;
/// From the cycle of the inputs (issue + 1) to the accumulation.
constexpr unsigned kLatency = isa::kMmRead + SLUICE_FANOUT + isa::kMmPe + kElements - 2;

struct Beat {
  unsigned age = 0;
  unsigned block = 0;
  std::vector<uint16_t> x, weights; // weights [input position][output lane], as read
};

class Array {
public:
  explicit Array(uint32_t seed) : bench(seed), operands(seed + 100) {
    for (auto &block : memory)
      block.assign(kLanes * kLanes, 0);
    idle();
    bench.reset();
    for (unsigned block = 0; block < kBlocks; ++block)
      for (unsigned lane = 0; lane < kLanes; ++lane) {
        writeRow(block, lane);
        cycle();
      }
  }

  void idle() {
    bench->valid_i = 0;
    bench->zero_i = 0;
    bench->weight_row_i = 0;
    bench->weight_column_i = 0;
  }

  void writeRow(unsigned block, unsigned lane) {
    bench->weight_row_i = 1;
    write(block, lane);
    for (unsigned i = 0; i < kLanes; ++i)
      pending.push_back({block, i, lane, data(i)});
  }

  void writeColumn(unsigned block, unsigned position) {
    bench->weight_column_i = 1;
    write(block, position);
    for (unsigned j = 0; j < kLanes; ++j)
      pending.push_back({block, position, j, data(j)});
  }

  void offer() {
    Beat beat;
    beat.block = bench.pick(kBlocks);
    beat.weights.assign(kLanes * kLanes, 0);
    const bool poison = bench.pick(20) == 0, zero = bench.pick(10) == 0;
    for (unsigned i = 0; i < kLanes; ++i) {
      const uint16_t x = operands.bf16(!poison);
      setField(bench->row_i, i * 16, 16, x);
      beat.x.push_back(zero ? 0 : x);
    }
    bench->zero_i = zero;
    bench->valid_i = 1;
    bench->block_i = beat.block;
    beats.push_back(beat);
  }

  /// Checks the outputs of this cycle, then takes the clock edge.
  void cycle() {
    bench.settle();
    for (Beat &beat : beats) {
      for (unsigned p = 0; p < kElements; ++p)
        if (beat.age == SLUICE_FANOUT - 1 + (p > 1 ? p - 1 : 0))
          std::copy_n(&memory[beat.block][p * kTerms * kLanes], kTerms * kLanes,
                      &beat.weights[p * kTerms * kLanes]);
      if (beat.age + 1 == kLatency || beat.age == kLatency)
        check(beat);
      ++beat.age;
    }
    if (!beats.empty() && beats.front().age > kLatency)
      beats.pop_front();
    for (const Write &one : pending)
      memory[one.block][one.position * kLanes + one.lane] = one.value;
    pending.clear();
    bench.clock();
    idle();
  }

  Testbench<SLUICE_MODULE> bench;
  unsigned checked = 0;
  Operands operands;

private:
  struct Write {
    unsigned block, position, lane;
    uint16_t value;
  };

  void write(unsigned block, unsigned index) {
    bench->weight_addr_i = block * kLanes + index;
    for (unsigned i = 0; i < kLanes; ++i)
      setField(bench->weight_data_i, i * 16, 16, operands.bf16(true));
  }
  uint16_t data(unsigned i) {
    return static_cast<uint16_t>(field(bench->weight_data_i, i * 16, 16));
  }

  void check(const Beat &beat) {
    std::vector<AccLane> expected(kLanes);
    numerics::testing::dotRow(beat.x, beat.weights.data(), kTerms, expected);
    for (unsigned j = 0; j < kLanes; ++j) {
      if (beat.age + 1 == kLatency) {
        ASSERT_EQ(field(bench->anchor_o, j * 6, 6), expected[j].q) << "lane " << j;
        ASSERT_EQ(bench->poison_o, expected[j].poison);
      } else {
        ASSERT_EQ(field(bench->sum_o, j * 48, 48), numerics::packLane(expected[j]) << 16 >> 16)
            << "lane " << j;
        ++checked;
      }
    }
  }

  std::vector<uint16_t> memory[kBlocks]; // [input position][output lane]
  std::vector<Write> pending;
  std::deque<Beat> beats;
};

TEST(MatrixArray, StreamsRowsWhileWeightsChange) {
  for (uint32_t seed = 0; seed < 4; ++seed) {
    Array array(seed);
    for (int cycle = 0; cycle < 3000 && !::testing::Test::HasFatalFailure(); ++cycle) {
      array.operands.spread = cycle % 1000 < 500 ? 10 : 120;
      // Bursts without a gap and lonely rows.
      if (cycle % 600 < 200 || array.bench.pick(3) == 0)
        array.offer();
      if (array.bench.pick(4) == 0) {
        const unsigned block = array.bench.pick(kBlocks), index = array.bench.pick(kLanes);
        array.bench.pick(2) ? array.writeRow(block, index) : array.writeColumn(block, index);
      }
      array.cycle();
    }
    EXPECT_GT(array.checked, 1000 * kLanes);
  }
}

} // namespace
} // namespace sluice::rtltest
