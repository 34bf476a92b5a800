// Checks a program: runs it and compares its outputs with those of the model.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/check/oracle.h"
#include "compiler/check/outcome.h"
#include "compiler/streaming/streaming.h"
#include "compiler/support/progress.h"
#include "runtime/format/program.h"

namespace sluice::check {

/// The relation between the program of a streamed model and the graph of the whole sequence.
struct Streamed {
  std::vector<streaming::StreamedInput> inputs;
  std::vector<streaming::OutputPart> outputs; ///< by output
  int64_t late = 0;                           ///< largest lag of an output, in steps
};

/// Runs the program on the `vm` engine and compares every output with that of the graph in double
/// precision. `streamed` is null for a model that is not streamed. A wrong output is the problem
/// E0498 of the outcome.
Outcome checkProgram(const Oracle &oracle, const format::Program &program, const Streamed *streamed,
                     const Options &options, Progress *progress);

} // namespace sluice::check
