// vec_out.sv against the library: every upper half with the lower halves that
// decide the rounding, with and without relu, and each half of the bits.
#include <array>

#include <gtest/gtest.h>

#include SLUICE_MODULE_HEADER
#include "hw/numerics/numerics.h"
#include "tests/rtl/control/testbench.h"
#include "tests/rtl/datapath/wide.h"

namespace sluice::rtltest {
namespace {

constexpr unsigned kLanes = 2;

TEST(VecOut, EveryUpperHalf) {
  Testbench<SLUICE_MODULE> bench(1);
  bench->valid_i = 0;
  bench.reset();
  for (uint32_t low : {0x0000U, 0x0001U, 0x7FFFU, 0x8000U, 0x8001U, 0xFFFFU})
    for (uint32_t upper = 0; upper < 65536; ++upper) {
      const isa::Post post = bench.pick(2) ? isa::Post::Relu : isa::Post::None;
      const auto part = static_cast<isa::Part>(bench.pick(3));
      const std::array<uint32_t, kLanes> in = {upper << 16 | low, (upper ^ 0x8000) << 16 | low};
      for (unsigned i = 0; i < kLanes; ++i)
        setField(bench->value_i, i * 32, 32, in[i]);
      bench->relu_i = post == isa::Post::Relu;
      bench->part_i = static_cast<uint8_t>(part);
      bench->valid_i = 1;
      bench.clock();
      ASSERT_TRUE(bench->valid_o);
      for (unsigned i = 0; i < kLanes; ++i)
        ASSERT_EQ(field(bench->row_o, i * 16, 16), numerics::finish(post, in[i], part))
            << std::hex << in[i];
      // Nothing moves without a beat.
      bench->valid_i = 0;
      bench->relu_i = !bench->relu_i;
      bench->part_i = bench->part_i ^ 3;
      bench.clock();
      ASSERT_FALSE(bench->valid_o);
      ASSERT_EQ(field(bench->row_o, 0, 16), numerics::finish(post, in[0], part));
    }
}

} // namespace
} // namespace sluice::rtltest
