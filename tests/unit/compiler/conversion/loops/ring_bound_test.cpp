#include "compiler/conversion/loops/ring_bound.h"

#include <gtest/gtest.h>

#include "compiler/conversion/loops/loop_plan.h"
#include "compiler/support/problem.h"
#include "tests/support/rows/windows.h"

namespace sluice::loops::test {
namespace {

rows::Family family(const std::string &name, uint32_t trips, std::optional<uint32_t> input) {
  rows::Family made;
  made.name = name;
  made.trips = trips;
  made.rows = 4;
  made.input = input;
  return made;
}

/// A window over three lines of 64 positions, 4 rows each, of one family.
rows::Program window(std::optional<uint32_t> input, uint32_t dilation = 1) {
  rows::Program program;
  program.geometry.inboxRows = 1024;
  program.inputs.resize(1);
  program.families.push_back(family("lines", 64 * 64, input));
  rows::Body &body = program.bodies.emplace_back();
  rows::Read &read = body.reads.emplace_back();
  read.all = true;
  for (uint32_t line = 0; line < 3; ++line)
    for (uint32_t row = 0; row < 3 * 4; ++row)
      read.places.push_back(line * dilation * 64 * 4 + row);
  return program;
}

TEST(RingBound, RowsOfAWindowAreThereTogether) {
  // Rows 0 and 512 are read together, so 512 rows are too few.
  const RingBound bound = ringBound(window({}));
  EXPECT_EQ(bound.rows, 1024U);
  ASSERT_EQ(bound.largest.size(), 1U);
  EXPECT_EQ(bound.largest[0].name, "'lines'");
  EXPECT_EQ(bound.largest[0].used, 1024U);
  // Rows 0, 768 and 1536 differ by no multiple of 1024, rows 0 and 1024 do.
  EXPECT_EQ(ringBound(window({}, 3)).rows, 1024U);
  EXPECT_EQ(ringBound(window({}, 2)).rows, 2048U);
}

TEST(RingBound, OnlyTheLastInputGoesThroughARing) {
  rows::Program program = window(0);
  EXPECT_EQ(ringBound(program).rows, 1024U);
  EXPECT_EQ(ringBound(window(0, 3)).rows, 2048U); // the rows between are sent too
  program.inputs.resize(2);
  EXPECT_EQ(ringBound(program).rows, 64U * 64 * 4);
}

TEST(RingBound, WhatFitsTheInboxNeedsNoRing) {
  rows::Program program = window({});
  program.geometry.inboxRows = 64 * 64 * 4;
  EXPECT_EQ(ringBound(program).rows, 0U);
}

TEST(RingBound, NoPlanNeedsFewerRows) {
  unsigned bounded = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    rows::Program program = windowNetwork("c2b8", seed, 120);
    program.geometry.inboxRows = 64;
    const RingBound bound = ringBound(program);
    if (bound.rows == 0)
      continue;
    ++bounded;
    program.geometry.inboxRows = static_cast<uint32_t>(bound.rows) - 1;
    plan::Plan plan;
    EXPECT_FALSE(makeLoopPlan(program, {}, plan).empty());
  }
  EXPECT_GE(bounded, 30U);
}

} // namespace
} // namespace sluice::loops::test
