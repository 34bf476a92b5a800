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
  bank->load_i = 0;
  bank->load_token_i = 0;
  bank->load_step_i = 0;
  bank->step_i = 0;
  bank->need_i = 1;
  bank->take_i = 0;
}

/// From the next cycle on, the bank waits for `token`, always the same one.
void waitFor(Testbench<Vrtl_token_bank> &bank, unsigned token) {
  bank->load_i = 1;
  bank->load_token_i = token;
  bank.clock();
  bank->load_i = 0;
}

TEST(TokenBank, CountsGivesAndTakesOfOneCycle) {
  for (uint32_t seed = 0; seed < 8; ++seed) {
    Testbench<Vrtl_token_bank> bank(seed);
    idle(bank);
    bank.reset();
    waitFor(bank, 0);
    std::array<unsigned, 32> model{};
    unsigned waited = 0, step = 0, together = 0, steps = 0, reloads = 0;
    for (int cycle = 0; cycle < 5000; ++cycle) {
      // Few tokens in use, so that gives meet each other and the take.
      const auto token = [&] { return bank.pick(8) ? bank.pick(3) : bank.pick(32); };
      const unsigned need = 1 + bank.pick(4);
      unsigned gives = 0, packed = 0;
      std::array<unsigned, kGives> given{};
      for (unsigned g = 0; g < kGives; ++g) {
        given[g] = token();
        packed |= given[g] << (5 * g);
        if (bank.pick(3) == 0 && model[given[g]] < 200)
          gives |= 1u << g;
      }
      const bool load = bank.pick(4) == 0;
      const unsigned next = token(), nextStep = bank.pick(3) ? bank.pick(3) : bank.pick(32);
      bank->load_i = load;
      bank->load_token_i = next;
      bank->load_step_i = nextStep;
      bank->step_i = step;
      bank->need_i = need;
      bank->give_i = gives;
      bank->give_token_i = packed;
      bank->take_i = 0;
      bank.settle();
      ASSERT_EQ(bank->token_o, waited);
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
      steps += take && !load && step != 0;
      reloads += take && load && next == waited;
      if (load) {
        waited = next;
        step = nextStep;
      } else if (take) {
        waited = (waited + step) % 32;
      }
      ASSERT_FALSE(bank->fault_o);
    }
    EXPECT_GT(together, 0u);
    EXPECT_GT(steps, 0u);
    EXPECT_GT(reloads, 0u);
  }
}

TEST(TokenBank, FaultsOnlyPastTheMaximum) {
  Testbench<Vrtl_token_bank> bank(1);
  idle(bank);
  bank.reset();
  waitFor(bank, 7);
  bank->give_i = 1;
  bank->give_token_i = 7;
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
