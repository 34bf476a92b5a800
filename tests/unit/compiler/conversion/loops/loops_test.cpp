// Plans with loops are run on the vm engine and compared with what their bodies say.
#include "compiler/conversion/loops/loop_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/conversion/loops/fold.h"
#include "compiler/conversion/loops/runs.h"
#include "compiler/conversion/loops/unroll.h"
#include "compiler/conversion/plan/proof/verify.h"
#include "compiler/support/problem.h"
#include "tests/support/rows/programs.h"
#include "tests/support/rows/runs.h"
#include "tests/support/rows/windows.h"

namespace sluice::loops::test {
namespace {

plan::Plan planned(const rows::Program &program) {
  plan::Plan plan;
  const Problems problems = makeLoopPlan(program, {}, plan);
  EXPECT_TRUE(problems.empty()) << (problems.empty() ? "" : problems[0].message);
  return plan;
}

TEST(Loops, DenseNetworksOfAnyLength) {
  for (const uint32_t trips : {2, 3, 12, 13, 100})
    plan::test::expectRuns(flatten(denseNetwork("c2b8", trips, {2, 3, 1}, trips)),
                           planned(denseNetwork("c2b8", trips, {2, 3, 1}, trips)));
}

TEST(Loops, LengthCostsNoInstructionsAndNoWork) {
  const plan::Plan few = planned(denseNetwork("c2b8", 6001, {2, 2, 2}, 1));
  const plan::Plan many = planned(denseNetwork("c2b8", 60001, {2, 2, 2}, 1));
  for (size_t list = 0; list < few.lists.size(); ++list)
    EXPECT_LE(many.lists[list].size(), few.lists[list].size() * 3 / 2);
  EXPECT_LE(many.work, few.work * 3 / 2);
}

TEST(Loops, RefuseABiasThatIsNotFinite) {
  rows::Program program = denseNetwork("c2b8", 100, {2, 3, 1}, 1);
  for (rows::Row &row : program.bodies[0].trip.rows)
    if (row.kind == rows::RowKind::Linear && row.nodes.front() == 1)
      row.bias = std::vector<float>(8, INFINITY);
  plan::Plan plan;
  const Problems problems = makeLoopPlan(program, {}, plan);
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems[0].code, "E0408");
  EXPECT_EQ(problems[0].message, "a bias is not finite; its magnitude must be below 3.4e38");
  ASSERT_TRUE(problems[0].node);
  EXPECT_EQ(problems[0].node->name, "Gemm_1");
}

TEST(Loops, TheBudgetSaysHowManyGroupSizesAreTried) {
  const rows::Program program = denseNetwork("c2b8", 100, {2, 3, 1}, 1);
  plan::Plan first, some, all;
  ASSERT_TRUE(makeLoopPlan(program, {.work = 0}, first).empty());
  EXPECT_FALSE(first.timing.has_value());
  ASSERT_TRUE(makeLoopPlan(program, {}, all).empty());
  ASSERT_LT(first.work * 4, all.work);
  ASSERT_TRUE(makeLoopPlan(program, {.work = 3 * first.work}, some).empty());
  EXPECT_GT(some.work, first.work);
  EXPECT_LE(some.work, 3 * first.work);
}

TEST(Loops, WhatIsLongerThanTheInboxGoesThroughARing) {
  rows::Program program = denseNetwork("c2b8", 200, {4, 1}, 5);
  program.geometry.inboxRows = 128;
  const plan::Plan plan = planned(program);
  EXPECT_THAT(plan.memory, testing::Contains(testing::AllOf(
                               testing::Field(&plan::MemoryUse::memory, "inbox rows"),
                               testing::Field(&plan::MemoryUse::used, testing::Le(128)))));
  plan::test::expectRuns(flatten(program), plan);
}

TEST(Loops, FoldsOfAnyLength) {
  for (const rows::Fold fold : {rows::Fold::Max, rows::Fold::Min, rows::Fold::Product})
    for (const uint32_t trips : {2, 3, 12, 33, 100}) {
      SCOPED_TRACE(testing::Message() << "fold " << static_cast<int>(fold) << " of " << trips);
      if (trips <= 3 || fold != rows::Fold::Product) // each product is rounded
        plan::test::expectRuns(flatten(poolingNetwork("c2b8", trips, fold, trips)),
                               planned(poolingNetwork("c2b8", trips, fold, trips)));
    }
}

/// Maxima of the positions of a group are the same bits in any tree; a pass takes as many rows as
/// the tree says.
TEST(Loops, FoldsOfAGroupBecomeOneInAnyTree) {
  const rows::Program program = poolingNetwork("c2b8", 100, rows::Fold::Max, 5);
  std::optional<plan::test::Rows> expected;
  for (const uint32_t arity : {2U, 3U})
    for (const bool apart : {false, true}) {
      Choice choice{8};
      choice.trees = {.arity = arity, .apart = apart};
      const auto folded = withFolds(program, choice);
      ASSERT_TRUE(folded);
      const auto parts = std::ranges::find_if(folded->bodies, [](const rows::Body &body) {
        return body.trips > 1 && !body.writes[0].fold && body.trip.blocks.empty();
      });
      ASSERT_NE(parts, folded->bodies.end());
      std::mt19937_64 random(3);
      const auto rows =
          plan::test::evaluate(parts->trip, plan::test::randomRows(parts->trip, random));
      EXPECT_EQ(rows, expected.value_or(rows)) << textOf(choice.trees);
      expected = rows;
      EXPECT_EQ(std::ranges::any_of(parts->trip.rows,
                                    [](const rows::Row &row) { return row.c != rows::kNoRow; }),
                arity == 3);
    }
}

TEST(Loops, FoldsKeepNoRows) {
  rows::Program program = poolingNetwork("c2b8", 700, rows::Fold::Max, 5);
  program.geometry.inboxRows = 128;
  program.geometry.localRows = 128;
  plan::test::expectRuns(flatten(program), planned(program));
}

TEST(Loops, FoldsNeedAFullGroupOnEveryCore) {
  const rows::Program program = poolingNetwork("c2b8", 7, rows::Fold::Max, 5);
  EXPECT_TRUE(withFolds(program, {3}).has_value());
  EXPECT_FALSE(withFolds(program, {4}).has_value());
}

/// Positions that are dealt out to some of the cores: the others have neither weights nor
/// instructions.
TEST(Loops, RandomProgramsOnSomeOfTheCores) {
  std::mt19937_64 random(9);
  unsigned planned = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    rows::Program program = randomProgram("c6b32", seed);
    if (std::ranges::any_of(program.bodies, [](const rows::Body &body) {
          return std::ranges::any_of(
              body.writes, [](const rows::Write &write) { return write.fold.has_value(); });
        }))
      continue;
    const uint32_t mask = 1 + static_cast<uint32_t>(random() % 63);
    for (rows::Body &body : program.bodies)
      body.cores = mask;
    for (rows::Family &family : program.families)
      family.cores = mask;
    plan::Plan plan;
    const Problems problems = makeLoopPlan(program, {.work = 1 << 16}, plan);
    if (!problems.empty()) {
      EXPECT_NE(problems[0].code, "E0499") << problems[0].message;
      continue;
    }
    ++planned;
    plan::test::expectRuns(flatten(program), plan);
    for (uint32_t core = 0; core < 6; ++core)
      if ((mask >> core & 1) == 0) {
        EXPECT_EQ(plan.lists[core].size(), 1U); // halt
        EXPECT_TRUE(plan.program.cores[core].weights.empty());
      }
    if (HasFailure())
      return;
  }
  EXPECT_GE(planned, 20U);
}

