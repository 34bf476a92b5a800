// The definition of each problem code: what a command does with a problem that has it. Each code
// has a page in docs/errors.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "compiler/support/problem.h"

namespace sluice::cli {

/// Exit codes of every command.
enum ExitCode : int {
  Ok = 0,
  Different = 1,  ///< a comparison failed
  Usage = 2,      ///< what was asked for cannot be asked for
  Refused = 3,    ///< the model is not supported, or refused by a rule
  DoesNotFit = 4, ///< the model does not fit the target
  Malformed = 5,  ///< an input file is malformed or unreadable
  Internal = 6,   ///< our fault
};

/// What is wrong, for callers of a command. The Python package has an exception for each.
enum class ProblemKind : uint8_t {
  Model,    ///< the model is malformed, not supported, or does not fit the target
  Program,  ///< a program file is unreadable or not valid
  Argument, ///< an argument, or a file that one names
  Run,      ///< the engine, or what it computed
};

struct ProblemCode {
  std::string_view code; ///< "E0201"
  ExitCode exit = Internal;
  ProblemKind kind = ProblemKind::Model;
  bool namesFile = false; ///< the message names the file, which may not be the model
};

/// Returns the definitions of all codes, in ascending order.
std::span<const ProblemCode> problemCodes();

/// Returns the definition of a code.
const ProblemCode &definitionOf(std::string_view code);

/// Returns the name of a kind in JSON: "model", "program", "argument" or "run".
std::string_view nameOf(ProblemKind kind);

/// Returns the exit code of the first problem, or Internal if any problem is a fault of sluice; Ok
/// without problems.
ExitCode exitCodeOf(const Problems &problems);

} // namespace sluice::cli
