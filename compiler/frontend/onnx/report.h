// Collecting problems: every check reports here and goes on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/support/problem.h"

namespace sluice::frontend {

using Shape = std::vector<int64_t>;

/// The code of a problem, and its reason.
struct ErrorCode {
  /// Of a problem of the importer.
  enum class Kind : uint8_t { Refused, WrongShapes, NotSupported, WrongOption, InternalError };

  std::string_view text; ///< "E0205"
  Kind kind = Kind::Refused;

  constexpr ErrorCode(const char *text, Kind kind = Kind::Refused) : text(text), kind(kind) {}
  ErrorCode(const std::string &text) : text(text) {}
};
/// The importer does not know the operator of a node.
inline constexpr ErrorCode kUnknownOperator{"E0201", ErrorCode::Kind::NotSupported};
/// A node is valid ONNX that is not supported.
inline constexpr ErrorCode kNotSupported{"E0205", ErrorCode::Kind::NotSupported};
/// A node contradicts its operator, by the shapes or values of its operands.
inline constexpr ErrorCode kShapes{"E0206", ErrorCode::Kind::WrongShapes};
/// The model needs --input-shape.
inline constexpr ErrorCode kNeedsShape{"E0111", ErrorCode::Kind::WrongOption};
/// --input-shape does not suit the model.
inline constexpr ErrorCode kWrongShape{"E0112", ErrorCode::Kind::WrongOption};
/// --bind does not suit the model.
inline constexpr ErrorCode kWrongBinding{"E0117", ErrorCode::Kind::WrongOption};
/// --state does not suit the model.
inline constexpr ErrorCode kWrongState{"E0119", ErrorCode::Kind::WrongOption};
/// --inputs and --outputs do not suit the model.
inline constexpr ErrorCode kWrongCut{"E0121", ErrorCode::Kind::WrongOption};
/// The importer fails.
inline constexpr ErrorCode kInternalError{"E0199", ErrorCode::Kind::InternalError};

class Report {
public:
  explicit Report(Problems &problems) : problems(problems) {}

  /// Adds a problem of the whole model. The reference is valid until the next call.
  Problem &add(ErrorCode code, std::string message);
  /// Adds a problem of one node.
  Problem &add(ErrorCode code, const NodeRef &node, std::string message);

  size_t count() const { return problems.size(); }

private:
  Problems &problems;
};

/// What the user can do, and the flag that does it.
Fix fix(std::string text, std::optional<std::string> flag = std::nullopt);

/// Text from outside between quotes: control characters as \xNN, at most 200 bytes.
std::string inQuotes(std::string_view text);

/// "[1 5]", "[]" for rank 0.
std::string shapeText(const Shape &shape);

/// "'a', 'b'", or "none".
std::string listText(const std::vector<std::string> &names);

/// "a", "a or b", "a, b or c".
std::string alternatives(const std::vector<std::string> &words);

/// Elements of `shape`, or -1 if an extent is negative or the product exceeds `limit`.
int64_t elementCount(const Shape &shape, int64_t limit);

/// Most elements of one tensor: 2^31 - 1, so that every flat index fits an int.
inline constexpr int64_t kMaxElements = (int64_t{1} << 31) - 1;

} // namespace sluice::frontend
