// A function as a relation system: one variable per runtime tensor, one
// relation per operation, pin and graph input.
#pragma once

#include "compiler/dialect/sluice/layout.h"
#include "compiler/layout/data_dimension.h"
#include "compiler/layout/relation_solver.h"

namespace sluice::layout {

/// What a relation stands for.
struct Step {
  enum class Kind : uint8_t {
    Operation, ///< the rule of `op`
    Pin,       ///< `value` is pinned to `axis`
    Input,     ///< the cost of bringing in the graph input `value`; allows all
  };
  Kind kind = Kind::Operation;
  mlir::Operation *op = nullptr; ///< Operation
  mlir::Value value;             ///< Operation: its result
  int64_t axis = 0;
  std::string name = {}; ///< Pin: the tensor's, of a flag; empty: the type is the pin

  // Operation:
  ir::LayoutQuery query = {};
  ir::LayoutRelation relation = {};

  /// The flag of a pin: "--data-dim x=1".
  [[nodiscard]] std::string option() const;
  /// What a pin comes from.
  [[nodiscard]] std::string origin() const {
    return "pinned by " + (name.empty() ? "its type" : option());
  }
};

class LayoutSystem {
public:
  /// Collects variables and relations in program order. Pins that fit no
  /// tensor and operations without rules become problems.
  LayoutSystem(mlir::FunctionOpInterface function, const DataDimensionOptions &options,
               DataDimensions &result);

  /// Relations and steps have the same index.
  RelationSystem system;
  std::vector<Step> steps;
  std::vector<mlir::Value> values; ///< of every variable
  llvm::DenseMap<mlir::Value, VariableId> variables;

  /// The choices of a relation of tuples, over the runtime operands and the
  /// result of step `index`.
  static std::vector<Choice> choices(const ir::LayoutRelation &relation);

  /// "[a b! c]" of a value under these domains; the mark only if it is settled.
  std::string notation(mlir::Value value, llvm::ArrayRef<Domain> domains) const;

  /// The settled data dimension of a value, if it has one.
  std::optional<int64_t> dim(mlir::Value value, llvm::ArrayRef<Domain> domains) const;

  /// The first tuple of an operation's relation that the domains allow.
  const ir::LayoutTuple *tuple(const Step &step, llvm::ArrayRef<Domain> domains) const;

private:
  void addPin(mlir::Value value, int64_t axis, std::string name);
  void addOperation(mlir::Operation *op, const DataDimensionOptions &options,
                    const ConstantValues &constants, DataDimensions &result);
};

/// Adds a problem at a location.
void report(DataDimensions &result, Problem problem, mlir::Location location);

/// A problem that is one sentence, named by the node of its location.
void report(DataDimensions &result, std::string code, std::string message, mlir::Location location);

} // namespace sluice::layout
