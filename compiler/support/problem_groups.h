// Problems that many nodes share, so that they are said once.
#pragma once

#include <vector>

#include "compiler/support/problem.h"

namespace sluice {

/// Problems that differ in nothing but the node, and for those of a layout in how the
/// node came to be refused: the first, and the nodes of the others.
struct ProblemGroup {
  const Problem *first = nullptr;
  std::vector<const NodeRef *> others;
};

/// The groups of all problems, in the order of their first. A problem without a node
/// is alone. They point into `problems`.
std::vector<ProblemGroup> groupProblems(const Problems &problems);

} // namespace sluice
