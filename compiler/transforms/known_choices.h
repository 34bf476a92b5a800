// Maps in which constants choose between values: the value that each row gets.
#pragma once

#include <optional>
#include <vector>

#include "compiler/dialect/sluice/operations.h"
#include "compiler/dialect/sluice/tensors.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/SetVector.h"

namespace sluice::ir {

/// The body of a map for rows in which constants make the same choices.
struct Variant {
  mlir::Value result;                              ///< a scalar of the map's body
  llvm::SmallSetVector<mlir::Operation *, 8> body; ///< operations it needs, operands first
  llvm::SmallSetVector<unsigned, 4> operands;      ///< of the map, that it reads
  std::optional<double> constant;                  ///< the result, if it is known

  /// Whether nothing is computed: the result is an element of an operand, or a constant.
  [[nodiscard]] bool isMoved() const { return constant || llvm::isa<mlir::BlockArgument>(result); }
};

/// The choices of a map that constants make.
class KnownChoices {
public:
  /// Returns the choices of a map whose data dimension is `dim`; nothing if no row has any.
  static std::optional<KnownChoices> of(MapOp map, int64_t dim, int64_t lanes);

  /// The bodies. A body has the choices that differ between the elements of a row.
  [[nodiscard]] llvm::ArrayRef<Variant> variants() const { return bodies; }
  /// The number of the variant of each row (NumberedRows).
  [[nodiscard]] const std::vector<unsigned> &numbers() const { return rows; }

  [[nodiscard]] llvm::ArrayRef<int64_t> shape() const { return shapeOf(map().getResult()); }

  /// Builds a box of elements by one variant that moves.
  mlir::Value move(mlir::OpBuilder &builder, unsigned number, const space::Region &box) const;
  /// Builds a map by one variant. `part` returns what it reads of an operand.
  mlir::Value compute(mlir::OpBuilder &builder, unsigned number,
                      llvm::function_ref<mlir::Value(mlir::Value operand)> part,
                      mlir::RankedTensorType type) const;

private:
  explicit KnownChoices(MapOp map) : owner(map) {}

  /// A scalar operation that is one of its operands in some elements.
  struct Choice {
    mlir::Operation *op;
    std::vector<unsigned> operand; ///< by element
  };
  /// Which operand each choice is in a row.
  using Outcomes = std::vector<unsigned>;

  [[nodiscard]] MapOp map() const { return owner; }
  void findChoices();
  void add(mlir::Operation &op, llvm::ArrayRef<double> values,
           llvm::function_ref<unsigned(double)> operandFor);
  [[nodiscard]] std::vector<double> valuesOf(mlir::Value scalar) const;
  [[nodiscard]] bool isKnown(mlir::Value scalar) const;
  [[nodiscard]] mlir::Value resolved(mlir::Value scalar, const Outcomes &outcomes) const;
  [[nodiscard]] Variant variantOf(const Outcomes &outcomes) const;
  void numberRows(int64_t dim, int64_t lanes);

  MapOp owner;
  std::vector<Choice> choices;
  std::vector<Outcomes> outcomesOf; ///< by variant
  std::vector<Variant> bodies;
  std::vector<unsigned> rows;
};

} // namespace sluice::ir
