// The proof of a plan notices every kind of mistake with what passes from one inference to the
// next.
#include "compiler/conversion/plan/proof/verify.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/conversion/plan/order/work_ahead.h"
#include "compiler/conversion/plan/proof/verify_preloads.h"
#include "tests/support/rows/graphs.h"

namespace sluice::plan {
namespace {

using testing::AnyOf;
using testing::HasSubstr;
using testing::Optional;

/// One step of a recurrence: two rows h that products read in the next inference, and a row c
/// that a step reads.
class StateProof : public testing::Test {
protected:
  test::GraphBuilder builder{"c2b8", 3};
  rows::Graph graph;
  Work work;
  Placement placement;
  MachineBeats beats;

  StateProof() {
    const auto x = builder.input(2);
    const RowId c = builder.state();
    const std::vector<RowId> h{builder.state(), builder.state()};
    const auto gates = builder.dense({x[0], x[1], h[0], h[1]}, 2, {});
    rows::VectorStep multiply;
    multiply.alu1 = isa::Alu::Mul;
    const RowId product = builder.vector({gates[0]}, c, rows::kNoRow, multiply);
    const RowId next = builder.vector({product}, gates[1], rows::kNoRow, multiply);
    builder.keep(c, next);
    builder.keep(h[0], next);
    builder.keep(h[1], gates[1]);
    builder.output({next, gates[1]});
    plan();
  }

  void plan(const PlacementOptions &options = {}, const Entry &entry = {}) {
    graph = workAhead(builder.graph, false);
    work = analyse(graph);
    placement = place(graph, work, options);
    beats = buildBeats(graph, work, placement,
                       *makeOrder(graph, work, placement, Tails(work.stages.size(), 2)),
                       TokenLayout::make(2, Slots::One, true), entry);
  }

  std::string verdict() const {
    const std::optional<Schedule> schedule = makeSchedule(graph, beats);
    return schedule ? verify(graph, placement, beats, *schedule).value_or("sound") : "no schedule";
  }

  bool stateRests() const {
    bool rests = false;
    EXPECT_EQ(verify(graph, placement, beats, *makeSchedule(graph, beats), &rests), std::nullopt);
    return rests;
  }

