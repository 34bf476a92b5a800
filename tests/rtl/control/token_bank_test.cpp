// token_bank.sv against counters: several gives and one take in a cycle, and the
// fault of a counter that passes its maximum.
#include <array>

#include <gtest/gtest.h>

#include "Vrtl_token_bank.h"
#include "tests/rtl/control/testbench.h"

namespace sluice::rtltest {
namespace {

constexpr unsigned kGives = 3;

void idle(Testbench<Vrtl_token_bank> &bank) {
  bank->give_i = 0;
  bank->give_token_i = 0;
  bank->token_i = 0;
  bank->need_i = 1;
  bank->take_i = 0;
}

TEST(TokenBank, CountsGivesAndTakesOfOneCycle) {
  for (uint32_t seed = 0; seed < 8; ++seed) {
    Testbench<Vrtl_token_bank> bank(seed);
    idle(bank);
    bank.reset();
    std::array<unsigned, 32> model{};
    unsigned together = 0;
    for (int cycle = 0; cycle < 5000; ++cycle) {
      // Few tokens in use, so that gives meet each other and the take.
      const auto token = [&] { return bank.pick(8) ? bank.pick(3) : bank.pick(32); };
      const unsigned waited = token(), need = 1 + bank.pick(4);
      unsigned gives = 0, packed = 0;
      std::array<unsigned, kGives> given{};
      for (unsigned g = 0; g < kGives; ++g) {
        given[g] = token();
        packed |= given[g] << (5 * g);
        if (bank.pick(3) == 0 && model[given[g]] < 200)
          gives |= 1u << g;
      }
      bank->token_i = waited;
      bank->need_i = need;
      bank->give_i = gives;
      bank->give_token_i = packed;
      bank->take_i = 0;
      bank.settle();
      ASSERT_EQ(bank->have_o, model[waited]);
      ASSERT_EQ(bank->enough_o, model[waited] >= need);
      const bool take = bank->enough_o && bank.pick(2);
      bank->take_i = take;
      bank.clock();
      if (take)
        model[waited] -= need;
      for (unsigned g = 0; g < kGives; ++g)
        if (gives >> g & 1) {
          ++model[given[g]];
          together += take && given[g] == waited;
        }
      ASSERT_FALSE(bank->fault_o);
    }
    EXPECT_GT(together, 0u);
  }
}

TEST(TokenBank, FaultsOnlyPastTheMaximum) {
  Testbench<Vrtl_token_bank> bank(1);
  idle(bank);
  bank.reset();
  bank->give_i = 1;
  bank->give_token_i = 7;
  bank->token_i = 7;
  for (int i = 0; i < 255; ++i)
    bank.clock();
  EXPECT_EQ(bank->have_o, 255);
  EXPECT_FALSE(bank->fault_o);
  // Giving and taking at the maximum stays there.
  bank->take_i = 1;
  bank.clock();
  EXPECT_EQ(bank->have_o, 255);
  EXPECT_FALSE(bank->fault_o);
  bank->take_i = 0;
  bank.clock();
  EXPECT_TRUE(bank->fault_o);
  bank->give_i = 0;
  bank.clock();
  EXPECT_TRUE(bank->fault_o);
  // It stays, also when the counter goes on.
  bank->give_i = 1;
  bank.clock();
  bank.clock();
  EXPECT_TRUE(bank->fault_o);
  idle(bank);
  bank.reset();
  EXPECT_FALSE(bank->fault_o);
}

TEST(TokenBank, AssertsThatWhatIsTakenIsThere) {
  const auto takeNothing = [] {
    reportToError();
    Testbench<Vrtl_token_bank> bank(1);
    idle(bank);
    bank.reset();
    bank->take_i = 1;
    bank.clock();
  };
  EXPECT_DEATH(takeNothing(), "Assertion failed in [^ ]*token_bank: .*take_i");
}

} // namespace
} // namespace sluice::rtltest
