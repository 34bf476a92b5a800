// A map whose rows are not made yet: maps before it are inlined, an affine part
// goes into the matrix product before or behind it, the rest becomes steps.
#pragma once

#include "compiler/conversion/rows/lowering.h"
#include "compiler/support/problem.h"

namespace sluice::rows {

class LazyMap final : public Lazy {
public:
  LazyMap(mlir::Value result) : result(result) {}

  RowTensor emit(Lowering &lowering) override;
  LazyMap *asMap() override { return this; }
  void addReads(Lowering &lowering, llvm::SmallVectorImpl<mlir::Value> &reads) override;

  /// The map as an affine function of one value whose rows exist anyway.
  struct Affine {
    mlir::Value base;
    std::vector<double> scale, offset; ///< by row-major index of the result
  };
  std::optional<Affine> affine(Lowering &lowering);
  /// The result as scaled and shifted elements of its operand, if it is affine.
  std::optional<RowTensor> affineRows(Lowering &lowering);

  /// Node of an operand: inlines a pending map that nobody else uses, takes
  /// equal constants as immediates.
  NodeId addOperand(Lowering &lowering, mlir::Value operand);

  Expr expr;

private:
  /// Operand of the expression: a runtime value, an equally shaped constant, or
  /// rows made on the way.
  struct Operand {
    mlir::Value value;
    std::vector<double> constant; ///< by row-major index of the result
    std::optional<RowTensor> rows;
    bool wide = false; ///< the constant is fp32, for a step's operand b alone
    Number number;     ///< what is known of `rows`
    [[nodiscard]] bool isConstant() const { return !constant.empty(); }
  };

  [[nodiscard]] bool dependsOnConstantsOnly(NodeId node) const;
  /// Returns the values of a node that depends on constants alone, by element.
  std::vector<double> valuesOf(const Expr &of, NodeId node, int64_t elements) const;
  bool mayAdd(const Expr &of, NodeId one, NodeId other, NodeId sum, int64_t elements) const;
  void foldConstantParts(Lowering &lowering);
  void emitIntegers(Lowering &lowering);
  void absorbIntoProducts(Lowering &lowering);
  void absorbBehind(Lowering &lowering, NodeId input, LazyLinear &product);
  void roundBehind(Lowering &lowering, NodeId at, LazyLinear &product, const OutputAffine &after,
                   double most, bool isExact);
  void replace(NodeId at, const std::function<NodeId(Expr &)> &by);
  [[nodiscard]] bool roundsToIntegers() const;
  [[nodiscard]] std::vector<std::optional<NodeRef>> quantisersOf(const Lowering &lowering) const;
  [[nodiscard]] std::vector<Number> operandNumbers(const Lowering &lowering) const;
  void addDifference(Lowering &lowering, const MapPlan &plan,
                     const std::vector<MapOperand> &facts) const;
  bool ownsAllUses(mlir::Value value) const;
  RowTensor emitSteps(Lowering &lowering);
  void repeatSums(Lowering &lowering, const MapPlan &plan, const MapStep &step,
                  std::vector<RowTensor> &operandRows);
  RowTensor emitPlan(Lowering &lowering, MapPlan &plan, std::vector<RowTensor> &operandRows,
                     const std::vector<RowTensor> &lowerHalves);

  mlir::Value result;
  std::vector<Operand> operands;
  Expr real; ///< what the steps compute, of the operands; only if it rounds to integers
  std::vector<std::optional<NodeRef>> quantisers; ///< the nodes of the roundings
  std::optional<NodeId> exactEnd; ///< of `real`: up to it, integers are those of real numbers
};

} // namespace sluice::rows
