// What computed rows are called, and where elements are, by hand and against the rows one by one.
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "hw/isa/isa.h"
#include "runtime/device/places.h"
#include "runtime/device/stall.h"
#include "runtime/format/targets.h"
#include "tests/support/rng.h"
#include "tests/unit/runtime/small_program.h"

namespace sluice::device {
namespace {

using Names = std::vector<std::string>;
using test::encoded;

constexpr uint32_t kLocal = isa::kLocalBase;

/// Tensor "h" [4, 10] in rows of 8 lanes, eight of them, and "s", a scalar. Core 1 makes a line of
/// h in each pass of a loop, in the same two rows; then it sends two sums for its last line to core
/// 0, and has a row of its own. Core 0 makes s of them, which the next inference overwrites.
format::Program loopProgram() {
  format::Program program;
  program.geometry = *format::findPreset("c2b8");
  format::Model model;
  model.name = "loop";
  model.inputs = {{"x", {4, 8}, format::HostType::Float32, 1, 0, 4}};
  model.outputs = {{"y", {8}, format::HostType::Float32, 0, 0, 1}};
  program.models = {model};
  program.cores.resize(2);
  program.hostInstructions = {encoded(isa::Restart{})};
  isa::Vec line;
  line.n = {1, 1, 1, 2};
  line.dstKind = isa::Dst::Local;
  line.dst = kLocal + 4;
  line.dstStride = {0, 0, 0, 1};
  isa::Vec sums = line;
  sums.dstKind = isa::Dst::Net;
  sums.dst = 3;
  sums.mask = 1;
  isa::Vec own = line;
  own.dst = kLocal + 8;
  isa::Vec scalar = line;
  scalar.n = {1, 1, 1, 1};
  scalar.aSrc = isa::Source::Ram;
  scalar.a = 3;
  program.cores[0].instructions = {encoded(scalar), encoded(isa::Restart{})};
  program.cores[1].instructions = {encoded(isa::Loop{4}), encoded(line), encoded(isa::Endloop{}),
                                   encoded(sums),         encoded(own),  encoded(isa::Restart{})};
  program.nodes = {{2, "norm", "LayerNormalization"}};
  program.sourceMap = {{1, 4, {0}}};
  program.tensors = {{"h", {4, 10}, 1}, {"s", {}}};
  program.computedRows = {{0, 0, {{0, 1, false, 0, 0, {}}}},
                          {1, 1, {{0, 0, false, 0, 2, {{2, 1}}}}},
                          {1, 3, {{0, 0, true, 6, 0, {{2, 1}}}}}};
  return program;
}

TEST(ComputedRows, AreNamedByTheirElements) {
  const format::Program program = loopProgram();
  const Places places(program);
  EXPECT_EQ(places.at(1, kLocal + 4), Names{"h[0..3, 0..7]"});
  EXPECT_EQ(places.at(1, kLocal + 5), Names{"h[0..3, 8..9]"});
  EXPECT_EQ(places.at(0, 3), Names{"partial sum of h[3, 0..7]"});
  EXPECT_EQ(places.at(0, 4), Names{"partial sum of h[3, 8..9]"});
  EXPECT_EQ(places.at(0, kLocal + 4), Names{"s"});
  EXPECT_EQ(places.at(1, kLocal + 8), Names{"internal to node 2 \"norm\" (LayerNormalization)"});
  EXPECT_EQ(places.at(1, 3), Names());
  EXPECT_EQ(places.movedBy(1, 1), "writes h[0, 0..7] to h[3, 8..9]");
  EXPECT_EQ(places.movedBy(1, 3), "writes partial sums of h[3, 0..7] to h[3, 8..9]");
  EXPECT_EQ(places.movedBy(1, 4), "writes internal to node 2 \"norm\" (LayerNormalization)");
  EXPECT_EQ(places.movedBy(0, 0), "reads partial sum of h[3, 0..7], writes s");
}

TEST(ComputedRows, ElementsAreFound) {
  const format::Program program = loopProgram();
  const Places places(program);
  using Spots = std::vector<Places::Spot>;
  EXPECT_EQ(places.of("h", addressing::Indices{2, 5}), (Spots{{1, kLocal + 4, 5}}));
  EXPECT_EQ(places.of("h", addressing::Indices{3, 9}), (Spots{{1, kLocal + 5, 1}}));
  EXPECT_EQ(places.of("s", addressing::Indices{}), (Spots{{0, kLocal + 4, 0}}));
  EXPECT_EQ(places.of("h", addressing::Indices{4, 0}), Spots());
  EXPECT_EQ(places.of("h", addressing::Indices{0}), Spots());
  EXPECT_EQ(places.of("g", addressing::Indices{0, 0}), Spots());
}

TEST(ComputedRows, OfSeveralStepsSayThatTheyAreOfOne) {
  format::Program program = loopProgram();
  program.tensors[0].ofStep = true;
  EXPECT_EQ(Places(program).at(1, kLocal + 4), Names{"h[0..3, 0..7] of a step"});
}

TEST(ComputedRows, RowsThatTakeTurnsUnevenlyAreNamedOneByOne) {
  format::Program program = loopProgram();
  isa::Vec vec;
  vec.n = {1, 1, 1, 4};
  vec.dstKind = isa::Dst::Local;
  vec.dst = kLocal + 4;
  program.cores[1].instructions[1] = encoded(vec);
  program.cores[1].instructions[0] = encoded(isa::Loop{1});
  // Rows of h: [0, 0..7], [0, 8..9], [1, 0..7], ...
  const auto at = [&](std::vector<format::RowRule> rules) {
    program.computedRows[1].rules = std::move(rules);
    return Places(program).at(1, kLocal + 4);
  };
  EXPECT_EQ(at({{0, 0, false, 0, 0, {{4, 2}}}}), Names{"h[0..3, 0..7]"});
  EXPECT_EQ(at({{0, 0, false, 6, 0, {{4, -2}}}}), Names{"h[0..3, 0..7]"});
  EXPECT_EQ(at({{0, 0, false, 1, 0, {{2, 4}}}}), (Names{"h[0..2 by 2, 8..9]"}));
  EXPECT_EQ(at({{0, 0, false, 0, 0, {{4, 1}}}}), Names{"h[0, 0..7] to h[1, 8..9]"});
  EXPECT_EQ(at({{0, 0, false, 0, 0, {{3, 2}}}, {3, 0, true, 1, 0, {}}}),
            (Names{"h[0..2, 0..7]", "partial sum of h[0, 8..9]"}));
  EXPECT_EQ(at({{0, 0, false, 2, 0, {{4, 0}}}}), Names{"h[1, 0..7]"});
  EXPECT_EQ(at({{0, 0, false, 1, 0, {{2, 1}}}}), (Names{"h[0, 8..9]", "h[1, 0..7]"}));
  EXPECT_EQ(at({{0, 0, true, 0, 0, {{3, 1}}}}),
            (Names{"partial sums of h[0, 0..7] to h[1, 0..7]"}));
}

TEST(ComputedRows, AreInStallReports) {
  const format::Program program = loopProgram();
  UnitStatus unit;
  unit.unit = "vector";
  unit.core = 1;
  unit.block = UnitStatus::Block::OutboxFull;
  unit.instruction = 3;
  EXPECT_EQ(describeStall(program, {unit}, 50),
            "no progress for 50 cycles: the vector unit of core 1 waits for room in its network "
            "FIFO in instruction 3, writes partial sums of h[3, 0..7] to h[3, 8..9]");
}

/// Random streams in loops whose addresses registers advance, some around rings, some of
/// reductions: what is where, from nested loops of the test's own.
TEST(ComputedRows, BothDirectionsAgreeWithLoopsOfTheirOwn) {
  for (uint64_t seed = 0; seed < 400; ++seed) {
    fixtures::Rng rng(seed);
    format::Program program = loopProgram();
    const auto passes = static_cast<uint32_t>(rng.range(1, 5));
    isa::Vec vec;
    vec.dstKind = rng.percent(50) ? isa::Dst::Net : isa::Dst::Local;
    const bool net = vec.dstKind == isa::Dst::Net;
    vec.mask = net ? static_cast<uint32_t>(rng.range(1, 3)) : 0;
    vec.dst = (net ? 0 : kLocal) + static_cast<uint32_t>(rng.range(64, 95));
    vec.dstRing = static_cast<uint32_t>(rng.pick({0, 0, 4, 5}));
    for (uint32_t level = 0; level < isa::kLoopDepth; ++level) {
      vec.n[level] = static_cast<uint32_t>(rng.range(1, 3));
      vec.dstStride[level] = static_cast<int32_t>(rng.range(-4, 4));
    }
    vec.reduce = rng.percent(30) ? isa::Reduce::Max : isa::Reduce::None;
    vec.reduceLevel = static_cast<uint32_t>(rng.range(0, 4));
    vec.dstReg = 1;
    const auto advance = static_cast<int32_t>(rng.range(-3, 6));
    program.cores[1].instructions = {
        encoded(isa::Setreg{1, 0}),       encoded(isa::Loop{passes}), encoded(vec),
        encoded(isa::Addreg{1, advance}), encoded(isa::Endloop{}),    encoded(isa::Restart{})};
    const uint32_t reduced = vec.reduce == isa::Reduce::None ? 4 : vec.reduceLevel;
    format::RowRule rule;
    for (uint32_t level = 0; level < reduced; ++level)
      rule.terms.push_back({vec.n[level], static_cast<int32_t>(rng.range(0, 3))});
    rule.perPass = static_cast<int32_t>(rng.range(0, 5));
    program.tensors = {{"h", {60, 12}, 1}}; // two rows a line
    program.computedRows = {{1, 2, {rule}}};
    program.sourceMap.clear();

    // By core and address the rows of h.
    std::map<std::pair<uint32_t, uint32_t>, std::set<uint32_t>> expected;
    for (uint32_t pass = 0; pass < passes; ++pass)
      for (uint32_t i = 0; i < vec.n[0]; ++i)
        for (uint32_t j = 0; j < vec.n[1]; ++j)
          for (uint32_t k = 0; k < vec.n[2]; ++k)
            for (uint32_t l = 0; l < vec.n[3]; ++l) {
              const uint32_t index[] = {i, j, k, l};
              int64_t to = int64_t{vec.dst} + int64_t{pass} * advance;
              int64_t row = int64_t{pass} * rule.perPass;
              bool writes = true;
              for (uint32_t level = 0; level < 4; ++level) {
                to += int64_t{vec.dstStride[level]} * index[level];
                if (level < reduced)
                  row += int64_t{rule.terms[level].step} * index[level];
                else
                  writes &= index[level] + 1 == vec.n[level];
              }
              const int64_t ring = int64_t{1} << vec.dstRing;
              if (vec.dstRing != 0)
                to = vec.dst / ring * ring + ((to - vec.dst / ring * ring) % ring + ring) % ring;
              for (uint32_t core = 0; core < 2 && writes; ++core)
                if (net ? (vec.mask >> core & 1) != 0 : core == 1)
                  expected[{core, static_cast<uint32_t>(to)}].insert(static_cast<uint32_t>(row));
            }

    const Places places(program);
    const auto spotsOf = [&](uint32_t row, uint32_t lane) {
      std::vector<Places::Spot> spots;
      for (const auto &[at, rows] : expected)
        if (rows.contains(row))
          spots.push_back({at.first, at.second, lane});
      return spots;
    };
    for (uint32_t row = 0; row < 120; ++row)
      for (const uint32_t lane : {0U, 3U}) {
        const addressing::Indices element{row / 2, row % 2 * 8 + lane};
        ASSERT_EQ(places.of("h", element), spotsOf(row, lane)) << "seed " << seed << " row " << row;
      }
    for (const auto &[at, rows] : expected) {
      const Names names = places.at(at.first, at.second);
      if (rows.size() == 1) {
        const RowNames h(program.tensors[0], program.geometry.lanes);
        ASSERT_EQ(names, Names{h.of(*rows.begin())}) << "seed " << seed;
      } else {
        ASSERT_FALSE(names.empty()) << "seed " << seed;
      }
    }
  }
}

} // namespace
} // namespace sluice::device
