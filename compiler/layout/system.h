// The relation system of a function: one variable for each runtime tensor, one relation for each
// operation, pin and graph input.
#pragma once

#include "compiler/dialect/sluice/layout.h"
#include "compiler/layout/data_dimension.h"
#include "compiler/layout/relation_solver.h"

namespace sluice::layout {

/// The origin of a relation.
struct Step {
  enum class Kind : uint8_t {
    Operation, ///< the rule of `op`
    Pin,       ///< `value` is pinned to `axis`
    Input,     ///< the cost of sending the graph input `value`; allows every data dimension
  };
  Kind kind = Kind::Operation;
  mlir::Operation *op = nullptr; ///< Operation
  mlir::Value value;             ///< Operation: its result
  int64_t axis = 0;
  std::string name = {}; ///< Pin: name of the tensor in the flag; empty if the type is the pin

  // Operation:
  ir::LayoutQuery query = {};
  ir::LayoutRelation relation = {};

  /// Returns the flag of a pin: "--data-dim x=1".
  [[nodiscard]] std::string option() const;
  /// Returns the origin of a pin for messages: "pinned by --data-dim x=1".
  [[nodiscard]] std::string origin() const {
    return "pinned by " + (name.empty() ? "its type" : option());
  }
};

class LayoutSystem {
public:
  /// Collects variables and relations in program order. Adds a problem to `result` for each pin
  /// without a tensor and each operation without rules.
  LayoutSystem(mlir::FunctionOpInterface function, const DataDimensionOptions &options,
               DataDimensions &result);

  /// Relations and steps have the same index.
  RelationSystem system;
  std::vector<Step> steps;
  std::vector<mlir::Value> values; ///< the tensor of each variable
  llvm::DenseMap<mlir::Value, VariableId> variables;

  /// Returns the choices of a layout relation, over the runtime operands and the result.
  static std::vector<Choice> choices(const ir::LayoutRelation &relation);

  /// Returns the shape of a value as "[a b! c]". The mark is there only if one data dimension is
  /// left in its domain.
  std::string notation(mlir::Value value, llvm::ArrayRef<Domain> domains) const;

  /// Returns the data dimension of a value if only one is left in its domain.
  std::optional<int64_t> dim(mlir::Value value, llvm::ArrayRef<Domain> domains) const;

  /// Returns the first tuple of the relation of an operation that the domains allow; null if there
  /// is none.
  const ir::LayoutTuple *tuple(const Step &step, llvm::ArrayRef<Domain> domains) const;

private:
  void addPin(mlir::Value value, int64_t axis, std::string name);
  void addOperation(mlir::Operation *op, const DataDimensionOptions &options,
                    const ConstantValues &constants, DataDimensions &result);
};

/// Adds a problem at a location.
void report(DataDimensions &result, Problem problem, mlir::Location location);

/// Adds a problem with one message, for the node of its location.
void report(DataDimensions &result, std::string code, std::string message, mlir::Location location);

} // namespace sluice::layout
