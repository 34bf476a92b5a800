// What the user is told: one record per problem, from every phase, collected
// so that all of them are reported at once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
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
};

} // namespace sluice
