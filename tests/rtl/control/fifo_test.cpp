// fifo.sv against std::deque under random pushes and pops.
#include <deque>

#include <gtest/gtest.h>

#include "Vrtl_fifo.h"
#include "tests/rtl/control/testbench.h"

namespace sluice::rtltest {
namespace {

TEST(Fifo, KeepsOrderUnderRandomTraffic) {
  constexpr unsigned kDepth = 8;
  for (uint32_t seed = 0; seed < 8; ++seed) {
    Testbench<Vrtl_fifo> fifo(seed);
    fifo->push_i = 0;
    fifo->write_i = 0;
    fifo->pop_i = 0;
    fifo.reset();
    std::deque<uint32_t> model;
    bool wasFull = false, wasEmpty = false;
    for (int cycle = 0; cycle < 4000; ++cycle) {
      ASSERT_EQ(fifo->valid_o, !model.empty());
      ASSERT_EQ(fifo->full_o, model.size() == kDepth);
      if (!model.empty())
        ASSERT_EQ(fifo->head_o, model.front());
      wasFull |= model.size() == kDepth;
      wasEmpty |= model.empty();
      // Phases that fill and phases that drain.
      const uint32_t bias = (cycle / 100) % 2 ? 3 : 1;
      const bool push = model.size() < kDepth && fifo.pick(4) < bias;
      const bool pop = !model.empty() && fifo.pick(4) >= bias;
      const uint32_t data = fifo.pick(1u << 16);
      fifo->push_i = push;
      fifo->write_i = push || (model.size() < kDepth && fifo.pick(2));
      fifo->data_i = data;
      fifo->pop_i = pop;
      fifo.clock();
      if (pop)
        model.pop_front();
      if (push)
        model.push_back(data);
    }
    EXPECT_TRUE(wasFull && wasEmpty);
  }
}

/// Drives push, pop and write regardless of what the queue says.
void force(bool push, bool pop, bool write) {
  reportToError();
  Testbench<Vrtl_fifo> fifo(1);
  fifo->push_i = 0;
  fifo->write_i = 0;
  fifo->pop_i = 0;
  fifo.reset();
  fifo->push_i = push;
  fifo->write_i = write;
  fifo->pop_i = pop;
  for (int cycle = 0; cycle < 10; ++cycle)
    fifo.clock();
}

TEST(Fifo, AssertsThatItsOwnerLooks) {
  EXPECT_DEATH(force(true, false, true), "Assertion failed in [^ ]*u_pointers: .*push_i");
  EXPECT_DEATH(force(false, true, false), "Assertion failed in [^ ]*u_pointers: .*pop_i");
  EXPECT_DEATH(force(true, false, false), "Assertion failed in [^ ]*fifo: .*push_i && !write_i");
}

TEST(Fifo, AssertsThatNothingIsWrittenIntoAFullQueue) {
  const auto overwrite = [] {
    reportToError();
    Testbench<Vrtl_fifo> fifo(1);
    fifo->push_i = 0;
    fifo->write_i = 0;
    fifo->pop_i = 0;
    fifo.reset();
    fifo->push_i = 1;
    fifo->write_i = 1;
    while (!fifo->full_o)
      fifo.clock();
    fifo->push_i = 0;
    fifo.clock();
  };
  EXPECT_DEATH(overwrite(), "Assertion failed in [^ ]*fifo: .*write_i && !push_i");
}

} // namespace
} // namespace sluice::rtltest
