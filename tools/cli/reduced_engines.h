// The comparison of both engines for sluice reduce.
#pragma once

#include <optional>
#include <vector>

#include "compiler/reduce/facts.h"
#include "compiler/support/problem.h"
#include "runtime/format/program.h"

namespace sluice::cli {

/// Runs a program on `vm` and `rtl` with samples, or with random inputs if there are none. Returns
/// E0614 if a bit or a cycle differs, and the problem of an engine that does not run.
std::optional<Problem> compareEngines(const format::Program &program,
                                      const std::vector<reduce::Sample> &samples);

} // namespace sluice::cli
