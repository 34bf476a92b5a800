// vec_reduce.sv against the library: every kind, groups of random length, gaps inside
// groups, values that cancel, overflow, tie and are no numbers.
#include <array>
#include <deque>

#include <gtest/gtest.h>

#include SLUICE_MODULE_HEADER
#include "hw/numerics/latency.h"
#include "hw/numerics/reduction.h"
#include "tests/rtl/control/testbench.h"
#include "tests/rtl/datapath/wide.h"
#include "tests/unit/hw/numerics/operands.h"

namespace sluice::rtltest {
namespace {

constexpr unsigned kLanes = SLUICE_LANES;

class VecReduce : public ::testing::TestWithParam<isa::Reduce> {};

TEST_P(VecReduce, LanesAndBeats) {
  const isa::Reduce kind = GetParam();
  Testbench<SLUICE_MODULE> bench(1);
  numerics::testing::Operands operands(51);
  bench->valid_i = 0;
  bench->kind_i = static_cast<uint8_t>(kind);
  bench.reset();
  struct Beat {
    bool valid = false;
    uint32_t value = 0;
  };
  std::deque<Beat> beats(isa::reduceLatency(kind, kLanes));
  numerics::Reduction reduction;
  unsigned groups = 0;
  for (int cycle = 0; cycle < 60000; ++cycle) {
    const bool valid = bench.pick(6) != 0, last = bench.pick(4) == 0;
    // Most groups without NaN and infinity, some with only negative values, some
    // with exponents far apart, some with many equal lanes.
    const bool any = bench.pick(10) == 0, negative = cycle % 50 < 10;
    operands.spread = cycle % 300 < 100 ? 12 : cycle % 300 < 200 ? 60 : 250;
    const bool equal = cycle % 70 < 10;
    std::array<uint32_t, kLanes> row{};
    for (unsigned i = 0; i < kLanes; ++i) {
      row[i] = equal && i > 0 && bench.pick(3) ? row[i - 1] : operands.fp32();
      if (!any && (row[i] & 0x7F800000) == 0x7F800000)
        row[i] &= 0xBFFFFFFF;
      if (negative && i != 3)
        row[i] |= 0x80000000;
      setField(bench->value_i, i * 32, 32, row[i]);
    }
    Beat beat{valid, 0};
    if (valid) {
      beat.value = reduction.add(kind, row);
      if (last) {
        reduction.reset();
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

INSTANTIATE_TEST_SUITE_P(Kinds, VecReduce,
                         ::testing::Values(isa::Reduce::Max, isa::Reduce::Sum,
                                           isa::Reduce::Argmax));

} // namespace
} // namespace sluice::rtltest
