// Streaming: turns a network over a sequence into one that processes a few steps of the sequence in
// each inference and keeps a state for later inferences.
//
// A position of a tensor along time corresponds to `every` steps of the input. An inference reads
// `steps` steps and computes steps / every positions of each tensor. These end `behind` positions
// before the newest one: states keep the past positions that a window reads, and a tensor that
// depends on future positions lags until they arrive.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/support/problem.h"
#include "mlir/IR/Value.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringRef.h"

namespace sluice::streaming {

/// A streamed input: --stream NAME=AXIS:STEPS.
struct StreamedInput {
  std::string name;
  int64_t axis = 0;
  int64_t steps = 1; ///< steps in one inference
};

/// Parses "x=1" or "x=1:4"; returns nothing for any other text.
std::optional<StreamedInput> parseInput(llvm::StringRef text);

struct Options {
  std::vector<StreamedInput> inputs;
  int64_t delay = 0; ///< maximum lag of an output, in steps
  /// Additional steps after the last one of the sequence, so that outputs with a lag become
  /// complete. Windows read their border there.
  int64_t beyond = 0;
};

/// The time axis of a tensor.
struct Sequence {
  unsigned axis = 0;
  int64_t every = 1;  ///< steps of the input per position
  int64_t behind = 0; ///< lag in positions; negative: the tensor has positions that are yet to come
};

/// The part of an output that one inference computes.
struct OutputPart {
  std::optional<unsigned> axis =
      std::nullopt;    ///< time axis of the output; nothing: the newest value alone
  int64_t skipped = 0; ///< positions before position 0 that the first inferences compute
};

struct Result {
  /// The new value for each value of the original function; null if it no longer exists.
  llvm::DenseMap<mlir::Value, mlir::Value> replaced;
  std::vector<OutputPart> outputs; ///< by output
  int64_t late = 0;                ///< largest lag of an output, in steps
  int64_t together = 0; ///< if a number of steps was rejected: a multiple of this might work
  std::vector<std::string> notes;        ///< about outputs with a lag
  Problems problems;                     ///< E0120, E0207; the function is then unusable
  std::vector<mlir::Location> locations; ///< of the problems
};

/// Turns a function into its streamed form, in place. The function may contain loops, but no data
/// dimensions.
Result stream(mlir::FunctionOpInterface function, const Options &options);

} // namespace sluice::streaming
