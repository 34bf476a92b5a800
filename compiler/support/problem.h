// What the user is told: one record per problem, from every phase, collected
// so that all of them are reported at once.
#pragma once

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

/// A model that no other way of compiling helps.
struct Refused {};

/// Why there is a problem, with its figures. Code that reacts to a problem asks for this; the code
/// of a problem is for the user.
using Reason = std::variant<Refused, LacksMemory, TooLong, NoLayout, WrongShapes>;

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

} // namespace sluice
