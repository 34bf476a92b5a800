// The simulator's treatment of parity trees: fails if the flag that keeps Verilator
// from rewriting them is missing from the project's calls.
#include <initializer_list>
#include <random>

#include <gtest/gtest.h>

#include "Vrtl_xor_trees.h"

namespace sluice::rtltest {
namespace {

TEST(Toolchain, XorTreesKeepTheirPolarity) {
  std::mt19937 random(1);
  VerilatedContext context;
  Vrtl_xor_trees trees(&context);
  for (int trial = 0; trial < 1000; ++trial) {
    for (unsigned word = 0; word < 4; ++word)
      trees.x_i[word] = static_cast<uint32_t>(random());
    trees.eval();
    const auto parity = [&](std::initializer_list<unsigned> bits, unsigned inversions) {
      unsigned sum = inversions;
      for (unsigned bit : bits)
        sum += trees.x_i[bit / 32] >> (bit % 32) & 1;
      return sum % 2;
    };
    // Second argument: how many ~ and ~^ the tree has.
    ASSERT_EQ(trees.y_o & 1, parity({6, 79, 92, 61, 53, 15}, 5)) << "trial " << trial;
    ASSERT_EQ(trees.y_o >> 1 & 1, parity({35, 90, 126, 105, 10, 117, 69, 78, 55, 80, 90}, 11))
        << "trial " << trial;
    ASSERT_EQ(trees.y_o >> 2 & 1, parity({121, 19, 99, 121, 30, 66, 124, 74, 12, 38, 109}, 15))
        << "trial " << trial;
  }
}

} // namespace
} // namespace sluice::rtltest
