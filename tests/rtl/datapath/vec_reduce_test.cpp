// Compares vec_reduce.sv with the library: every kind, alone and behind other kinds, in groups of
// random length with gaps inside. Some values cancel, overflow, are equal or are no numbers.
#include <array>
#include <map>
#include <vector>

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

class VecReduce : public ::testing::TestWithParam<std::vector<isa::Reduce>> {};

TEST_P(VecReduce, LanesAndBeats) {
  const std::vector<isa::Reduce> &kinds = GetParam();
  Testbench<SLUICE_MODULE> bench(1);
  numerics::testing::Operands operands(51);
  bench->valid_i = 0;
  bench.reset();
  /// What leaves in a cycle, for the second arithmetic unit and for the output.
  using Exit = std::map<int, uint32_t>;
  std::array<Exit, 2> exits;
  numerics::Reduction reduction;
  unsigned groups = 0, together = 0;
  isa::Reduce kind = kinds.front();
  bool fresh = true, alu2 = false;
  for (int cycle = 0; cycle < 60000; ++cycle) {
    const bool last = bench.pick(4) == 0;
    if (fresh) {
      kind = kinds[bench.pick(static_cast<uint32_t>(kinds.size()))];
      alu2 = bench.pick(2) != 0;
    }
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
    // A beat that would leave together with another one comes later.
    Exit &exit = exits[alu2 ? 0 : 1];
    const int leaves = cycle + static_cast<int>(isa::Latencies{kLanes, kLanes, {}}.reduce(kind));
    const bool valid = bench.pick(6) != 0 && !exit.contains(leaves);
    if (valid) {
      exit[leaves] = reduction.add(kind, row);
      fresh = last;
      if (last) {
        reduction.reset();
        ++groups;
      }
    }
    bench->valid_i = valid;
    bench->way_i = static_cast<uint8_t>(static_cast<unsigned>(kind) << 2 | (last ? 2U : 0U) |
                                        (alu2 ? 1U : 0U));
    bench.settle();
    const auto toAlu2 = exits[0].find(cycle), toOut = exits[1].find(cycle);
    ASSERT_EQ(bench->alu2_valid_o, toAlu2 != exits[0].end()) << "cycle " << cycle;
    ASSERT_EQ(bench->out_valid_o, toOut != exits[1].end()) << "cycle " << cycle;
    if (toAlu2 != exits[0].end())
      ASSERT_EQ(bench->alu2_value_o, toAlu2->second) << "cycle " << cycle;
    if (toOut != exits[1].end())
      ASSERT_EQ(bench->out_value_o, toOut->second) << "cycle " << cycle;
    together += toAlu2 != exits[0].end() && toOut != exits[1].end() ? 1 : 0;
    bench.clock();
  }
  EXPECT_GT(groups, 5000U);
  EXPECT_EQ(together > 100, kinds.size() > 1); // two kinds leave in one cycle
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, VecReduce,
    ::testing::Values(std::vector{isa::Reduce::Max}, std::vector{isa::Reduce::Sum},
                      std::vector{isa::Reduce::Argmax},
                      std::vector{isa::Reduce::Max, isa::Reduce::Sum, isa::Reduce::Argmax}));

} // namespace
} // namespace sluice::rtltest
