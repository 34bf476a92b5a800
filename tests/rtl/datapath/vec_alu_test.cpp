// vec_alu.sv against the library: every operation, mixed in a stream with gaps.
#include <array>
#include <deque>

#include <gtest/gtest.h>

#include SLUICE_MODULE_HEADER
#include "hw/numerics/numerics.h"
#include "tests/rtl/control/testbench.h"
#include "tests/rtl/datapath/wide.h"
#include "tests/unit/hw/numerics/operands.h"

namespace sluice::rtltest {
namespace {

constexpr unsigned kLanes = 2;

struct Beat {
  bool valid = false;
  unsigned op = 0;
  std::array<uint32_t, kLanes> left{}, right{}, result{};
};

TEST(VecAlu, EveryOperation) {
  Testbench<SLUICE_MODULE> bench(1);
  numerics::testing::Operands operands(31);
  bench->valid_i = 0;
  bench.reset();
  std::deque<Beat> beats(SLUICE_STAGES);
  std::array<unsigned, 16> checked{};
  for (int cycle = 0; cycle < 300000; ++cycle) {
    operands.spread = cycle % 3 == 0 ? 3 : cycle % 3 == 1 ? 26 : 200;
    Beat beat;
    beat.valid = bench.pick(8) != 0;
    // Two thirds are the operations that round.
    const unsigned kind = bench.pick(3);
    beat.op = kind == 0   ? 1 + bench.pick(static_cast<unsigned>(isa::Alu::Select))
              : kind == 1 ? static_cast<unsigned>(isa::Alu::Add) + bench.pick(3)
                          : static_cast<unsigned>(isa::Alu::Mul);
    for (unsigned i = 0; i < kLanes; ++i) {
      beat.left[i] = operands.fp32();
      // Equal and nearly equal magnitudes cancel; products come near the limits.
      const unsigned relation = bench.pick(8);
      beat.right[i] = operands.fp32();
      if (relation == 0)
        beat.right[i] = beat.left[i] ^ bench.pick(2) << 31;
      if (relation == 1)
        beat.right[i] = (beat.left[i] ^ 0x80000000) + bench.pick(5) - 2;
      if (relation == 2 && beat.op == static_cast<unsigned>(isa::Alu::Mul)) {
        const unsigned exponent = (beat.left[i] >> 23) & 255, sum = bench.pick(2) ? 127 : 381;
        const unsigned other = std::min(
            std::max(static_cast<int>(sum - exponent) + static_cast<int>(bench.pick(4)) - 2, 1),
            254);
        beat.right[i] = (beat.right[i] & 0x807FFFFF) | other << 23;
      }
      const auto b = static_cast<uint16_t>(operands.bf16(false)), c = operands.bf16(false);
      setField(bench->left_i, i * 32, 32, beat.left[i]);
      setField(bench->right_i, i * 32, 32, beat.right[i]);
      setField(bench->b_i, i * 16, 16, b);
      setField(bench->c_i, i * 16, 16, c);
      beat.result[i] =
          numerics::alu(static_cast<isa::Alu>(beat.op), beat.left[i], beat.right[i],
                        static_cast<uint32_t>(b) << 16, static_cast<uint32_t>(c) << 16);
    }
    bench->valid_i = beat.valid;
    bench->op_i = beat.op;
    beats.push_back(beat);
    bench.settle();
    const Beat &done = beats.front();
    ASSERT_EQ(bench->valid_o, done.valid);
    for (unsigned i = 0; done.valid && i < kLanes; ++i) {
      ASSERT_EQ(field(bench->result_o, i * 32, 32), done.result[i])
          << "operation " << done.op << std::hex << " of " << done.left[i] << " and "
          << done.right[i];
      ++checked[done.op];
    }
    beats.pop_front();
    bench.clock();
  }
  for (unsigned op = 1; op <= static_cast<unsigned>(isa::Alu::Select); ++op)
    EXPECT_GT(checked[op], 5000U) << "operation " << op;
}

} // namespace
} // namespace sluice::rtltest
