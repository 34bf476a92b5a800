// Problems as the user sees them: text and JSON (schema 1).
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "compiler/support/problem_groups.h"

namespace sluice {

/// Text from outside made safe for a terminal: control characters, characters that
/// change the direction of text, and what is not UTF-8 as \xNN, byte by byte.
std::string printable(std::string_view text);

/// "[1, 5]"; "[]" is a scalar.
std::string shapeText(const std::vector<int64_t> &shape);

/// One problem, several lines, each ended:
///
///     error[E0301]: ...
///       --> model.onnx: node 3 "add_1" (Add)
///        |  operand 0 't': activation [1 5!]
///      rule DD-PW: ...
///      chain:
///        node 2 "fc" (Gemm): 't' [1 5!], ...
///      help: ... (--flag, verified, 57 cycles, 3 more)
///
/// Without a rule, the notes follow as " note: ...".
///
/// `file` may be empty. `color` adds terminal colours.
std::string problemText(const Problem &problem, const std::string &file, bool color = false);

/// The same of a problem that several nodes have, with their number behind the message
/// and before what helps:
///
///      also: node 5 "add_2" (Add), node 7 "add_3" (Add), and 9 more (--verbose lists them)
std::string problemText(const ProblemGroup &group, const std::string &file, bool color = false);

/// {"code","rule","node","message","notes","chain","fixes"}; node and rule are
/// null where there is none.
nlohmann::ordered_json problemJson(const Problem &problem);

/// `node 3 "fc" (Gemm)`; a node without an index is `node "fc"`.
std::string nodeText(const NodeRef &node);

/// `node 3 "fc" (Gemm): 't' [1 5!], why`.
std::string chainText(const ChainStep &step);

/// "57 cycles".
std::string cyclesText(uint64_t cycles);

/// "text (--flag, verified, 57 cycles, 3 more)".
std::string fixText(const Fix &fix);

/// Replaces what is not UTF-8 in the strings by U+FFFD, so that callers may dump
/// strictly.
void makeValidUtf8(nlohmann::ordered_json &value);

} // namespace sluice
