// Streaming: a network over a sequence becomes one that takes a few steps of it in each inference
// and keeps what later ones need.
//
// Position i of a tensor along time stands for `every` steps of the input. An inference takes
// `steps` steps and gives steps / every positions of each tensor, of which those are meant that
// end `behind` positions before the newest one: what a window reads of the past is kept in states,
// and what it reads of the future is waited for.
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

/// --stream NAME=AXIS:STEPS
struct StreamedInput {
  std::string name;
  int64_t axis = 0;
  int64_t steps = 1; ///< of one inference
};

/// "x=1" or "x=1:4".
std::optional<StreamedInput> parseInput(llvm::StringRef text);

struct Options {
  std::vector<StreamedInput> inputs;
  int64_t delay = 0; ///< most steps that an output may be late
  /// Steps that are offered behind the last one of the sequence, so that what is late comes too:
  /// windows see their border there.
  int64_t beyond = 0;
};

/// A tensor of the function that has positions along time.
struct Sequence {
  unsigned axis = 0;
  int64_t every = 1;  ///< steps of the input that a position stands for
  int64_t behind = 0; ///< positions, of the newest one; negative: it has those to come
};

/// What an inference gives of an output of the function.
struct OutputPart {
  std::optional<unsigned> axis =
      std::nullopt;    ///< it has its positions along; none: the newest value
  int64_t skipped = 0; ///< positions that the first inferences give ahead of position 0
};

struct Result {
  /// What stands for the values before; null for one that is gone.
  llvm::DenseMap<mlir::Value, mlir::Value> replaced;
  std::vector<OutputPart> outputs; ///< by output
  int64_t late = 0;                ///< most steps that an output is late
  int64_t together = 0;            ///< a multiple of so many steps might be taken, where refused
  std::vector<std::string> notes;  ///< outputs that are behind
  Problems problems;               ///< E0120, E0207; the function is then of no more use
  std::vector<mlir::Location> locations; ///< of the problems
};

/// Changes a function, in which loops may be but no data dimensions.
Result stream(mlir::FunctionOpInterface function, const Options &options);

} // namespace sluice::streaming
