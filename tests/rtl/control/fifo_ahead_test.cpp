// fifo_ahead.sv against std::deque under random pushes and pops.
#include <deque>
#include <utility>

#include <gtest/gtest.h>

#include "Vrtl_fifo_ahead.h"
#include "tests/rtl/control/testbench.h"

namespace sluice::rtltest {
namespace {

TEST(FifoAhead, ShowsTheBitsOfTheHead) {
  constexpr unsigned kDepth = 4;
  for (uint32_t seed = 0; seed < 8; ++seed) {
    Testbench<Vrtl_fifo_ahead> fifo(seed);
    fifo->push_i = 0;
    fifo->pop_i = 0;
    fifo.reset();
    std::deque<std::pair<uint32_t, uint32_t>> model; // data, bits ahead
    bool wasFull = false, wasEmpty = false, wasPassed = false;
    for (int cycle = 0; cycle < 4000; ++cycle) {
      ASSERT_EQ(fifo->valid_o, !model.empty());
      ASSERT_EQ(fifo->full_o, model.size() == kDepth);
      if (!model.empty()) {
        ASSERT_EQ(fifo->head_o, model.front().first);
        ASSERT_EQ(fifo->ahead_o, model.front().second);
      }
      wasFull |= model.size() == kDepth;
      wasEmpty |= model.empty();
      // Phases that fill and phases that drain.
      const uint32_t bias = (cycle / 100) % 2 ? 3 : 1;
      const bool push = model.size() < kDepth && fifo.pick(4) < bias;
      const bool pop = !model.empty() && fifo.pick(4) >= bias;
      wasPassed |= push && pop && model.size() == 1; // the new item is the next head
      const std::pair item{fifo.pick(1u << 16), fifo.pick(1u << 5)};
      fifo->push_i = push;
      fifo->data_i = item.first;
      fifo->ahead_i = item.second;
      fifo->pop_i = pop;
      fifo.clock();
      if (pop)
        model.pop_front();
      if (push)
        model.push_back(item);
    }
    EXPECT_TRUE(wasFull && wasEmpty && wasPassed);
  }
}

} // namespace
} // namespace sluice::rtltest
