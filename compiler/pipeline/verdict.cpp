#include "compiler/pipeline/verdict.h"

namespace sluice::pipeline {

Verdict verdictOf(const Problems &problems) {
  if (areFor<LacksMemory>(problems)) {
    Lacks lacks;
    for (const Problem &problem : problems)
      lacks.memories.push_back(std::get<LacksMemory>(problem.reason));
    return lacks;
  }
  if (areFor<NoLayout>(problems))
    return NoLayout();
  // Loops that are too long to be written out are rejected before anything is laid out.
  if (!problems.empty() && problems.front().isFor<TooLong>())
    return std::get<TooLong>(problems.front().reason);
  return Rejected();
}

} // namespace sluice::pipeline
