// arbiter.sv: round robin from the one granted last, under random requests.
#include <gtest/gtest.h>

#include "Vrtl_arbiter.h"
#include "tests/rtl/control/testbench.h"

namespace sluice::rtltest {
namespace {

constexpr unsigned kRequesters = 7;

TEST(Arbiter, GrantsTheFirstRequesterAfterTheLastGranted) {
  Testbench<Vrtl_arbiter> arbiter(5);
  arbiter->request_i = 0;
  arbiter.reset();
  unsigned last = kRequesters - 1;
  for (int cycle = 0; cycle < 5000; ++cycle) {
    const unsigned request = arbiter.pick(4) ? arbiter.pick(1u << kRequesters) : 0;
    unsigned expected = 0;
    for (unsigned step = 1; step <= kRequesters && !expected; ++step)
      expected = request & (1u << ((last + step) % kRequesters));
    arbiter->request_i = request;
    arbiter.settle();
    ASSERT_EQ(arbiter->grant_o, expected);
    arbiter.clock();
    for (unsigned i = 0; i < kRequesters; ++i)
      if (expected >> i & 1)
        last = i;
  }
}

TEST(Arbiter, StarvesNobody) {
  Testbench<Vrtl_arbiter> arbiter(6);
  arbiter->request_i = 0;
  arbiter.reset();
  arbiter->request_i = (1u << kRequesters) - 1;
  for (unsigned cycle = 0; cycle < 3 * kRequesters; ++cycle) {
    arbiter.settle();
    EXPECT_EQ(arbiter->grant_o, 1u << (cycle % kRequesters));
    arbiter.clock();
  }
}

} // namespace
} // namespace sluice::rtltest