/// Groups of any loop on any cores: each trip is in one group of one core, in turn.
TEST(Loops, GroupsOnAnyCores) {
  for (uint32_t mask = 1; mask < 64; ++mask)
    for (const uint32_t trips : {1U, 2U, 5U, 12U, 37U})
      for (const uint32_t size : {1U, 2U, 5U})
        for (uint32_t first = 0; first < static_cast<uint32_t>(std::popcount(mask)); ++first) {
          const auto cores = static_cast<uint32_t>(std::popcount(mask));
          const Groups groups{trips, std::min(size, (trips + cores - 1) / cores), cores, first,
                              mask};
          std::vector<uint32_t> owner(trips, 6), most(6, 0);
          for (uint32_t core = 0; core < 6; ++core)
            for (uint32_t g = 0; g < groups.groupsOf(core); ++g)
              for (uint32_t t = groups.first(core, g);
                   t < std::min(groups.first(core, g) + groups.size, trips); ++t) {
                EXPECT_EQ(owner[t], 6U);
                owner[t] = core;
                ++most[core];
              }
          for (uint32_t t = 0; t < trips; ++t)
            EXPECT_EQ(owner[t], groups.coreOf(t));
          EXPECT_EQ(groups.most(), std::ranges::max(most));
          for (uint32_t core = 0; core < 6; ++core)
            EXPECT_TRUE(most[core] == 0 || groups.has(core));
        }
}

