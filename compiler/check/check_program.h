// Compares a program with the model that it was made from, by running it.
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

/// How the program of a streamed model relates to the graph of the whole sequence.
struct Streamed {
  std::vector<streaming::StreamedInput> inputs;
  std::vector<streaming::OutputPart> outputs; ///< by output
  int64_t late = 0;                           ///< most steps that an output is late
};

/// Runs the program on the `vm` engine and compares every output with the graph's, evaluated in
/// double. `streamed` is null for a model that takes its inputs whole.
Outcome checkProgram(const Oracle &oracle, const format::Program &program, const Streamed *streamed,
                     const Options &options, Progress *progress);

} // namespace sluice::check
