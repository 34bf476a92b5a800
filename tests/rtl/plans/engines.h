// Plans on both engines in lockstep: what they give out.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/device/device.h"
#include "tests/support/rows/runs.h"

namespace sluice::fixtures {

/// The model, and the RTL if this build has it for the target.
class Engines {
public:
  explicit Engines(const std::string &target);

  [[nodiscard]] bool hasRtl() const { return rtl != nullptr; }
  [[nodiscard]] uint64_t cycles() const { return all; } ///< of all runs so far

  /// The output rows of inferences one after the other, by inference and address; the host pauses
  /// as `seed` says. Fails the test if the engines differ in any cycle, or the program does not
  /// come to rest; then the rows are missing. Without `onRtl` the model runs alone.
  std::vector<plan::test::Rows> run(const format::Program &program,
                                    const std::vector<plan::test::Rows> &inputs, uint64_t seed,
                                    bool onRtl = true);

private:
  std::unique_ptr<device::Device> vm, rtl;
  uint64_t all = 0;
};

} // namespace sluice::fixtures