TEST(Loops, RandomProgramsRunAsTheirBodiesSay) {
  unsigned planned = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    const rows::Program program = randomProgram("c2b8", seed);
    plan::Plan plan;
    const Problems problems = makeLoopPlan(program, {}, plan);
    if (!problems.empty()) {
      EXPECT_NE(problems[0].code, "E0499") << problems[0].message;
      continue;
    }
    ++planned;
    plan::test::expectRuns(flatten(program), plan);
    if (HasFailure())
      return;
  }
  EXPECT_GE(planned, 50U);
}

TEST(Loops, WindowsRunAsTheirBodiesSay) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    const rows::Program program = windowNetwork("c2b8", seed);
    plan::test::expectRuns(flatten(program), planned(program));
    if (HasFailure())
      return;
  }
}

uint32_t rowsOfAll(const rows::Program &program) {
  uint32_t rows = 0;
  for (const rows::Family &family : program.families)
    rows += family.total();
  return rows;
}

/// Rows of the inbox that all families take that are made before others are read for the last
/// time.
TEST(Loops, FamiliesTakeTurnsInTheInbox) {
  unsigned turns = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    rows::Program program = windowNetwork("c2b8", seed);
    program.geometry.inboxRows = rowsOfAll(program) - 1;
    plan::Plan plan;
    const Problems problems = makeLoopPlan(program, {}, plan);
    if (!problems.empty()) {
      EXPECT_EQ(problems[0].code, "E0402") << problems[0].message;
      continue;
    }
    ++turns;
    plan::test::expectRuns(flatten(program), plan);
  }
  EXPECT_GE(turns, 10U);
}

/// Families of which few rows are needed at a time go through rings, inputs too.
TEST(Loops, LinesGoThroughRings) {
  unsigned rings = 0, inputs = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    rows::Program program = windowNetwork("c2b8", seed, 120);
    program.geometry.inboxRows = rowsOfAll(program) / 3;
    plan::Plan plan;
    plan::PlanOptions options;
    options.explain = true;
    const Problems problems = makeLoopPlan(program, options, plan);
    if (!problems.empty()) {
      EXPECT_TRUE(problems[0].code == "E0402" || problems[0].code == "E0406")
          << problems[0].message;
      continue;
    }
    const bool input =
        std::ranges::any_of(plan.lists.back(), [](const plan::PlannedInstruction &one) {
          const auto *take = std::get_if<isa::Input>(&one.instruction);
          return take != nullptr && take->dstRing != 0;
        });
    ++rings;
    inputs += input;
    for (const plan::Loser &loser : plan.explanation->losers) {
      EXPECT_THAT(loser.why, testing::Not(testing::HasSubstr("not proved sound"))) << loser.choice;
      EXPECT_NE(loser.why, "stalls") << loser.choice;
    }
    plan::test::expectRuns(flatten(program), plan);
    if (HasFailure())
      return;
  }
  EXPECT_GE(rings, 15U);
  EXPECT_GE(inputs, 8U);
}

/// What the proof says of lists after a change.
std::optional<std::string> proof(const rows::Program &program, const Map &map, const Choice &choice,
                                 const std::vector<List> &lists) {
  const Unrolled all = unroll(program, map, choice, lists);
  return plan::verify(all.graph, all.placement, all.beats, all.schedule);
}

/// Lines that a run makes of each family.
std::vector<uint32_t> linesMade(const rows::Program &program, uint32_t run) {
  std::vector<uint32_t> made(program.families.size(), 0);
  for (const rows::Body &body : program.bodies)
    for (const rows::Write &write : body.writes)
      if (write.family && body.run == run)
        made[*write.family] += body.trips;
  return made;
}

/// Rings are as large as the run that makes most lines needs them: that is none of the first two.
TEST(Loops, TheFirstRunMakesNoMoreLinesThanTheNext) {
  unsigned compared = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    const rows::Program program = runnable(windowNetwork("c2b8", seed, 240));
    constexpr uint32_t kLines = 24; // more than windows reach ahead
    const uint32_t runs = runsOf(program, kLines);
    const rows::Program inParts = inRuns(program, runs, kLines);
    const std::vector<uint32_t> first = linesMade(inParts, 0), next = linesMade(inParts, 1);
    for (size_t family = 0; family < next.size(); ++family)
      if (runs > 3 && next[family] != 0) {
        ++compared;
        EXPECT_LE(first[family], next[family]) << "of family " << family;
      }
  }
  EXPECT_GE(compared, 20U);
}

