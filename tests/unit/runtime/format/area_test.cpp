#include "runtime/format/area.h"

#include <cmath>
#include <fstream>
#include <set>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "runtime/format/parts.h"
#include "runtime/format/targets.h"

namespace sluice::format {
namespace {

nlohmann::json fileOf(const std::string &name) {
  std::ifstream file(std::string(SLUICE_SOURCE_DIR "/hw/area/") + name);
  return nlohmann::json::parse(file);
}

/// The size that yosys counted of a machine.
Area sizeOf(const nlohmann::json &size) {
  Area area{.luts = size["luts"].get<uint64_t>() + size["lut_rams"].get<uint64_t>(),
            .flipFlops = size["flip_flops"],
            .dspBlocks = size["dsp_blocks"],
            .ultraRams = size["ultra_rams"]};
  area.blockRams = static_cast<uint64_t>(std::ceil(size["block_rams"].get<double>()));
  return area;
}

// The model was fitted to the units of hw/area/unit_sizes.json, not to these machines.
TEST(Area, IsWithinFivePercentOfWholeMachines) {
  const nlohmann::json machines = fileOf("whole_machines.json")["machines"];
  EXPECT_GE(machines.size(), 4);
  for (const auto &machine : machines) {
    const auto parsed = parseTarget(machine["target"].dump(), "whole_machines.json");
    ASSERT_TRUE(std::holds_alternative<Geometry>(parsed));
    const Area estimate = estimateArea(std::get<Geometry>(parsed));
    const Area counted = sizeOf(machine["size"]);
    for (const Resource &resource : resources()) {
      const auto value = static_cast<double>(counted.*resource.value);
      EXPECT_NEAR(static_cast<double>(estimate.*resource.value), value, 0.05 * value)
          << machine["target"]["name"] << " " << resource.title;
    }
    // These follow from the geometry alone.
    EXPECT_EQ(estimate.dspBlocks, counted.dspBlocks) << machine["target"]["name"];
    EXPECT_EQ(estimate.blockRams, counted.blockRams) << machine["target"]["name"];
    EXPECT_EQ(estimate.ultraRams, counted.ultraRams) << machine["target"]["name"];
  }
}

// A machine with as many lanes as a measured unit does not test how sizes grow with the lanes.
TEST(Area, IsTestedWithLanesThatNoUnitWasMeasuredWith) {
  const nlohmann::json units = fileOf("unit_sizes.json")["units"];
  const nlohmann::json machines = fileOf("whole_machines.json")["machines"];
  std::set<int> measured;
  for (const auto &unit : units)
    if (unit["field"] == "lanes")
      for (const auto &size : unit["sizes"])
        measured.insert(size["at"].get<int>());
  EXPECT_FALSE(measured.empty());
  std::set<int> tested;
  for (const auto &machine : machines)
    tested.insert(machine["target"]["lanes"].get<int>());
  for (const int lanes : measured)
    tested.erase(lanes);
  EXPECT_EQ(tested, (std::set<int>{4, 16}));
}

TEST(Area, IsThatOfAUnitWhereItWasMeasured) {
  // Columns of two elements of four and of 16 terms were measured: 8 x 8 and 32 x 32 multipliers,
  // and for each lane four in either arithmetic unit and one in the tables.
  const Geometry small = *findPreset("c2b8");
  EXPECT_EQ(estimateCore(small).dspBlocks, 8 * 8 + 8 * (2 * 4 + 1));
  EXPECT_EQ(estimateArea(small).dspBlocks, 2 * estimateCore(small).dspBlocks);
  EXPECT_EQ(estimateCore(*findPreset("c6b32")).dspBlocks, 32 * 32 + 32 * (2 * 4 + 1));
}

/// The LUTs of a unit as it was measured.
double lutsOf(const std::string &name, int at) {
  const nlohmann::json file = fileOf("unit_sizes.json");
  for (const auto &unit : file["units"])
    if (unit["unit"] == name)
      for (const auto &size : unit["sizes"])
        if (size["at"] == at)
          return size["luts"];
  ADD_FAILURE() << name << " was not measured at " << at;
  return 0;
}

TEST(Area, FollowsTheParabolaThroughMeasuredSizes) {
  const std::string first = "first element of a matrix column",
                    further = "further element of a matrix column";
  Geometry machine = *findPreset("c6b32");
  const auto lutsWith = [&](uint32_t terms) {
    machine.peTerms = terms;
    return static_cast<double>(estimateCore(machine).luts);
  };
  // Where elements were measured: one of 32 terms instead of two of 16, in 32 columns.
  EXPECT_NEAR(lutsWith(32) - lutsWith(16),
              32 * (lutsOf(first, 32) - lutsOf(first, 16) - lutsOf(further, 16)), 1);
  // Between: at 8 the parabola through 4, 16 and 32 has these shares of the three.
  const auto atEight = [&](const std::string &unit) {
    return 4. / 7 * lutsOf(unit, 4) + 1. / 2 * lutsOf(unit, 16) - 1. / 14 * lutsOf(unit, 32);
  };
  EXPECT_NEAR(
      lutsWith(8) - lutsWith(16),
      32 * (atEight(first) + 3 * atEight(further) - lutsOf(first, 16) - lutsOf(further, 16)), 1);
}

TEST(Area, IsLinearInTheCores) {
  Geometry machine = *findPreset("c6b32");
  const auto lutsWith = [&](uint32_t cores) {
    machine.cores = cores;
    return static_cast<double>(estimateArea(machine).luts);
  };
  EXPECT_NEAR(lutsWith(4), (lutsWith(2) + lutsWith(6)) / 2, 1);
  EXPECT_NEAR(lutsWith(8), 2 * lutsWith(6) - lutsWith(4), 2);
}

TEST(Area, StaysPositiveFarFromWhatWasMeasured) {
  // The smallest and the largest values that the loader takes, beyond all measured ones.
  for (uint32_t lanes = 4; lanes <= 64; lanes *= 2)
    for (uint32_t terms = 1; terms <= lanes; terms *= 2)
      for (const uint32_t rows : {1U, 4096U})
        for (const uint32_t cores : {1U, 8U}) {
          Geometry machine = *findPreset("c2b8");
          machine.lanes = lanes;
          machine.peTerms = terms;
          machine.cores = cores;
          machine.weightBlocks = machine.inboxRows = machine.localRows = machine.preloadRows =
              machine.instructions = machine.hostInstructions = rows;
          machine.accumulators = rows == 1 ? 1 : 256;
          machine.tables = rows == 1 ? 1 : 16;
          const Area core = estimateCore(machine), all = estimateArea(machine);
          for (const Resource &resource : resources()) {
            EXPECT_LE(core.*resource.value, all.*resource.value) << resource.name;
            EXPECT_LT(all.*resource.value, uint64_t{1} << 32) << resource.name << lanes << terms;
          }
          EXPECT_GT(core.luts, 1000U) << lanes << ", " << terms;
          EXPECT_GT(core.flipFlops, 1000U) << lanes << ", " << terms;
        }
}

TEST(Area, OfMoreCores) {
  Geometry machine = *findPreset("c6b32");
  const Area core = estimateCore(machine), six = estimateArea(machine);
  machine.cores = 7;
  const Area seven = estimateArea(machine);
  EXPECT_EQ(seven.dspBlocks - six.dspBlocks, core.dspBlocks);
  EXPECT_EQ(seven.ultraRams - six.ultraRams, core.ultraRams);
  EXPECT_EQ(seven.ramBits - six.ramBits, core.ramBits);
  // The network takes one more source.
  EXPECT_GT(seven.luts - six.luts, core.luts);
  EXPECT_LT(seven.luts - six.luts, core.luts + core.luts / 100);
}

TEST(Area, GrowsWithEveryField) {
  const Geometry preset = *findPreset("c6b32");
  const Area before = estimateArea(preset);
  for (const GeometryField &field : geometryFields()) {
    Geometry larger = preset;
    larger.*field.value += larger.*field.value;
    const Area area = estimateArea(larger);
    if (std::string(field.name) == "clock_mhz")
      EXPECT_EQ(area, before);
    else if (std::string(field.name) == "pe_terms")
      EXPECT_LT(area.flipFlops, before.flipFlops); // fewer sums of 48 bits
    else
      EXPECT_GT(static_cast<double>(area.luts) + static_cast<double>(area.ramBits),
                static_cast<double>(before.luts) + static_cast<double>(before.ramBits))
          << field.name;
  }
}

TEST(Area, EveryGeometryHasOne) {
  for (const uint32_t lanes : {4, 8, 16, 32, 64})
    for (uint32_t terms = 1; terms <= lanes; terms *= 2) {
      Geometry machine = *findPreset("c2b8");
      machine.lanes = lanes;
      machine.peTerms = terms;
      machine.cores = 1;
      const Area area = estimateArea(machine);
      for (const Resource &resource : resources())
        EXPECT_LT(area.*resource.value, 5'000'000) << lanes << " " << terms << resource.title;
      EXPECT_GT(area.luts, 10'000);
      EXPECT_GT(area.flipFlops, 5'000);
    }
}

TEST(Area, Text) {
  EXPECT_EQ(areaText({1'936'400, 1'295'000, 7'872, 2'746, 192, 0}),
            "about 1,940,000 LUTs, 1,300,000 flip-flops, 7,870 DSP blocks, 2,750 block RAMs, 192 "
            "UltraRAMs (estimate)");
  EXPECT_EQ(areaText({999, 1'000, 9'996, 0, 3, 0}),
            "about 999 LUTs, 1,000 flip-flops, 10,000 DSP blocks, 0 block RAMs, 3 UltraRAMs "
            "(estimate)");
}

} // namespace
} // namespace sluice::format
