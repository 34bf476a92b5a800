// What the user is told: one record per problem, from every phase, collected
// so that all of them are reported at once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compiler/support/problem_fwd.h"

namespace sluice {

/// A node of the ONNX graph. index is its position, -1 where there is none.
struct NodeRef {
  int64_t index = -1;
  std::string name;
  std::string op;
  std::string source = {}; ///< "model.py:12": the line it was written in, if that is known
};

/// One deduction on the way to a data-dimension conflict.
struct ChainStep {
  NodeRef node;
  std::string tensor;         ///< ONNX name
  std::vector<int64_t> shape; ///< extents
  std::optional<int64_t> dataDim;
  std::string why;
};

/// What the user can do about a problem.
struct Fix {
  std::string text;
  std::optional<std::string> flag; ///< the command-line flag, if the fix is one
  bool verified = false;           ///< the model with exactly this change compiled
  /// Of one inference of the program with this change, the machine idle before.
  std::optional<uint64_t> cycles;
  std::optional<uint64_t> extraCycles = std::nullopt; ///< more than with the problem's cheapest fix
  bool unmeasured = false; ///< the cycles are not known, because finding them takes too long
};

/// A model needs more of a memory than the target has.
struct LacksMemory {
  std::string memory; ///< "weight blocks" (plan::MemoryUse)
  uint64_t needed = 0, available = 0;
  bool atLeast = false; ///< `needed` is a lower bound, found before anything is planned
};

/// A loop is too long to be unrolled.
struct TooLong {
  int64_t operations = 0, allowed = 0; ///< `operations` of one iteration
};

/// The tensors of a model have no data dimensions that all rules allow.
struct NoLayout {};

/// Shapes that contradict each other: other extents of the inputs may be the cause.
struct WrongShapes {};

/// The compiler does not support a node: a part of the model without it may compile.
struct NotSupported {};

/// An option does not suit the model, or the model needs an option.
struct WrongOption {};

/// A model that no other way of compiling helps, or a command that cannot do what it is asked for.
struct Refused {};

/// The program does not compute what the model does. A fault of sluice.
struct WrongProgram {};

/// An engine cannot run a program to its end. A fault of sluice, unless the program file was
/// changed.
struct EngineStops {
  bool isStall = false; ///< nothing happens any more; otherwise a rule of the machine is broken
};

/// Engines run a program differently. A fault of sluice.
struct EnginesDiffer {};

/// Any other fault of sluice.
struct InternalError {};

/// This machine has no memory left.
struct LacksHostMemory {};

/// An input of a run is not given.
struct LacksInput {};

/// Why there is a problem, with its figures. Code that reacts to a problem asks for this; the code
/// of a problem is for the user.
using Reason = std::variant<Refused, LacksMemory, TooLong, NoLayout, WrongShapes, NotSupported,
                            WrongOption, WrongProgram, EngineStops, EnginesDiffer, InternalError,
                            LacksHostMemory, LacksInput>;

/// One problem. Messages: lower case, no full stop, the value found and the
/// value allowed.
struct Problem {
  std::string code; ///< "E0201"; the hundreds say the phase (docs: sluice explain CODE)
  std::string rule; ///< "DD-PW", or empty
  std::optional<NodeRef> node;
  std::string message;
  std::vector<std::string> notes; ///< further lines, each complete in itself
  std::vector<ChainStep> chain;
  std::vector<Fix> fixes;
  Reason reason = {};

  template <typename R> [[nodiscard]] bool isFor() const {
    return std::holds_alternative<R>(reason);
  }
};

/// Whether all problems have a reason of one type; false without problems.
template <typename R> bool areFor(const Problems &problems) {
  return !problems.empty() && std::ranges::all_of(problems, &Problem::isFor<R>);
}

/// Whether a problem is a fault of sluice. Engines that differ are not: they are what a comparison
/// found.
inline bool isFault(const Problem &problem) {
  return problem.isFor<WrongProgram>() || problem.isFor<EngineStops>() ||
         problem.isFor<InternalError>();
}

/// Whether running a program found a problem: engines that differ, a stall, a broken rule of the
/// machine.
inline bool isOfEngines(const Problem &problem) {
  return problem.isFor<EngineStops>() || problem.isFor<EnginesDiffer>();
}

} // namespace sluice