/// Runs that are alike are passes of a hardware loop, and prove like those that are not.
TEST(Loops, RunsThatAreAlikeAreALoop) {
  unsigned rolled = 0;
  for (uint64_t seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE(seed);
    rows::Program program = runnable(windowNetwork("c2b8", seed, 120));
    program.geometry.inboxRows = rowsOfAll(program) / 3;
    const Choice choice{program.geometry.accumulators, runsOf(program, 8), 8};
    program = inRuns(program, choice.runs, choice.lines);
    dealOut(program, choice);
    const auto map = makeMap(program, choice);
    const auto lists = emitLists(program, *map, choice);
    ASSERT_TRUE(lists);
    const bool loops =
        std::ranges::any_of(lists->front(), [](const Emitted &one) { return one.bodyStep != 0; });
    rolled += loops;
    EXPECT_EQ(proof(program, *map, choice, *lists), std::nullopt);
  }
  EXPECT_GE(rolled, 5U);
}

struct Case {
  rows::Program (*make)();
  Choice choice{2};
};

struct Broken : testing::TestWithParam<Case> {
  rows::Program program;
  Choice choice = GetParam().choice;
  std::optional<Map> map;
  std::vector<List> lists;

  void SetUp() override {
    program = *withFolds(inRuns(runnable(GetParam().make()), choice.runs, choice.lines), choice);
    dealOut(program, choice);
    map = makeMap(program, choice);
    lists = *emitLists(program, *map, choice);
    ASSERT_EQ(proof(program, *map, choice, lists), std::nullopt);
  }

  /// How many instructions of a kind `change` says it changes; the proof refuses each change.
  template <typename Kind, typename Change> unsigned refused(const Change &change) {
    unsigned tried = 0;
    for (List &list : lists)
      for (Emitted &one : list) {
        const isa::Instruction whole = one.instruction;
        if (auto *kind = std::get_if<Kind>(&one.instruction); kind && change(*kind)) {
          ++tried;
          EXPECT_NE(proof(program, *map, choice, lists), std::nullopt);
        }
        one.instruction = whole;
      }
    return tried;
  }
};

rows::Program longDense() {
  rows::Program program = denseNetwork("c2b8", 150, {4, 2, 1}, 9);
  program.geometry.inboxRows = 64;
  return program;
}

rows::Program longPooling() {
  rows::Program program = poolingNetwork("c2b8", 150, rows::Fold::Max, 9);
  program.geometry.inboxRows = 64;
  return program;
}

rows::Program longWindows() { return windowNetwork("c2b8", 7); }

/// Input and layers do not fit but in rings.
rows::Program lines() {
  rows::Program program = windowNetwork("c2b8", 7, 120);
  program.geometry.inboxRows = rowsOfAll(program) / 3;
  return program;
}

/// Likewise, in runs of which some are alike.
template <uint64_t seed> rows::Program alike() {
  rows::Program program = windowNetwork("c2b8", seed, 120);
  program.geometry.inboxRows = rowsOfAll(program) / 3;
  return program;
}

INSTANTIATE_TEST_SUITE_P(Programs, Broken, testing::Values(Case{longDense}, Case{longPooling}));
using BrokenWindows = Broken;
INSTANTIATE_TEST_SUITE_P(Programs, BrokenWindows,
                         testing::Values(Case{longWindows}, Case{lines, {1, 4}},
                                         Case{alike<24>, {64, 8, 8}}));
using BrokenLines = Broken;
INSTANTIATE_TEST_SUITE_P(Programs, BrokenLines,
                         testing::Values(Case{lines, {2, 8}}, Case{alike<0>, {64, 8, 8}}));
using BrokenFold = Broken;
INSTANTIATE_TEST_SUITE_P(Programs, BrokenFold, testing::Values(Case{longPooling}));

TEST_P(Broken, EveryWaitIsNeeded) {
  const auto without = [](auto &unit) { return std::exchange(unit.waitEn, 0U) != 0; };
  EXPECT_GE(refused<isa::Mm>(without) + refused<isa::Vec>(without) + refused<isa::Input>(without),
            8U);
}

TEST_P(Broken, RegistersAdvanceByTheirGroup) {
  EXPECT_GE(refused<isa::Addreg>([](isa::Addreg &more) { return --more.imm, true; }), 3U);
}

