// The smallest program on c2b8: one row through one weight block and relu, from
// the host and back, on both flavours of the Verilated machine and on the model.
// Values and latency follow from docs/machine.md, not from an engine.
#include <algorithm>
#include <filesystem>

#include <gtest/gtest.h>

#include "hw/isa/isa.h"
#include "runtime/device/device.h"
#include "runtime/format/program.h"
#include "runtime/format/targets.h"

namespace sluice::device {
namespace {

constexpr uint32_t kLanes = 8;

uint16_t toBf16(float value) { return static_cast<uint16_t>(std::bit_cast<uint32_t>(value) >> 16); }

/// Small integers, so that every product and sum is exact in bf16.
int weight(uint32_t out, uint32_t in) { return static_cast<int>((3 * out + 5 * in) % 5) - 2; }

using Row = std::array<int, kLanes>;

std::vector<uint16_t> encodeRow(const Row &row) {
  std::vector<uint16_t> lanes;
  std::ranges::transform(row, std::back_inserter(lanes),
                         [](int x) { return toBf16(static_cast<float>(x)); });
  return lanes;
}

Row expected(const Row &x) {
  Row y{};
  for (uint32_t out = 0; out < kLanes; ++out) {
    for (uint32_t in = 0; in < kLanes; ++in)
      y[out] += weight(out, in) * x[in];
    y[out] = std::max(y[out], 0);
  }
  return y;
}

format::Program denseRelu() {
  format::Program program;
  program.geometry = *format::findPreset("c2b8");
  program.cores.resize(program.geometry.cores);

  isa::Mm mm;
  mm.waitEn = 1;
  mm.waitCount = 1;
  mm.init = isa::Init::Zero;
  mm.initLevel = 4;
  mm.emit = isa::Emit::Bf16;
  mm.emitLevel = 4;
  isa::Vec vec;
  vec.aSrc = isa::Source::Mxu;
  vec.post = isa::Post::Relu;
  vec.dstKind = isa::Dst::Net;
  vec.dst = 5;
  vec.mask = 1u << isa::kHostBit;
  isa::Input input;
  input.mask = 1;
  input.sigEn = 1;
  input.sigUnits = 1;
  input.sigLevel = 4;

  format::CoreImage &core = program.cores[0];
  core.instructions = {*isa::encode(mm), *isa::encode(vec), *isa::encode(isa::Restart{})};
  program.cores[1].instructions = {*isa::encode(isa::Halt{})};
  program.hostInstructions = {*isa::encode(input), *isa::encode(isa::Restart{})};

  format::WeightImage weights;
  for (uint32_t out = 0; out < kLanes; ++out)
    for (uint32_t in = 0; in < kLanes; ++in)
      weights.elements.push_back(toBf16(static_cast<float>(weight(out, in))));
  core.weights.push_back(weights);
  return program;
}

/// Cycles from the row's acceptance to the result's delivery, both included.
constexpr uint64_t spacedLatency() {
  constexpr uint64_t kElements = kLanes / 4;
  constexpr isa::Stages kStages;
  const uint64_t inFifo = 1, toInbox = kStages.netHop;
  const uint64_t multiply =
      isa::kMmRead + kStages.mmFanout + isa::kMmPe + kElements - 1 + kStages.mmNormalise;
  const uint64_t inResultFifo = 1, vector = isa::kVecRead + kStages.vecOut, inOutbox = 1;
  return inFifo + toInbox + multiply + inResultFifo + vector + inOutbox + kStages.netHop + 1;
}
static_assert(spacedLatency() == 26);

void idle(Device &device, unsigned cycles) {
  for (unsigned i = 0; i < cycles; ++i)
    EXPECT_FALSE(device.step(nullptr, true).output);
}

/// Offers the row to the resting machine and checks what comes back, and when.
void checkRow(Device &device, const Row &x) {
  const std::vector<uint16_t> row = encodeRow(x);
  ASSERT_TRUE(device.step(row.data(), true).inputTaken);
  for (uint64_t cycle = 2; cycle < spacedLatency(); ++cycle)
    ASSERT_FALSE(device.step(nullptr, true).output) << "cycle " << cycle;
  const Device::Cycle last = device.step(nullptr, true);
  ASSERT_TRUE(last.output);
  EXPECT_EQ(last.output->address, 5u);
  EXPECT_EQ(last.output->lanes, encodeRow(expected(x)));
  EXPECT_EQ(device.readRow(0, 0), row);
}

class Smoke : public ::testing::TestWithParam<const char *> {
protected:
  static std::unique_ptr<Device> make() {
    const std::string engine = GetParam();
    if (engine == "vm")
      return makeVm();
    return makeRtl(*format::findPreset("c2b8"), engine == "rtl_waves");
  }
};

TEST_P(Smoke, RowReturnsAfterTheLatencyOfTheContract) {
  const std::unique_ptr<Device> device = make();
  if (!device)
    GTEST_SKIP() << "this build has no " << GetParam() << " for c2b8";
  for (int load = 0; load < 2; ++load) {
    device->load(denseRelu());
    idle(*device, 40);
    checkRow(*device, {1, 2, 3, 4, -5, 6, 7, 8});
    idle(*device, 40);
    checkRow(*device, {-1, 0, 2, 0, 9, -9, 1, 3});
  }
}

TEST_P(Smoke, RestingUnitsSayWhatTheyWaitFor) {
  const std::unique_ptr<Device> device = make();
  if (!device)
    GTEST_SKIP() << "this build has no " << GetParam() << " for c2b8";
  device->load(denseRelu());
  idle(*device, 40);
  EXPECT_FALSE(device->step(nullptr, true).progress);
  const std::vector<UnitStatus> status = device->status();
  ASSERT_EQ(status.size(), 5u);
  EXPECT_EQ(status[0].unit, "matrix");
  EXPECT_EQ(status[0].block, UnitStatus::Block::Token);
  EXPECT_EQ(status[0].have, 0u);
  EXPECT_EQ(status[0].need, 1u);
  EXPECT_EQ(status[1].block, UnitStatus::Block::ResultFifoEmpty);
  EXPECT_EQ(status[1].instruction, 1u);
  EXPECT_EQ(status[2].block, UnitStatus::Block::Idle);
  EXPECT_EQ(status[4].unit, "input");
  EXPECT_EQ(status[4].block, UnitStatus::Block::HostInput);
  EXPECT_FALSE(device->tokenFault());
}

TEST_P(Smoke, TwoDevicesDoNotDisturbEachOther) {
  const std::unique_ptr<Device> one = make(), other = make();
  if (!one)
    GTEST_SKIP() << "this build has no " << GetParam() << " for c2b8";
  one->load(denseRelu());
  idle(*one, 40);
  other->load(denseRelu());
  idle(*other, 40);
  checkRow(*one, {1, 1, 1, 1, 1, 1, 1, 1});
  checkRow(*other, {2, 0, 0, -2, 0, 0, 0, 1});
}

INSTANTIATE_TEST_SUITE_P(Engines, Smoke, ::testing::Values("rtl", "rtl_waves", "vm"),
                         [](const auto &info) { return std::string(info.param); });

TEST(Waves, AreWrittenByTheFlavourThatHasThem) {
  const format::Geometry &geometry = *format::findPreset("c2b8");
  std::unique_ptr<Device> fast = makeRtl(geometry), waves = makeRtl(geometry, true);
  if (!waves)
    GTEST_SKIP() << "this build has no waves for c2b8";
  const std::filesystem::path path =
      std::filesystem::path(::testing::TempDir()) / "sluice_smoke.fst";
  std::filesystem::remove(path);
  if (fast) {
    EXPECT_FALSE(fast->setWaves(path.string()));
  }
  ASSERT_TRUE(waves->setWaves(path.string()));
  waves->load(denseRelu());
  idle(*waves, 40);
  checkRow(*waves, {1, 2, 3, 4, 5, 6, 7, 8});
  waves.reset(); // closes the file
  EXPECT_GT(std::filesystem::file_size(path), 1000u);
  std::filesystem::remove(path);
}

TEST(MakeRtl, RefusesWhatNoModelServes) {
  format::Geometry geometry = *format::findPreset("c2b8");
  geometry.weightBlocks *= 2;
  EXPECT_EQ(makeRtl(geometry), nullptr);
  geometry = *format::findPreset("c2b8");
  geometry.rtl = "none";
  EXPECT_EQ(makeRtl(geometry), nullptr);
}

} // namespace
} // namespace sluice::device
