#include "runtime/format/parts.h"

#include <gtest/gtest.h>

#include "runtime/format/targets.h"

namespace sluice::format {
namespace {

Part partOf(uint64_t each) { return {"P", "a part", {each, each, each, each, each}}; }

std::string verdict(const Area &machine) { return fitText(fitOf(machine, partOf(1000))); }

TEST(Parts, AreOrderedBySize) {
  ASSERT_EQ(parts().size(), 5);
  for (size_t i = 0; i < parts().size(); ++i) {
    EXPECT_FALSE(parts()[i].name.empty());
    for (const Resource &resource : resources())
      EXPECT_GT(parts()[i].size.*resource.value, 0) << parts()[i].name << resource.name;
    if (i > 0)
      EXPECT_LT(parts()[i].size.luts, parts()[i - 1].size.luts);
  }
}

TEST(Parts, TheResourceWithTheLargestShareDecides) {
  EXPECT_EQ(verdict({850, 100, 100, 100, 100}), "fits");
  EXPECT_EQ(verdict({920, 900, 100, 100, 100}), "tight: 92 % of its LUTs");
  EXPECT_EQ(verdict({920, 100, 100, 1000, 100}), "tight: 100 % of its block RAMs");
  EXPECT_EQ(verdict({1120, 100, 100, 100, 100}), "too small: 1.12 times its LUTs");
  EXPECT_EQ(verdict({100, 100, 1001, 100, 100}), "too small: 1.01 times its DSP blocks");
  EXPECT_EQ(verdict({100, 100, 100, 100, 3000}), "too small: 3.00 times its UltraRAMs");
  EXPECT_EQ(verdict({100, 1500, 100, 100, 100}), "too small: 1.50 times its flip-flops");
}

TEST(Parts, AMachineThatFitsAPartFitsLargerOnes) {
  for (const Geometry &target : targetPresets()) {
    const Area area = estimateArea(target);
    double before = 0;
    for (const Part &part : parts()) {
      const double share = shareOf(area, part, resources()[0]);
      EXPECT_GT(share, before) << target.name << " " << part.name;
      before = share;
    }
  }
}

} // namespace
} // namespace sluice::format