TEST_P(Broken, CreditsAreWhatThereIsRoomFor) {
  EXPECT_GE(refused<isa::Vec>([](isa::Vec &vec) {
              ++vec.n[3];
              return vec.dstKind == isa::Dst::Signal;
            }),
            2U);
}

TEST_P(Broken, RingsHoldWhatIsOnItsWay) {
  ASSERT_NE(map->families[0].ring, 0U);
  const auto halve = [](uint32_t &ring) { ring -= ring != 0; };
  for (List &list : lists)
    for (Emitted &one : list)
      if (auto *mm = std::get_if<isa::Mm>(&one.instruction))
        halve(mm->xRing);
      else if (auto *input = std::get_if<isa::Input>(&one.instruction))
        halve(input->dstRing);
  EXPECT_NE(proof(program, *map, choice, lists), std::nullopt);
}

TEST_P(Broken, LoopsHaveTheirPasses) {
  EXPECT_GE(refused<isa::Loop>([](isa::Loop &loop) { return --loop.count, true; }), 3U);
}

TEST_P(BrokenWindows, EveryWaitIsNeeded) {
  const auto fewer = [](auto &unit) {
    return unit.waitEn != 0 && unit.waitCount-- == 1 ? (unit.waitEn = 0, true) : unit.waitEn != 0;
  };
  EXPECT_GE(refused<isa::Mm>(fewer) + refused<isa::Vec>(fewer), 8U);
}

TEST_P(BrokenWindows, RegistersAdvanceByTheirGroup) {
  EXPECT_GE(refused<isa::Addreg>([](isa::Addreg &more) { return --more.imm, true; }), 3U);
}

TEST_P(BrokenWindows, WindowsBeginWhereTheySay) {
  EXPECT_GE(refused<isa::Mm>([](isa::Mm &mm) { return mm.skip == 0 && ++mm.x != 0; }), 3U);
}

TEST_P(BrokenWindows, RowsThatAreStillReadAreNotWritten) {
  // The second family in the place of the first.
  ASSERT_GE(map->families.size(), 3U);
  Map overlapping = *map;
  overlapping.families[1].base = overlapping.families[0].base;
  const auto wrong = emitLists(program, overlapping, choice);
  EXPECT_NE(proof(program, overlapping, choice, *wrong), std::nullopt);
}

TEST_P(BrokenLines, RingsHoldWhatIsNeeded) {
  unsigned rings = 0;
  for (FamilyHome &home : map->families)
    if (home.ring != 0) {
      ++rings;
      --home.ring;
      const auto wrong = emitLists(program, *map, choice);
      EXPECT_NE(proof(program, *map, choice, *wrong), std::nullopt);
      ++home.ring;
    }
  EXPECT_GE(rings, 2U);
}

TEST_P(BrokenLines, TheHostWaitsForCredits) {
  EXPECT_GE(refused<isa::Input>([](isa::Input &take) {
              return take.skip != 0 && take.waitToken < kDoneTokens && take.waitCount-- != 0;
            }),
            2U);
}

TEST_P(BrokenLines, CreditsComeBehindTheBodyThatReads) {
  // A core tells the host so before it begins the body.
  unsigned moved = 0;
  for (uint32_t b = 1; b < program.bodies.size(); ++b)
    if (map->bodies[b].credits && !map->bodies[b - 1].credits) {
      std::swap(map->bodies[b].credits, map->bodies[b - 1].credits);
      const auto wrong = emitLists(program, *map, choice);
      EXPECT_NE(proof(program, *map, choice, *wrong), std::nullopt);
      std::swap(map->bodies[b].credits, map->bodies[b - 1].credits);
      ++moved;
    }
  EXPECT_GE(moved, 2U);
}

TEST_P(BrokenFold, SumsBeginWithZero) {
  EXPECT_EQ(refused<isa::Mm>([](isa::Mm &mm) {
              return std::exchange(mm.init, isa::Init::Keep) == isa::Init::Zero &&
                     mm.emit == isa::Emit::None;
            }),
            2U);
}

TEST_P(BrokenFold, SumsHaveAccumulatorsOfTheirOwn) {
  EXPECT_GE(refused<isa::Mm>([](isa::Mm &mm) { return mm.skip == 0 && mm.acc-- != 0; }), 6U);
}

TEST_P(BrokenFold, FoldsAreMadeOfThemselves) {
  EXPECT_GE(refused<isa::Vec>([](isa::Vec &vec) {
              return vec.bEn != 0 && vec.alu1 == isa::Alu::Max && vec.b++ == vec.dst;
            }),
            2U);
}

} // namespace
} // namespace sluice::loops::test
