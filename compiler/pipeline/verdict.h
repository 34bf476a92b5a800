// What becomes of a compilation.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "compiler/support/problem.h"

namespace sluice::pipeline {

/// The model compiles.
struct Compiles {
  uint64_t cycles = 0; ///< of one inference, machine idle before; 0: not measured
};

/// The target has too little memory, and nothing else is wrong.
struct Lacks {
  std::vector<LacksMemory> memories;
};

/// The model has no program for another reason.
struct Rejected {};

/// The compilation did not end within its limits, or in time.
struct Unfinished {};

/// The outcome of a compilation, by which the pipeline decides what to try next.
using Verdict = std::variant<Compiles, Lacks, TooLong, NoLayout, Rejected, Unfinished>;

/// The verdict on a model with problems.
Verdict verdictOf(const Problems &problems);

} // namespace sluice::pipeline
