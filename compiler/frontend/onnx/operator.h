// What is imported, as data: one entry per (domain, operator, since-version)
// with everything it requires of a node. A requirement's sentence is at once
// the check's message and a row of `sluice ops`.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compiler/frontend/onnx/host_tensor.h"
#include "compiler/frontend/onnx/integer_range.h"
#include "compiler/frontend/onnx/report.h"

namespace sluice::frontend {

class NodeView;
struct Tensor;
class NodeBuilder;

/// In the order of AttributeValue's alternatives.
enum class AttributeKind : uint8_t {
  Int,
  Float,
  String,
  Tensor,
  Graph,
  Ints,
  Floats,
  Strings,
  Type,
  SparseTensor ///< its value is the dense one
};
using AttributeValue =
    std::variant<int64_t, float, std::string, HostTensorRef, const onnx::GraphProto *,
                 std::vector<int64_t>, std::vector<float>, std::vector<std::string>,
                 const onnx::TypeProto *>;

struct AttributeSpec {
  std::string name;
  AttributeKind kind = AttributeKind::Int;
  std::optional<AttributeValue> byDefault = std::nullopt;
  bool required = false;
  std::vector<int64_t> allowed = {}; ///< of an Int; empty: any
};

enum class Presence : uint8_t {
  Required,
  Optional,
  Variadic,  ///< one or more, the last one of a list
  AnyNumber, ///< none or more, the last one of a list
  Refused    ///< an output nothing may ask for
};

inline bool isList(Presence presence) {
  return presence == Presence::Variadic || presence == Presence::AnyNumber;
}

enum class Types : uint8_t {
  Float,    ///< float, float16, bfloat16, double
  Integer,  ///< int32, int64
  Numeric,  ///< Float, and integers
  Any,      ///< Numeric and bool
  Sequence, ///< of tensors
  Value     ///< Any, a sequence or an optional
};

struct InputSpec {
  std::string name;
  Types types = Types::Float;
  Presence presence = Presence::Required;
  bool known = false; ///< must be known at import
};

struct OutputSpec {
  std::string name;
  Presence presence = Presence::Required;
};

struct Requirement {
  std::string sentence;
  /// What was found instead; empty if the requirement is met. Runs only if all
  /// requirements before it are met.
  std::function<std::string(const NodeView &)> violation;
  ErrorCode code = kNotSupported;
  const char *help = nullptr; ///< what could be done, if the entry knows
};

/// What an operator makes of integers that the program computes.
struct IntegerRule {
  /// How results come about.
  enum class Kind : uint8_t {
    Selected,  ///< as operands: exact, whatever they are
    Magnitude, ///< as operands or their opposites: exact, and maybe not of their type
    Computed   ///< exact up to kMostExact
  };
  Kind kind = Kind::Computed;
  /// The values that the first result may have.
  std::function<IntegerRange(const NodeView &)> range;
};

struct Operator {
  std::string domain;
  std::string name;
  int64_t since = 1;
  std::string form; ///< what it becomes, in one line
  std::vector<InputSpec> inputs;
  std::vector<OutputSpec> outputs;
  std::vector<AttributeSpec> attributes;
  std::vector<Requirement> requirements;
  /// Writes the operations. Null: only on inputs known at import.
  std::function<void(NodeBuilder &)> build;
  /// Computes the results at import, where every input is known. Null: `build` does.
  std::function<void(NodeBuilder &)> evaluate;
  /// Of an entry that takes integers which are not known at import, and computes with them.
  std::optional<IntegerRule> integers = std::nullopt;
};

class OperatorTable {
public:
  /// Adds one entry per version; all versions of an operator must be there
  /// that fall into the supported opsets.
  void add(const std::vector<int64_t> &since, Operator entry);

  /// The entry for a node of `opset`, or null.
  const Operator *find(const std::string &domain, const std::string &name, int64_t opset) const;
  /// The oldest version of an operator, or nothing.
  std::optional<int64_t> oldest(const std::string &domain, const std::string &name) const;

  using Key = std::pair<std::string, std::string>; ///< domain, name
  const std::map<Key, std::map<int64_t, Operator>> &entries() const { return operators; }

private:
  std::map<Key, std::map<int64_t, Operator>> operators;
};

/// All supported operators.
const OperatorTable &operatorTable();

/// What is found where something known at compile time is needed.
std::string describe(const Tensor &tensor);

/// "attribute 'alpha' is a float, 0.01 by default".
std::string sentence(const AttributeSpec &spec);
/// "an int", "a list of floats".
std::string kindName(AttributeKind kind);

/// The requirements that follow from the inputs and outputs, then the entry's own.
std::vector<Requirement> allRequirements(const Operator &entry);

} // namespace sluice::frontend
