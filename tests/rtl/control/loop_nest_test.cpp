// loop_nest.sv and loop_address.sv against the definition: base + sum of trip *
// stride, in a ring or not, first and last at every level, with random pauses between
// beats.
#include <array>

#include <gtest/gtest.h>

#include "Vrtl_loop_nest.h"
#include "tests/rtl/control/testbench.h"

namespace sluice::rtltest {
namespace {

constexpr uint32_t kMask = (1u << 18) - 1;

struct Nest {
  std::array<uint32_t, 4> n{};
  std::array<uint32_t, 4> stride{};
  uint32_t base = 0;
  uint32_t ring = 0;
};

Nest randomNest(Testbench<Vrtl_loop_nest> &walk) {
  Nest nest;
  for (unsigned l = 0; l < 4; ++l) {
    nest.n[l] = walk.pick(3) ? 1 + walk.pick(4) : 1;
    nest.stride[l] = walk.pick(1u << 18);
  }
  nest.base = walk.pick(1u << 18);
  nest.ring = walk.pick(2) ? walk.pick(16) : 0;
  return nest;
}

/// Bits `level` of first and last for trips `i`.
std::pair<unsigned, unsigned> flags(const Nest &nest, const std::array<uint32_t, 4> &i) {
  unsigned first = 0, last = 0;
  for (unsigned level = 0; level <= 4; ++level) {
    bool allFirst = true, allLast = true;
    for (unsigned l = level; l < 4; ++l) {
      allFirst &= i[l] == 0;
      allLast &= i[l] == nest.n[l] - 1;
    }
    first |= static_cast<unsigned>(allFirst) << level;
    last |= static_cast<unsigned>(allLast) << level;
  }
  return {first, last};
}

void load(Testbench<Vrtl_loop_nest> &walk, const Nest &nest) {
  walk->n_i = 0;
  uint64_t n = 0;
  for (unsigned l = 0; l < 4; ++l)
    n |= uint64_t{nest.n[l]} << (12 * l);
  walk->n_i = n;
  // 72 bits in three words.
  uint64_t low = 0;
  for (unsigned l = 0; l < 4; ++l)
    low |= uint64_t{nest.stride[l]} << (18 * l);
  walk->stride_i[0] = static_cast<uint32_t>(low);
  walk->stride_i[1] = static_cast<uint32_t>(low >> 32);
  walk->stride_i[2] = nest.stride[3] >> 10;
  walk->base_i = nest.base;
  walk->ring_i = nest.ring;
  walk->load_i = 1;
  walk->move_i = 1;
  walk.clock();
  walk->load_i = 0;
}

void checkNest(Testbench<Vrtl_loop_nest> &walk, const Nest &nest) {
  load(walk, nest);
  std::array<uint32_t, 4> i{};
  for (;;) {
    uint32_t address = nest.base;
    for (unsigned l = 0; l < 4; ++l)
      address += i[l] * nest.stride[l];
    if (nest.ring != 0) {
      const uint32_t rows = 1u << nest.ring;
      address = nest.base / rows * rows + address % rows;
    }
    for (uint32_t pause = walk.pick(3); pause; --pause) {
      walk->move_i = 0;
      walk.clock();
    }
    const auto [first, last] = flags(nest, i);
    ASSERT_EQ(walk->address_o, address & kMask);
    ASSERT_EQ(walk->first_o, first);
    ASSERT_EQ(walk->last_o, last);
    if (last & 1)
      return;
    for (unsigned l = 4; l-- > 0;) {
      if (++i[l] < nest.n[l])
        break;
      i[l] = 0;
    }
    walk->move_i = 1;
    walk.settle();
    const auto [nextFirst, nextLast] = flags(nest, i);
    ASSERT_EQ(walk->next_first_o, nextFirst);
    ASSERT_EQ(walk->next_last_o, nextLast);
    walk.clock();
  }
}

TEST(LoopNest, WalksRandomNests) {
  Testbench<Vrtl_loop_nest> walk(3);
  walk->move_i = 0;
  walk->load_i = 0;
  walk.reset();
  for (int nest = 0; nest < 500; ++nest)
    ASSERT_NO_FATAL_FAILURE(checkNest(walk, randomNest(walk)));
}

TEST(LoopNest, CountsToTheLargestTrip) {
  Testbench<Vrtl_loop_nest> walk(4);
  walk->move_i = 0;
  walk->load_i = 0;
  walk.reset();
  for (unsigned l = 0; l < 4; ++l) {
    Nest nest{{1, 1, 1, 1}, {1, 2, 3, 4}, 5};
    nest.n[l] = 4095;
    ASSERT_NO_FATAL_FAILURE(checkNest(walk, nest));
  }
}

TEST(LoopNest, WrapsAtBothEndsOfEveryRing) {
  constexpr uint32_t kBack = kMask; // a stride of -1
  Testbench<Vrtl_loop_nest> walk(6);
  walk->move_i = 0;
  walk->load_i = 0;
  walk.reset();
  for (uint32_t ring = 1; ring <= 15; ++ring) {
    const uint32_t first = 5u << ring, last = first + (1u << ring) - 1;
    for (const Nest &nest : {Nest{{1, 1, 2, 3}, {0, 0, 2, 1}, last, ring},
                             Nest{{2, 1, 1, 3}, {1, 0, 0, kBack}, first, ring},
                             Nest{{1, 3, 1, 2}, {0, kBack - 1, 0, 1}, first + 1, ring}})
      ASSERT_NO_FATAL_FAILURE(checkNest(walk, nest));
  }
}

TEST(LoopNest, AssertsThatNoStepPassesTheLast) {
  const auto stepOn = [] {
    reportToError();
    Testbench<Vrtl_loop_nest> walk(5);
    walk->move_i = 0;
    walk->load_i = 0;
    walk.reset();
    load(walk, {{1, 1, 1, 2}, {}, 0});
    for (int step = 0; step < 3; ++step)
      walk.clock();
  };
  EXPECT_DEATH(stepOn(), "Assertion failed in [^ ]*u_nest: .*move_i");
}

} // namespace
} // namespace sluice::rtltest