  /// The matrix unit that sums ahead, and its first beat that leaves such a sum.
  UnitBeats &summing() {
    return *std::ranges::find_if(beats.matrix,
                                 [](const UnitBeats &unit) { return firstRaw(unit) != kNone; });
  }
  static uint32_t firstRaw(const UnitBeats &unit) {
    for (uint32_t i = 0; i < unit.beats.size(); ++i)
      if (unit.beats[i].last &&
          std::get<isa::Mm>(unit.forms[unit.beats[i].form]).emit == isa::Emit::Raw)
        return i;
    return kNone;
  }
};

TEST_F(StateProof, AcceptsAPlan) {
  EXPECT_EQ(verdict(), "sound");
  EXPECT_TRUE(stateRests());
}

/// A state that depends on itself alone would change again and again.
TEST_F(StateProof, AStateThatDoesNotRest) {
  builder = test::GraphBuilder("c2b8", 3);
  rows::VectorStep multiply;
  multiply.alu1 = isa::Alu::Mul;
  const auto x = builder.input(1);
  const RowId c = builder.state();
  const RowId next = builder.vector({c}, c, rows::kNoRow, multiply);
  builder.keep(c, next);
  const RowId y = builder.vector({x[0]}, x[0], rows::kNoRow, multiply);
  builder.output({y, next});
  std::vector<uint32_t> cores(builder.graph.rows.size(), kNone);
  cores[next] = 1;
  cores[y] = 0;
  PlacementOptions options;
  options.cores = &cores;
  plan(options);
  EXPECT_TRUE(stateRests()); // it waits for a token of the inference
  for (Beat &beat : beats.vector[1].beats)
    beat.wait = {};
  bool rests = true;
  EXPECT_NE(verify(graph, placement, beats, *makeSchedule(graph, beats), &rests), std::nullopt);
  EXPECT_FALSE(rests);
}

TEST_F(StateProof, ASumInAnotherPlace) {
  UnitBeats &unit = summing();
  unit.beats[firstRaw(unit)].address[3] += 1;
  EXPECT_THAT(verdict(), AnyOf(HasSubstr("which no sum of it starts from"),
                               HasSubstr("does not exist"), HasSubstr("leaves row")));
}

TEST_F(StateProof, ASumThatIsRounded) {
  UnitBeats &unit = summing();
  auto form = std::get<isa::Mm>(unit.forms[unit.beats[firstRaw(unit)].form]);
  form.emit = isa::Emit::Bf16;
  for (Beat &beat : unit.beats)
    if (std::get<isa::Mm>(unit.forms[beat.form]).emit == isa::Emit::Raw)
      beat.form = unit.formOf(form);
  EXPECT_THAT(verdict(), HasSubstr("goes to the wrong destination"));
}

TEST_F(StateProof, ASumThatDoesNotBegin) {
  UnitBeats &unit = summing();
  std::ranges::find_if(unit.beats, [](const Beat &beat) {
    return beat.init == isa::Init::Preload;
  })->init = isa::Init::Zero;
  EXPECT_THAT(verdict(), HasSubstr("starts from the wrong bias"));
}

TEST_F(StateProof, WhenAPreloadRowIsWrittenAndRead) {
  uint32_t core = 0, address = 0;
  RowId sum = rows::kNoRow;
  for (uint32_t i = 0; i < placement.cores.size(); ++i)
    for (uint32_t row = 0; row < placement.cores[i].preloads.size(); ++row)
      if (const RowId start = graph.rows[placement.cores[i].preloads[row]].start;
          start != rows::kNoRow)
        core = i, address = row, sum = start;
  ASSERT_NE(sum, rows::kNoRow);
  PreloadProof proof(graph, placement);
  EXPECT_THAT(proof.leave(core, address, sum, {0, 1}), Optional(HasSubstr("before its sum")));
  EXPECT_EQ(proof.begin(core, address, {0, 2}), std::nullopt);
  EXPECT_THAT(proof.begin(core, address, {0, 3}), Optional(HasSubstr("twice")));
  EXPECT_EQ(proof.leave(core, address, sum, {0, 10}), std::nullopt);
  PreloadProof late = proof;
  EXPECT_THAT(proof.begin(core, address, {1, 12}), Optional(HasSubstr("before it is written")));
  EXPECT_EQ(late.begin(core, address, {1, 13}), std::nullopt);
  EXPECT_THAT(late.begin(core, address, {2, 30}), Optional(HasSubstr("of another inference")));
}

TEST_F(StateProof, TheVectorUnitDoesNotWaitForTheSums) {
  UnitBeats &unit = summing();
  unit.beats.back().signal = {};
  EXPECT_THAT(verdict(), AnyOf(HasSubstr("deadlocks"), HasSubstr("is signaled")));
}

TEST_F(StateProof, TheNextInferenceEntersBeforeTheSums) {
  PlacementOptions options;
  options.keepTogether = 0; // both cores sum ahead
  plan(options, {kNone, true});
  ASSERT_EQ(std::ranges::count_if(beats.matrix,
                                  [](const UnitBeats &unit) { return firstRaw(unit) != kNone; }),
            2);
  EXPECT_EQ(verdict(), "sound");
  EXPECT_TRUE(stateRests());
  const auto tell = [](UnitBeats &unit) -> Beat & {
    return *std::ranges::find_if(unit.beats, [&](const Beat &beat) {
      const auto &form = std::get<isa::Vec>(unit.forms[beat.form]);
      return form.dstKind == isa::Dst::Signal && form.mask != kHostMask;
    });
  };
  tell(beats.vector[1]).signal = {};
  EXPECT_THAT(verdict(), HasSubstr("deadlocks"));
  // Who is not told, and does not ask, writes over what the other core's sums read.
  tell(beats.vector[0]).signal = {};
  const TokenLayout tokens = TokenLayout::make(2, Slots::One, true);
  for (uint32_t core = 0; core < 2; ++core) {
    UnitBeats &unit = beats.vector[core];
    for (auto i = static_cast<size_t>(&tell(unit) - unit.beats.data()); i < unit.beats.size(); ++i)
      if (Wait &wait = unit.beats[i].wait;
          wait.count != 0 && wait.token == tokens.ofCore(1 - core, 0))
        wait = wait.count == 1 ? Wait{} : Wait{wait.token, wait.count - 1};
  }
  EXPECT_THAT(verdict(), HasSubstr("before its last read"));
}

TEST_F(StateProof, AReaderBehindWhatTheStateBecomes) {
  // The reader's operand is taken from another place, where the state is not.
  for (UnitBeats &unit : beats.vector)
    for (size_t i = 0; i < unit.beats.size(); ++i)
      for (unsigned s = 0; s < 3; ++s)
        if (const RowId read = unit.origins[i].read[s];
            read != rows::kNoRow && graph.rows[read].kind == RowKind::State)
          unit.beats[i].address[s] += 1;
  EXPECT_THAT(verdict(), AnyOf(HasSubstr("expected row"), HasSubstr("of another inference")));
}

TEST_F(StateProof, AStateThatIsNotKept) {
  // What holds the state is written elsewhere: the second inference finds the first value.
  const RowId holder = graph.states[0].next;
  for (UnitBeats &unit : beats.vector)
    for (size_t i = 0; i < unit.beats.size(); ++i)
      if (unit.origins[i].row == holder)
        unit.beats[i].address[3] += 7;
  EXPECT_NE(verdict(), "sound");
}

} // namespace
} // namespace sluice::plan
