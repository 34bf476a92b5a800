// vec_reduce.sv against the library: groups of random length, gaps inside groups.
#include <array>
#include <deque>
#include <optional>

#include <gtest/gtest.h>

#include SLUICE_MODULE_HEADER
#include "sim/vm/numerics.h"
#include "tests/rtl/control/testbench.h"
#include "tests/rtl/datapath/wide.h"
#include "tests/unit/sim/vm/operands.h"

namespace sluice::rtltest {
namespace {

constexpr unsigned kLanes = 8;
constexpr unsigned kLatency = 3 + isa::kVecReduceBase;

TEST(VecReduce, MaximumOfLanesAndBeats) {
  Testbench<SLUICE_MODULE> bench(1);
  numerics::testing::Operands operands(51);
  bench->valid_i = 0;
  bench.reset();
  struct Beat {
    bool valid = false;
    uint32_t value = 0;
  };
  std::deque<Beat> beats(kLatency);
  std::optional<uint32_t> carry;
  unsigned groups = 0;
  for (int cycle = 0; cycle < 60000; ++cycle) {
    const bool valid = bench.pick(6) != 0, last = bench.pick(4) == 0;
    // Most groups without NaN, some with only negative values.
    const bool any = bench.pick(6) == 0, negative = cycle % 50 < 20;
    std::array<uint32_t, kLanes> row{};
    for (unsigned i = 0; i < kLanes; ++i) {
      row[i] = operands.fp32();
      if (!any && numerics::isNaN(row[i]))
        row[i] &= 0xBFFFFFFF;
      if (negative && i != 3)
        row[i] |= 0x80000000;
      setField(bench->value_i, i * 32, 32, row[i]);
    }
    Beat beat{valid, 0};
    if (valid) {
      beat.value = numerics::reduceMax(row, carry);
      carry = beat.value;
      if (last) {
        carry.reset();
        ++groups;
      }
    }
    bench->valid_i = valid;
    bench->last_i = last;
    beats.push_back(beat);
    bench.settle();
    ASSERT_EQ(bench->valid_o, beats.front().valid);
    for (unsigned i = 0; beats.front().valid && i < kLanes; ++i)
      ASSERT_EQ(field(bench->value_o, i * 32, 32), beats.front().value) << "cycle " << cycle;
    beats.pop_front();
    bench.clock();
  }
  EXPECT_GT(groups, 5000U);
}

} // namespace
} // namespace sluice::rtltest
