// Program files with bytes changed and every hash made to match: the checks
// refuse a file, or the engines run it without touching what is not theirs.
#include <random>

#include <gtest/gtest.h>

#include "runtime/device/device.h"
#include "runtime/format/state.h"
#include "sim/vm/timing.h"
#include "tests/fuzz/budget.h"
#include "tests/support/random_program.h"
#include "tests/unit/runtime/format/mutate.h"
#include "tests/unit/runtime/small_program.h"

namespace sluice::test {
namespace {

using format::Program;

format::Geometry smallGeometry() {
  return {.name = "fuzz",
          .rtl = "fuzz",
          .cores = 2,
          .lanes = 8,
          .peTerms = 4,
          .weightBlocks = 16,
          .inboxRows = 64,
          .localRows = 64,
          .accumulators = 16,
          .preloadRows = 16,
          .instructions = 256,
          .hostInstructions = 32,
          .tables = 2,
          .clockMhz = 100,
          .stages = {},
          .cells = {}};
}

/// Interesting values at any width, in the sections or in the header.
std::vector<uint8_t> damage(std::vector<uint8_t> bytes, std::mt19937_64 &random) {
  const size_t sections = format::kHeaderBytes + format::kSectionCount * format::kEntryBytes;
  for (uint64_t changes = 1 + random() % 6; changes > 0; --changes) {
    const bool header = random() % 10 == 0;
    const size_t first = header ? format::kVersionOffset : sections;
    const size_t at = first + random() % ((header ? sections : bytes.size()) - first);
    switch (random() % 4) {
    case 0:
      bytes[at] ^= static_cast<uint8_t>(1U << random() % 8);
      break;
    case 1:
      bytes[at] = random() % 2 ? 0xFF : 0;
      break;
    case 2:
      bytes[at] = static_cast<uint8_t>(random());
      break;
    default:
      if (at + 4 <= bytes.size())
        store(bytes, at, static_cast<uint32_t>(random() >> (random() % 32 + 32)));
    }
  }
  rehash(bytes);
  return bytes;
}

void runSome(device::Device &engine, const Program &program, std::mt19937_64 &random) {
  std::vector<uint16_t> row(program.geometry.lanes);
  for (int cycle = 0; cycle < 1000; ++cycle) {
    row[random() % row.size()] = static_cast<uint16_t>(random());
    const auto seen = engine.step(random() % 4 ? row.data() : nullptr, random() % 4 != 0);
    if (seen.output) {
      ASSERT_EQ(seen.output->lanes.size(), row.size());
    }
  }
  engine.status();
}

/// Inferences, what saves the state, and inferences from the initial state again.
void run(const Program &program, std::mt19937_64 &random) {
  const auto engine = device::makeVm();
  engine->load(program);
  runSome(*engine, program, random);
  engine->restart(program.state.save, {});
  runSome(*engine, program, random);
  engine->restart({}, format::initialState(program));
  runSome(*engine, program, random);
  for (size_t model = 0; model < program.models.size(); ++model)
    if (!program.models[model].inputs.empty())
      vm::runTiming(program, vm::Arrival::Streaming, 3, model, 5000);
}

TEST(ProgramFuzz, DamagedFilesAreRefusedOrRun) {
  Budget budget(8);
  unsigned refused = 0, accepted = 0;
  while (budget.left()) {
    const uint64_t round = budget.next();
    SCOPED_TRACE("SLUICE_FUZZ_ROUND=" + std::to_string(round));
    std::mt19937_64 random(round);
    const auto bytes = format::write(
        round % 4 == 0 ? statefulProgram()
                       : fixtures::makeRandomProgram(round / 64, smallGeometry()).program);
    const auto read = format::read(damage(bytes, random));
    if (!read.program) {
      ++refused;
      ASSERT_FALSE(read.problems.empty());
      for (const format::FileProblem &problem : read.problems) {
        ASSERT_EQ(problem.code.substr(0, 3), "E05") << problem.message;
        ASSERT_FALSE(problem.message.empty());
      }
      continue;
    }
    ++accepted;
    ASSERT_TRUE(read.problems.empty());
    run(*read.program, random);
  }
  std::printf("%u refused, %u run\n", refused, accepted);
  EXPECT_GT(refused, 0U);
  EXPECT_GT(accepted, 0U);
}

} // namespace
} // namespace sluice::test
