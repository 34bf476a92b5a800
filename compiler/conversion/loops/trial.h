// Group sizes that were tried for a plan with loops, and why they were not chosen: for
// `sluice explain --plan`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/conversion/loops/map.h"
#include "compiler/conversion/plan/report/explain.h"
#include "compiler/conversion/plan/report/fit.h"

namespace sluice::loops {

struct Trial {
  Choice choice;
  std::vector<plan::MemoryUse> use;
  std::optional<double> cycles;     ///< of a position; nothing: it stalls, or was not run
  std::optional<std::string> wrong; ///< what its proof refused
};

/// Positions of the longest loop.
uint32_t positionsOf(const rows::Program &program);

/// The runs of lines of a choice that has several.
std::string runsText(const Choice &choice);

/// Choices as `sluice explain --plan` words them.
std::string textOf(const rows::Program &program, const Choice &choice);

/// A trial that another beats or that is no plan.
plan::Loser loserOf(const rows::Program &program, const Trial &trial);

} // namespace sluice::loops
