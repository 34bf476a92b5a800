// The search for a target with room, on a model whose needs the test makes up.
#include "compiler/pipeline/room.h"

#include <thread>

#include <gtest/gtest.h>

#include "runtime/format/targets.h"

namespace sluice::pipeline {
namespace {

using format::Geometry;

constexpr auto kLong = std::chrono::minutes(10);

Lacks lacking(const std::string &memory, uint64_t needed, uint64_t available,
              bool atLeast = false) {
  return {{{memory, needed, available, atLeast}}};
}

/// A target of the user, smaller than all presets.
Geometry small() {
  Geometry geometry = *format::findPreset("c2b8");
  geometry.name = "small";
  geometry.weightBlocks = 100;
  return geometry;
}

/// A model that needs weight blocks of small(), and fits no target with other lanes.
class Model {
public:
  explicit Model(uint32_t blocks) : blocks(blocks) {}

  Verdict operator()(const Geometry &target, Effort effort, Clock::time_point /*until*/) {
    ++trials;
    if (target.lanes != 8 || target.name == "c2b8")
      return Rejected();
    if (target.weightBlocks < blocks)
      return Lacks{{{"weight blocks", blocks, target.weightBlocks}}};
    return Compiles{effort == Effort::Fast ? 90U : 80U};
  }

  TryGeometry call() {
    return [this](const auto &...all) { return (*this)(all...); };
  }

  unsigned trials = 0;

private:
  uint32_t blocks;
};

TEST(Room, TheSmallestPowerOfTwoIsFound) {
  for (const auto &[needs, said, found] : {std::tuple{150U, 150U, 256U},
                                           {150U, 900U, 256U},  // halved
                                           {900U, 150U, 1024U}, // doubled
                                           {256U, 256U, 256U},
                                           {257U, 200U, 512U}}) {
    Model model(needs);
    const Room room = findRoom(small(), lacking("weight blocks", said, 100), Effort::Default, kLong,
                               model.call());
    ASSERT_TRUE(room.change && room.change->program);
    EXPECT_EQ(room.change->field, "weight_blocks");
    EXPECT_EQ(room.change->from, 100U);
    EXPECT_EQ(room.change->to, found) << needs << " " << said;
    EXPECT_EQ(room.change->program->cycles, 80U);
    EXPECT_TRUE(room.finished);
    EXPECT_FALSE(room.preset);
  }
}

TEST(Room, ABoundIsNotHalved) {
  Model model(300);
  const Room room = findRoom(small(), lacking("weight blocks", 600, 200, true), Effort::Fast, kLong,
                             model.call());
  ASSERT_TRUE(room.change && room.change->program);
  EXPECT_EQ(room.change->to, 512U);
  EXPECT_EQ(model.trials, 1U + room.rejected);
}

TEST(Room, MoreThanATargetFileMayHaveIsNotTried) {
  const Room room = findRoom(small(), lacking("function tables", 17, 4), Effort::Fast, kLong,
                             [](const auto &...) { return Rejected(); });
  EXPECT_FALSE(room.change);
  EXPECT_FALSE(room.preset);
  EXPECT_TRUE(room.finished);
}

TEST(Room, TheSmallestPresetIsFound) {
  const TryGeometry larger = [](const Geometry &target, Effort effort, Clock::time_point) {
    if (target.lanes == 8 || target.name == "c6b32")
      return Verdict(Rejected());
    return Verdict(Compiles{effort == Effort::Fast ? 9U : 7U});
  };
  const Room room =
      findRoom(small(), lacking("weight blocks", 900, 100), Effort::High, kLong, larger);
  ASSERT_TRUE(room.preset);
  EXPECT_EQ(room.preset->name, "c3b64"); // before c6b32-deep, which holds more weights
  EXPECT_EQ(room.preset->program.cycles, 7U);
  EXPECT_EQ(room.preset->program.effort, Effort::High);
  EXPECT_FALSE(room.change);
}

TEST(Room, NoSmallerMachineIsOffered) {
  const TryGeometry smaller = [](const Geometry &target, Effort, Clock::time_point) {
    return target.name == "ecp5-85f" ? Verdict(Compiles{9}) : Verdict(Rejected());
  };
  EXPECT_FALSE(
      findRoom(small(), lacking("weight blocks", 900, 100), Effort::Fast, kLong, smaller).preset);
  Geometry one = small(); // of the same lanes and cores
  one.lanes = 4;
  one.cores = 1;
  EXPECT_TRUE(
      findRoom(one, lacking("weight blocks", 900, 100), Effort::Fast, kLong, smaller).preset);
}

TEST(Room, AnotherMemoryThatIsLackingEndsTheSearch) {
  unsigned trials = 0;
  const Room room = findRoom(small(), lacking("instructions", 600, 512), Effort::Fast, kLong,
                             [&](const Geometry &target, Effort, Clock::time_point) -> Verdict {
                               if (target.name != "small")
                                 return Rejected();
                               ++trials;
                               return Lacks{{{"host instructions", 129, 128}}};
                             });
  EXPECT_FALSE(room.change);
  EXPECT_EQ(trials, 1U);
  EXPECT_TRUE(room.finished);
}

TEST(Room, WithoutTimeOnlyABoundIsOffered) {
  const TryGeometry never = [](const auto &...) { return Unfinished(); };
  for (const bool isBound : {false, true}) {
    const Room room = findRoom(small(), lacking("weight blocks", 600, 200, isBound), Effort::Fast,
                               std::chrono::seconds(0), never);
    EXPECT_FALSE(room.finished);
    EXPECT_FALSE(room.preset);
    EXPECT_EQ(room.change.has_value(), isBound);
    if (isBound) {
      EXPECT_EQ(room.change->to, 512U);
      EXPECT_FALSE(room.change->program);
    }
  }
}

TEST(Room, WithoutTimeForMoreEffortTheCyclesAreThoseOfLess) {
  const Room room =
      findRoom(small(), lacking("weight blocks", 150, 100), Effort::High, kLong,
               [](const Geometry &target, Effort effort, Clock::time_point) -> Verdict {
                 if (target.name != "small")
                   return Rejected();
                 if (effort == Effort::High)
                   return Unfinished();
                 return Compiles{5};
               });
  ASSERT_TRUE(room.change && room.change->program);
  EXPECT_EQ(room.change->program->effort, Effort::Fast);
  EXPECT_EQ(room.change->program->cycles, 5U);
}

TEST(ChildProcess, TheResultComesBack) {
  const std::string text(1 << 20, 'x');
  EXPECT_EQ(runInChild([&] { return text; }, Clock::now() + kLong), text);
}

TEST(ChildProcess, TimeEndsIt) {
  const auto start = Clock::now();
  const auto forever = []() -> std::string {
    for (;;)
      std::this_thread::sleep_for(std::chrono::seconds(1));
  };
  EXPECT_FALSE(runInChild(forever, start + std::chrono::milliseconds(50)));
  EXPECT_FALSE(runInChild(forever, start));
  EXPECT_LT(Clock::now() - start, std::chrono::seconds(60));
}

TEST(ChildProcess, FailuresGiveNothing) {
  EXPECT_FALSE(runInChild([]() -> std::string { throw std::bad_alloc(); }, Clock::now() + kLong));
  EXPECT_FALSE(runInChild([]() -> std::string { std::abort(); }, Clock::now() + kLong));
}

} // namespace
} // namespace sluice::pipeline
