// What goes wrong with a model, as far as a smaller model must have it too.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/support/problem.h"

namespace sluice::reduce {

struct Failure {
  enum class Kind : uint8_t {
    Error,   ///< the compiler reports a problem of the model or the target
    Option,  ///< an option does not suit the model, or one is missing
    Fault,   ///< the compiler reports a fault of its own, or that no memory is left
    Engines, ///< engines differ, or cannot run the program to its end
    Wrong,   ///< the program computes something else than the model
    Crash,   ///< a signal ends the process
    Timeout  ///< the compiler does not end in time
  };

  Kind kind = Kind::Error;
  std::string code = {}, rule = {}; ///< of a problem; may be empty
  std::string op = {};              ///< operator of the node at fault; may be empty
  std::string signal = {};          ///< "SIGSEGV", of a crash
  std::string stage = {};           ///< "planning", of a crash or a timeout; may be empty
  std::string message = {};         ///< of a problem
  /// Positions of nodes in the graph that the problem names, the node at fault first.
  std::vector<int64_t> nodes = {};

  /// Whether this is the same failure of another model: code, rule, operator and the words of the
  /// message; or signal and stage.
  [[nodiscard]] bool isLike(const Failure &other) const;

  /// "E0302 (DD-PW) at MatMul", "wrong value at Gemm", "SIGSEGV in stage planning",
  /// "no end in stage planning".
  [[nodiscard]] std::string text() const;

  /// What --keep calls it: a code, "wrong", "crash" or "timeout".
  [[nodiscard]] std::string name() const;
};

/// The failure that a problem is.
Failure failureOf(const Problem &problem);

/// Returns the kind of failure that a word of --keep means. It may be a code.
Failure::Kind kindNamed(std::string_view word);

} // namespace sluice::reduce
