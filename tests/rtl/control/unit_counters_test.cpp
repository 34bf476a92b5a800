// unit_counters.sv against an array: every cycle since the start counts once, what
// is read is complete at every moment, and a start or a reset clears it.
#include <array>
#include <numeric>

#include <gtest/gtest.h>

#include "Vrtl_unit_counters.h"
#include "tests/rtl/control/testbench.h"

namespace sluice::rtltest {
namespace {

using Counts = std::array<uint64_t, 8>;

Counts read(Testbench<Vrtl_unit_counters> &counters) {
  Counts counts{};
  for (unsigned state = 0; state < 8; ++state) {
    counters->readback_state_i = state;
    counters->readback_clk_i = 1;
    counters.settle();
    counters->readback_clk_i = 0;
    counters.settle();
    counts[state] = counters->readback_count_o;
  }
  return counts;
}

TEST(UnitCounters, CountEveryCycleSinceTheStart) {
  for (uint32_t seed = 0; seed < 4; ++seed) {
    Testbench<Vrtl_unit_counters> counters(seed);
    counters->start_i = 0;
    counters->state_i = 0;
    counters->readback_clk_i = 0;
    counters.reset();
    EXPECT_EQ(read(counters), Counts{}) << "random contents show";
    counters->state_i = 3;
    for (int cycle = 0; cycle < 5; ++cycle)
      counters.clock();
    EXPECT_EQ(read(counters), Counts{}) << "it counts before the start";
    for (int start = 0; start < 3; ++start) {
      counters->start_i = 1;
      counters->state_i = counters.pick(8);
      counters.clock();
      counters->start_i = 0;
      Counts model{};
      EXPECT_EQ(read(counters), model);
      unsigned state = 0;
      for (int cycle = 0; cycle < 2000; ++cycle) {
        // Long runs of one state, and changes in every cycle.
        if (cycle % 200 < 100 || counters.pick(10) == 0)
          state = counters.pick(8);
        counters->state_i = state;
        counters.clock();
        ++model[state];
        if (counters.pick(7) == 0)
          ASSERT_EQ(read(counters), model) << "cycle " << cycle;
      }
      EXPECT_EQ(std::accumulate(model.begin(), model.end(), uint64_t{0}), 2000U);
      EXPECT_EQ(read(counters), model);
    }
    counters.reset();
    EXPECT_EQ(read(counters), Counts{});
  }
}

} // namespace
} // namespace sluice::rtltest
