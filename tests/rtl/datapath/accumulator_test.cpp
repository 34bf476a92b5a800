// accumulator.sv: a beat in almost every cycle on few accumulators and preload
// rows, so that every forwarding path is taken, against sequential anchored adds
// and the contract's cycles for the preload rows.
#include <array>
#include <deque>
#include <utility>

#include <gtest/gtest.h>

#include SLUICE_MODULE_HEADER
#include "hw/numerics/numerics.h"
#include "tests/rtl/control/testbench.h"
#include "tests/rtl/datapath/wide.h"

namespace sluice::rtltest {
namespace {

using numerics::AccLane;

constexpr unsigned kLanes = 2, kAccumulators = 8, kRows = 16;
using Row = std::array<AccLane, kLanes>;

struct Beat {
  int age = -2; // cycle relative to A
  bool valid = false, zero = false, preload = false, raw = false;
  unsigned acc = 0, p = 0;
  Row chain, start, result;
};

uint64_t image(const AccLane &lane) { return numerics::packLane(lane); }

class Model {
public:
  explicit Model(uint32_t seed) : bench(seed) {
    bench->valid_i = 0;
    bench->read_i = 0;
    bench->cfg_preload_i = 0;
    bench.reset();
    for (unsigned row = 0; row < kRows; ++row) {
      for (unsigned i = 0; i < kLanes; ++i)
        preload[row][i] = lane();
      for (unsigned quarter = 0; quarter < 4; ++quarter) {
        bench->cfg_preload_i = 1;
        bench->cfg_addr_i = row * 4 + quarter;
        for (unsigned i = 0; i < kLanes; ++i)
          setField(bench->cfg_data_i, i * 16, 16, image(preload[row][i]) >> (16 * quarter));
        bench.clock();
      }
    }
    bench->cfg_preload_i = 0;
  }

  AccLane lane() {
    // Few anchors and sums that do not wrap the accumulators in a run.
    const auto m = static_cast<int64_t>(bench.pick(1U << 31)) << bench.pick(8);
    return {bench.pick(2) ? m : -m,
            static_cast<uint8_t>(bench.pick(6) ? 30 + bench.pick(4) : bench.pick(64)),
            bench.pick(40) == 0};
  }

  Beat randomBeat() {
    Beat beat;
    beat.valid = bench.pick(8) != 0;
    const unsigned init = bench.pick(6);
    beat.zero = init == 0;
    beat.preload = init == 1;
    beat.raw = bench.pick(3) == 0;
    beat.acc = bench.pick(2) ? bench.pick(2) : bench.pick(kAccumulators);
    beat.p = bench.pick(2) ? bench.pick(2) : bench.pick(kRows);
    const bool poison = bench.pick(30) == 0;
    for (AccLane &one : beat.chain) {
      one = lane();
      one.poison = poison;
    }
    return beat;
  }

  void cycle() {
    // The preload row is read a cycle before the control of the beat comes.
    const Beat beat = std::exchange(next, randomBeat());
    bench->read_i = next.valid && next.preload;
    bench->read_p_i = next.p;
    bench->valid_i = beat.valid;
    bench->zero_i = beat.zero;
    bench->preload_i = beat.preload;
    bench->raw_i = beat.raw;
    bench->acc_i = beat.acc;
    bench->p_i = beat.p;
    if (beat.valid)
      beats.push_back(beat);
    // Data of the beats that are further on; noise where there is none.
    bench->poison_i = bench.pick(2);
    for (unsigned i = 0; i < kLanes; ++i) {
      setField(bench->anchor_i, i * 6, 6, bench.pick(64));
      setField(bench->sum_i, i * 48, 48, bench.pick(~0U));
    }
    for (Beat &one : beats)
      step(one);
    bench.settle();
    if (!beats.empty() && beats.front().age > 1) {
      for (unsigned i = 0; i < kLanes; ++i)
        ASSERT_EQ(field(bench->lane_o, i * 55, 55), image(beats.front().result[i])) << "lane " << i;
      ++checked;
      beats.pop_front();
    }
    bench.clock();
    if (written) {
      preload[writtenRow] = writtenData;
      written = false;
    }
  }

  Testbench<SLUICE_MODULE> bench;
  unsigned checked = 0, chained = 0, reread = 0;

private:
  /// One cycle of docs/machine.md for a beat; ages it.
  void step(Beat &beat) {
    if (beat.age == -1) {
      beat.start = preload[beat.p]; // as at the start of A-1
      reread += beat.preload && writtenRow == beat.p;
      bench->poison_i = beat.chain[0].poison;
      for (unsigned i = 0; i < kLanes; ++i)
        setField(bench->anchor_i, i * 6, 6, beat.chain[i].q);
    } else if (beat.age == 0) {
      chained += !beat.zero && !beat.preload && beat.acc == lastAcc;
      lastAcc = beat.acc;
      for (unsigned i = 0; i < kLanes; ++i) {
        setField(bench->sum_i, i * 48, 48, static_cast<uint64_t>(beat.chain[i].m));
        AccLane old = accumulators[beat.acc][i];
        if (beat.zero)
          old = {};
        if (beat.preload)
          old = beat.start[i];
        beat.result[i] = numerics::anchoredAdd(old, beat.chain[i]);
        accumulators[beat.acc][i] = beat.result[i];
      }
    } else if (beat.age == 1 && beat.raw) {
      written = true; // seen from the next cycle on
      writtenRow = beat.p;
      writtenData = beat.result;
    }
    ++beat.age;
  }

  std::array<Row, kAccumulators> accumulators{};
  std::array<Row, kRows> preload{};
  std::deque<Beat> beats;
  Beat next; ///< invalid at first
  unsigned lastAcc = 0, writtenRow = 0;
  bool written = false;
  Row writtenData{};
};

TEST(Accumulator, SequentialHoweverClose) {
  for (uint32_t seed = 0; seed < 6; ++seed) {
    Model model(seed);
    for (int cycle = 0; cycle < 4000 && !::testing::Test::HasFatalFailure(); ++cycle)
      model.cycle();
    EXPECT_GT(model.checked, 3000U);
    EXPECT_GT(model.chained, 300U);
    EXPECT_GT(model.reread, 50U);
  }
}

} // namespace
} // namespace sluice::rtltest
