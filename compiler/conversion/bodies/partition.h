// Which loops over positions a function is, and which of its operations are in
// them: cuts of values that fit together, and levels of operations.
#pragma once

#include <optional>
#include <vector>

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

#include "compiler/conversion/bodies/cut.h"

namespace sluice::bodies {

/// How a runtime value is made and read: in trips, each of which makes a block, or
/// at once.
struct Partition {
  llvm::DenseMap<mlir::Value, Cut> cuts; ///< values made in trips
  /// Level of every operation on runtime values. Even levels are loops, one for every
  /// number of trips, odd ones happen once. What reads other blocks of a value than that of its
  /// own trip is on a later level than it.
  llvm::DenseMap<mlir::Operation *, unsigned> levels;
  unsigned lastLevel = 0;
  /// Values that pass from one level to another are read where windows say, not trip by trip: their
  /// loops need not have the same number of trips, nor deal them out to the cores in the same way.
  bool windows = false;

  [[nodiscard]] std::optional<Cut> cutOf(mlir::Value value) const {
    const auto found = cuts.find(value);
    return found == cuts.end() ? std::nullopt : std::optional(found->second);
  }
  /// Of the operation that makes a value; -1 for arguments and constants.
  [[nodiscard]] int levelOf(mlir::Value value) const;
  /// Of a value; 1 if it is made at once.
  [[nodiscard]] int64_t tripsOf(mlir::Value value) const;
  /// What an operation reads of its operands in one trip.
  [[nodiscard]] Needs readsOf(mlir::Operation *op) const;

  /// How an operation that happens once is made of blocks of its operand as they come, if
  /// it is: the operand's level folds them.
  [[nodiscard]] std::optional<rows::Fold> foldOf(mlir::Operation *op) const;
};

/// The loops that most of the function's work is in: those along one axis of an argument whose
/// rows the host offers block by block or, in a function with windows, along the first axis of
/// each that can be cut. Nothing if there is none of at least two trips. Runtime tensors must have
/// a data dimension.
std::optional<Partition> findPartition(mlir::func::FuncOp function);

} // namespace sluice::bodies
