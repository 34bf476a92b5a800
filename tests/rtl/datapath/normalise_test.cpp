// normalise.sv against resultLane: random lanes, and every position of the leading
// one with ties and their neighbours below it.
#include <deque>
#include <vector>

#include <gtest/gtest.h>

#include SLUICE_MODULE_HEADER
#include "hw/numerics/numerics.h"
#include "tests/rtl/control/testbench.h"
#include "tests/rtl/datapath/wide.h"

namespace sluice::rtltest {
namespace {

using numerics::AccLane;

constexpr unsigned kLanes = 2;
constexpr int64_t kLargest = (int64_t{1} << 47) - 1, kSmallest = -(int64_t{1} << 47);

std::vector<int64_t> corners() {
  std::vector<int64_t> found = {0, 1, -1, kLargest, kSmallest, kSmallest + 1};
  for (unsigned top = 1; top < 47; ++top)
    for (unsigned kept : {7U, 8U, 23U, 24U})
      for (unsigned odd : {0U, 1U})
        for (int64_t near : {-1, 0, 1}) {
          int64_t m = int64_t{1} << top;
          if (top >= kept)
            m |= int64_t{odd} << (top - kept + 1) | int64_t{1} << (top - kept);
          found.push_back(m + near);
          found.push_back(-(m + near));
          found.push_back(((int64_t{1} << top) - 1) - near); // carries all the way up
        }
  return found;
}

TEST(Normalise, MatchesTheDefinition) {
  Testbench<SLUICE_MODULE> bench(3);
  bench->valid_i = 0;
  bench.reset();
  const std::vector<int64_t> list = corners();
  std::deque<std::pair<bool, std::array<uint32_t, kLanes>>> expected(SLUICE_STAGES - 1);
  unsigned checked = 0;
  const size_t cycles = list.size() * 8 + 60000;
  for (size_t cycle = 0; cycle < cycles; ++cycle) {
    const bool valid = bench.pick(16) != 0;
    const auto form = static_cast<isa::Emit>(1 + bench.pick(2) + (bench.pick(4) == 0 ? 3 : 0));
    std::array<uint32_t, kLanes> rounded{};
    for (unsigned i = 0; i < kLanes; ++i) {
      AccLane lane;
      if (cycle < list.size() * 8) {
        lane.m = list[(cycle / 8 + i) % list.size()];
      } else {
        const unsigned bits = 1 + bench.pick(47);
        const auto wide = static_cast<uint64_t>(bench.pick(1U << 24)) << 24 | bench.pick(1U << 24);
        lane.m = static_cast<int64_t>(wide >> (48 - bits)) * (bench.pick(2) ? 1 : -1);
      }
      // Around 13 the results underflow, around 46 they overflow.
      lane.q = bench.pick(3) ? 30 : bench.pick(64);
      lane.poison = bench.pick(50) == 0;
      setField(bench->lane_i, i * 55, 55, numerics::packLane(lane));
      rounded[i] = numerics::resultLane(lane, form);
    }
    bench->valid_i = valid;
    bench->fp32_i = form == isa::Emit::Fp32;
    bench->low_i = form == isa::Emit::Low;
    bench->high_i = form == isa::Emit::High;
    expected.emplace_back(valid, rounded);
    bench.settle();
    ASSERT_EQ(bench->valid_o, expected.front().first);
    if (expected.front().first)
      for (unsigned i = 0; i < kLanes; ++i) {
        ASSERT_EQ(field(bench->row_o, i * 32, 32), expected.front().second[i]) << "cycle " << cycle;
        ++checked;
      }
    expected.pop_front();
    bench.clock();
  }
  EXPECT_GT(checked, cycles);
}

} // namespace
} // namespace sluice::rtltest
