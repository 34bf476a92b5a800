// Random bodies as hardware loops, every fourth program a network of windows, on both engines:
// equal bits, equal cycles, and what the bodies say. SLUICE_LOOP_PROGRAMS sets how many programs,
// SLUICE_LOOP_SEED the first seed.
#include "compiler/conversion/loops/loop_plan.h"
#include "compiler/conversion/loops/runs.h"

#include <algorithm>
#include <chrono>
#include <iostream>
#include <map>
#include <numeric>

#include <gtest/gtest.h>

#include "hw/isa/isa.h"
#include "tests/rtl/plans/engines.h"
#include "tests/rtl/plans/forced.h"
#include "tests/support/environment.h"
#include "tests/support/rng.h"
#include "tests/support/rows/programs.h"
#include "tests/support/rows/windows.h"

namespace sluice::fixtures {
namespace {

using plan::test::Rows;

/// What of the machine a plan uses.
struct Features {
  bool rings = false, registers = false, loops = false, credits = false, lines = false;
};

Features featuresOf(const format::Program &program) {
  Features found;
  const auto look = [&](const format::InstructionWords &words) {
    const auto one = isa::decode(words);
    if (!one)
      return;
    if (const auto *mm = std::get_if<isa::Mm>(&*one)) {
      found.rings = found.rings || mm->xRing != 0;
      found.registers = found.registers || mm->xReg != 0;
    } else if (const auto *vec = std::get_if<isa::Vec>(&*one)) {
      found.rings = found.rings || vec->aRing != 0;
      found.registers = found.registers || vec->dstReg != 0;
      found.lines = found.lines || vec->dstRing != 0;
    } else if (const auto *input = std::get_if<isa::Input>(&*one)) {
      found.credits = found.credits || (input->dstRing != 0 && input->waitEn != 0);
    }
    found.loops = found.loops || std::holds_alternative<isa::Loop>(*one);
  };
  for (const format::CoreImage &core : program.cores)
    for (const format::InstructionWords &words : core.instructions)
      look(words);
  for (const format::InstructionWords &words : program.hostInstructions)
    look(words);
  return found;
}

void count(const Features &features, std::map<std::string, uint64_t> &seen) {
  seen["plans with hardware loops"] += features.loops;
  seen["plans with address registers"] += features.registers;
  seen["plans with rings"] += features.rings;
  seen["plans whose cores give groups back"] += features.credits;
  seen["plans whose layers are in rings of lines"] += features.lines;
}

/// A network one of whose cores takes all the tokens of its input and multiplies nothing of it.
constexpr uint64_t kIdleMatrixUnit = 5043;
/// One whose matrix units multiply constants ahead of the next input, until results have no room.
constexpr uint64_t kMatrixUnitAhead = 700894;
/// One where a sum over all positions is rounded the other way if groups have another size.
constexpr uint64_t kTie = 700861;

TEST(RandomLoops, RunAsTheirBodiesSay) {
  const uint64_t programs = fromEnvironment("SLUICE_LOOP_PROGRAMS", 60);
  const uint64_t first = fromEnvironment("SLUICE_LOOP_SEED", 1000);
  const auto start = std::chrono::steady_clock::now();
  Engines engines("c2b8");
  std::map<std::string, uint64_t> seen;
  std::vector<uint64_t> seeds(programs);
  std::iota(seeds.begin(), seeds.end(), first);
  seeds.insert(seeds.end(), {kIdleMatrixUnit, kMatrixUnitAhead, kTie});
  for (const uint64_t seed : seeds) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    const bool windows = seed % 4 == 3;
    const uint32_t most = rng.percent(50) ? 20 : 120; // positions, or trips
    // Those of many positions go through rings.
    const rows::Program program = windows ? loops::test::windowNetwork("c2b8", seed, 6 * most)
                                          : loops::test::randomProgram("c2b8", seed, most);
    const rows::Graph graph = loops::test::flatten(program);
    std::mt19937_64 random(seed);
    const std::vector<Rows> inputs{plan::test::randomRows(graph, random),
                                   plan::test::randomRows(graph, random)};
    const std::vector<Rows> expected{plan::test::evaluate(graph, inputs[0]),
                                     plan::test::evaluate(graph, inputs[1])};
    // The plan that is chosen, whose groups are large if they can be, and one of small groups.
    plan::Plan chosen;
    std::vector<format::Program> plans;
    const Problems problems = loops::makeLoopPlan(program, {}, chosen);
    if (problems.empty()) {
      plans.push_back(plan::test::assemble(chosen));
      ++seen["programs planned"];
    } else {
      ASSERT_NE(problems[0].code, "E0499") << problems[0].message;
      ++seen["programs refused as " + problems[0].code];
    }
    if (auto small = inLoops(loops::runnable(program), {static_cast<uint32_t>(rng.range(1, 3))})) {
      plans.push_back(std::move(*small));
      ++seen["programs planned in small groups"];
    }
    // A few lines of all layers at a time: what is alike becomes a loop.
    const uint32_t lines = 2 * static_cast<uint32_t>(rng.range(2, 6));
    const uint32_t runs = windows ? loops::runsOf(program, lines) : 1;
    constexpr uint32_t kFewRuns = 8;
    if (runs >= kFewRuns)
      if (auto alike =
              inLoops(loops::runnable(program), {program.geometry.accumulators, runs, lines})) {
        plans.push_back(std::move(*alike));
        ++seen["programs planned in many runs of lines"];
      }
    // Sums over positions are rounded core by core, and whose positions are added depends on the
    // size of groups: rarely, the last bit of what they are merged to does. The rest has equal
    // bits.
    const bool sums = std::ranges::any_of(program.bodies, [](const rows::Body &body) {
      return std::ranges::any_of(
          body.writes, [](const rows::Write &write) { return write.fold == rows::Fold::Sum; });
    });
    std::vector<Rows> bits;
    for (const format::Program &planned : plans) {
      const std::vector<Rows> outputs = engines.run(planned, inputs, seed);
      for (size_t i = 0; i < outputs.size(); ++i)
        plan::test::expectNear(outputs[i], expected[i]);
      if (!bits.empty() && !sums)
        EXPECT_EQ(outputs, bits) << "the size of groups changes values";
      bits = outputs;
      count(featuresOf(planned), seen);
    }
    if (HasFailure())
      return;
    const auto all = [](const rows::Read &read) { return read.all; };
    seen["programs with windows"] += windows;
    seen["programs of several bodies"] += program.bodies.size() > 1;
    seen["programs with folds"] += std::ranges::any_of(program.bodies, [](const rows::Body &body) {
      return std::ranges::any_of(body.writes,
                                 [](const rows::Write &write) { return write.fold.has_value(); });
    });
    seen["programs with several inputs"] += program.inputs.size() > 1;
    seen["programs that read all positions"] +=
        std::ranges::any_of(program.bodies, [&](const rows::Body &body) {
          return std::ranges::any_of(body.reads, all);
        });
    seen["programs whose weights are activations"] += std::ranges::any_of(
        program.bodies, [](const rows::Body &body) { return !body.trip.dynamic.empty(); });
  }
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  std::cout << seeds.size() << " programs on " << (engines.hasRtl() ? "vm and rtl" : "vm") << ", "
            << engines.cycles() << " cycles without a difference, " << taken.count() << " s\n";
  for (const auto &[what, number] : seen) {
    std::cout << "  " << number << " " << what << "\n";
    EXPECT_TRUE(number != 0 || programs < 50) << what;
  }
  EXPECT_GE(seen["programs planned"], programs * 3 / 4);
}

} // namespace
} // namespace sluice::fixtures
