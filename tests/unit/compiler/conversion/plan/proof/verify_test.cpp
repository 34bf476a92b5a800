// The proof of a plan notices every kind of mistake.
#include "compiler/conversion/plan/proof/verify.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/rows/graphs.h"

namespace sluice::plan {
namespace {

using testing::HasSubstr;

/// A sound plan whose beats a test may spoil.
class Proof : public testing::Test {
protected:
  rows::Graph graph = test::perceptron("c2b8", {3, 8, 8, 8, 3}, 3);
  Work work = analyse(graph);
  Placement placement = place(graph, work, PlacementOptions{});
  MachineBeats beats = released(kNone);

  /// The plan whose next inference enters after a stage.
  MachineBeats released(uint32_t stage) const {
    return buildBeats(graph, work, placement,
                      *makeOrder(graph, work, placement, Tails(work.stages.size(), 2)),
                      TokenLayout::make(2, Slots::One, false), {stage, false});
  }

  /// What the proof says about the beats as they are now.
  std::string verdict() const {
    const std::optional<Schedule> schedule = makeSchedule(graph, beats);
    return schedule ? verdictOf(*schedule) : "no schedule";
  }
  std::string verdictOf(const Schedule &schedule) const {
    return verify(graph, placement, beats, schedule).value_or("sound");
  }

  /// The first beat of a unit that `which` accepts, from `from` on.
  template <typename Which> static Beat &find(UnitBeats &unit, Which which, size_t from = 0) {
    return *std::find_if(unit.beats.begin() + static_cast<std::ptrdiff_t>(from), unit.beats.end(),
                         which);
  }
  static bool waits(const Beat &beat) { return beat.wait.count != 0; }
  static bool signals(const Beat &beat) { return beat.signal.on; }
};

TEST_F(Proof, AcceptsAPlan) { EXPECT_EQ(verdict(), "sound"); }

TEST_F(Proof, AReadWithoutAWait) {
  // The wait moves to the last beat: all tokens are still taken.
  UnitBeats &unit = beats.matrix[0];
  Beat &beat = find(unit, waits, 3 * 4);
  unit.beats.back().wait = std::exchange(beat.wait, Wait{});
  EXPECT_THAT(verdict(), testing::AnyOf(HasSubstr("before it arrives"), HasSubstr("reads row")));
}

TEST_F(Proof, AWrongOperand) {
  beats.matrix[1].beats[1].address[0] += 1;
  EXPECT_THAT(verdict(), HasSubstr("expected row"));
}

TEST_F(Proof, AWrongWeight) {
  beats.matrix[1].beats[5].address[1] += 1;
  EXPECT_THAT(verdict(), HasSubstr("wrong weight block"));
}

TEST_F(Proof, AWrongAccumulator) {
  beats.matrix[0].beats[1].address[2] += 1;
  EXPECT_THAT(verdict(), HasSubstr("accumulator"));
}

TEST_F(Proof, AMissingBias) {
  Beat &beat = find(beats.matrix[0], [](const Beat &b) { return b.init == isa::Init::Preload; });
  beat.init = isa::Init::Zero;
  EXPECT_THAT(verdict(), HasSubstr("the wrong bias"));
}

TEST_F(Proof, ARowOverAnother) {
  // Two neighbouring rows of the first layer to one address.
  beats.vector[0].beats[1].address[3] = beats.vector[0].beats[0].address[3];
  EXPECT_THAT(verdict(), testing::AnyOf(HasSubstr("expected row"), HasSubstr("last read")));
}

TEST_F(Proof, AnInputOverRowsStillRead) {
  // Without the wait at its end the host starts the next inference at once.
  beats.host.beats.pop_back();
  beats.host.origins.pop_back();
  EXPECT_THAT(verdict(),
              testing::AnyOf(HasSubstr("before its last read"), HasSubstr("of another inference")));
}

TEST_F(Proof, TheNextInferenceEntersBehindTheFirstLayer) {
  beats = released(1);
  EXPECT_EQ(verdict(), "sound");
  // Of two layers, nothing tells a core that the others have read its rows.
  graph = test::perceptron("c2b8", {3, 8, 3}, 3);
  work = analyse(graph);
  placement = place(graph, work, PlacementOptions{});
  beats = released(1);
  EXPECT_THAT(verdict(), HasSubstr("before its last read"));
}

TEST_F(Proof, AMissingSignal) {
  find(beats.vector[0], signals).signal = {};
  EXPECT_THAT(verdict(), testing::AnyOf(HasSubstr("deadlocks"), HasSubstr("before it arrives"),
                                        HasSubstr("reads row")));
}

TEST_F(Proof, ATokenOfTwoProducers) {
  // Core 1 announces its rows as core 0 does.
  for (Beat &beat : beats.vector[1].beats)
    if (beat.signal.on && beat.signal.units != 0)
      beat.signal.token = beats.vector[0].beats[0].signal.token;
  EXPECT_THAT(verdict(), HasSubstr("two producers"));
}

TEST_F(Proof, AnOutputInTheWrongPlace) {
  beats.vector[0].beats.back().address[3] += 1;
  EXPECT_THAT(verdict(), HasSubstr("goes to output row"));
}

TEST_F(Proof, AnotherOperation) {
  for (isa::Instruction &form : beats.vector[0].forms)
    std::get<isa::Vec>(form).post = isa::Post::None;
  EXPECT_THAT(verdict(), HasSubstr("differs from the operation"));
}

TEST_F(Proof, AnInstructionThatIsNotItsBeats) {
  Schedule schedule = *makeSchedule(graph, beats);
  std::get<isa::Mm>(schedule.lists[0][0].instruction).x += 1;
  EXPECT_THAT(verdictOf(schedule), HasSubstr("differs from the planned beat"));
}

TEST_F(Proof, AnOrderThatDeadlocks) {
  // Vector instructions behind all matrix instructions: the queue fills first.
  Schedule schedule = *makeSchedule(graph, beats);
  for (InstructionList &list : schedule.lists) {
    InstructionList sorted;
    for (const bool vector : {false, true})
      std::copy_if(list.begin(), list.end() - 1, std::back_inserter(sorted),
                   [&](const Scheduled &one) { return (one.unit == isa::Unit::Vec) == vector; });
    sorted.push_back(list.back());
    list = sorted;
  }
  EXPECT_THAT(verdictOf(schedule), HasSubstr("deadlocks"));
}

} // namespace
} // namespace sluice::plan
