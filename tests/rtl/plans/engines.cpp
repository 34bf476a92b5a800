#include "tests/rtl/plans/engines.h"

#include <gtest/gtest.h>

#include "runtime/format/program_file.h"
#include "runtime/format/targets.h"
#include "tests/support/lockstep.h"
#include "tests/support/rng.h"

namespace sluice::fixtures {

Engines::Engines(const std::string &target) : vm(device::makeVm()) {
#ifdef SLUICE_HAS_RTL
  rtl = device::makeRtl(*format::findPreset(target));
#endif
}

std::vector<plan::test::Rows> Engines::run(const format::Program &program,
                                           const std::vector<plan::test::Rows> &inputs,
                                           uint64_t seed, bool onRtl) {
  for (const format::FileProblem &problem : format::check(program))
    ADD_FAILURE() << problem.code << " " << problem.message;
  size_t rows = 0;
  for (const format::HostTensor &tensor : program.models[0].outputs)
    rows += tensor.rows;
  Rng rng(seed);
  RandomProgram random;
  random.seed = seed;
  random.program = program;
  random.passes = 2; // all restart
  random.gated = false;
  for (const plan::test::Rows &inference : inputs)
    random.inputRows.insert(random.inputRows.end(), inference.begin(), inference.end());
  random.outputRows = inputs.size() * rows;
  random.validPercent = static_cast<unsigned>(rng.pick({100, 100, 70, 20}));
  random.readyPercent = static_cast<unsigned>(rng.pick({100, 100, 70, 20}));
  const LockstepResult result = runLockstep(random, *vm, onRtl ? rtl.get() : nullptr);
  EXPECT_EQ(result.difference, "");
  if (!result.difference.empty())
    return {};
  all += result.cycles;
  // The k-th row of an address belongs to the k-th inference.
  std::vector<plan::test::Rows> outputs(inputs.size(), plan::test::Rows(rows));
  std::vector<size_t> came(rows, 0);
  for (const device::OutputRow &row : result.outputs) {
    EXPECT_LT(came.at(row.address), inputs.size()) << "row " << row.address << " too often";
    if (came[row.address] == inputs.size())
      return {};
    outputs[came[row.address]++][row.address] = row.lanes;
  }
  return outputs;
}

} // namespace sluice::fixtures
