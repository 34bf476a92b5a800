#include "runtime/format/area.h"

#include <array>
#include <fstream>
#include <regex>
#include <sstream>

#include <gtest/gtest.h>

#include "runtime/format/targets.h"

namespace sluice::format {
namespace {

/// The machine of a target in docs/hardware.md: LUTs, flip-flops, DSP blocks; RAM blocks of 36 and
/// 288 Kbit. Its estimates are sums of the measured units by hand (tools/unit_sizes.json).
std::array<double, 5> pageOf(const std::string &target) {
  const std::ifstream file(SLUICE_SOURCE_DIR "/docs/hardware.md");
  std::stringstream text;
  text << file.rdbuf();
  std::string page = text.str();
  const std::regex row("\\| " + target +
                       R"( \| \d+ cores, network, host port \| ([\d,]+) \| [\d,]+ \| ([\d,]+) )"
                       R"(\| [\d,]+ \| ([\d,]+) \| ([\d,]+) \| ([\d,]+) \|)");
  std::smatch found;
  std::array<double, 5> values{};
  if (!std::regex_search(page, found, row))
    return values;
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = std::stod(std::regex_replace(found[i + 1].str(), std::regex(","), ""));
  return values;
}

TEST(Area, IsThatOfThePage) {
  for (const std::string target : {"c6b32", "c3b64"}) {
    const Area area = estimateArea(*findPreset(target));
    const auto [luts, flops, dsps, rams, largeRams] = pageOf(target);
    EXPECT_GT(luts, 1e6) << target;
    EXPECT_NEAR(static_cast<double>(area.luts), luts, 0.02 * luts) << target;
    EXPECT_NEAR(static_cast<double>(area.flipFlops), flops, 0.02 * flops) << target;
    EXPECT_NEAR(static_cast<double>(area.dspBlocks), dsps, 0.02 * dsps) << target;
    // RAM blocks waste what a memory does not fill.
    const double blocks = rams * 36 * 1024 + largeRams * 288 * 1024;
    EXPECT_LT(static_cast<double>(area.ramBits), blocks) << target;
    EXPECT_GT(static_cast<double>(area.ramBits), 0.9 * blocks) << target;
  }
}

TEST(Area, OfMeasuredColumns) {
  // The elements of c2b8 were measured, too: what two more cores add has two more of everything.
  Geometry machine = *findPreset("c2b8");
  const Area two = estimateArea(machine);
  machine.cores = 4;
  const Area four = estimateArea(machine);
  EXPECT_EQ(two.dspBlocks, 2 * (8 * 8 + 8 * (2 * 4 + 1)));
  EXPECT_EQ(four.dspBlocks, 2 * two.dspBlocks);
  EXPECT_EQ(four.ramBits - two.ramBits, two.ramBits - uint64_t{machine.hostInstructions} * 576);
}

TEST(Area, GrowsWithEveryField) {
  const Geometry preset = *findPreset("c6b32");
  const Area before = estimateArea(preset);
  for (const GeometryField &field : geometryFields()) {
    Geometry larger = preset;
    larger.*field.value += larger.*field.value;
    const Area area = estimateArea(larger);
    if (std::string(field.name) == "clock_mhz")
      EXPECT_EQ(area.luts, before.luts);
    else if (std::string(field.name) == "pe_terms")
      EXPECT_LT(area.luts, before.luts); // fewer adders
    else
      EXPECT_GT(static_cast<double>(area.luts) + static_cast<double>(area.ramBits),
                static_cast<double>(before.luts) + static_cast<double>(before.ramBits))
          << field.name;
  }
}

TEST(Area, Text) {
  EXPECT_EQ(
      areaText({1'936'400, 1'295'000, 7'872, 148'136'000}),
      "about 1,940,000 LUTs, 1,300,000 flip-flops, 7,870 DSP blocks, 148 Mbit of RAM (estimate)");
  EXPECT_EQ(areaText({999, 1'000, 9'996, 400'000}),
            "about 999 LUTs, 1,000 flip-flops, 10,000 DSP blocks, 0 Mbit of RAM (estimate)");
}

} // namespace
} // namespace sluice::format
