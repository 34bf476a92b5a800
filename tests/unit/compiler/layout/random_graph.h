// Random functions of the dialect's operations, of small tensors.
#pragma once

#include <random>
#include <vector>

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace sluice::layout {

/// Owns a module with one function `f`. The context must have the dialects of
/// sluice, func and arith loaded.
class RandomGraph {
public:
  RandomGraph(mlir::MLIRContext &context, unsigned seed);

  /// Builds the function: so many arguments of rank 1 to 3, so many operations.
  mlir::FunctionOpInterface build(int arguments, int operations);

private:
  using Extents = llvm::SmallVector<int64_t>;

  int64_t pick(int64_t low, int64_t high);
  Extents randomShape(int64_t rank);
  mlir::RankedTensorType tensor(llvm::ArrayRef<int64_t> shape);
  mlir::Value constant(llvm::ArrayRef<int64_t> shape);
  /// An earlier value of the same shape, if there is another; else the value.
  mlir::Value sibling(mlir::Value value);
  bool large(mlir::Value value) const;

  mlir::Value operation();
  /// An operation on x, or nothing if the kind that was drawn does not fit it.
  mlir::Value tryOperation(mlir::Value x);
  mlir::Value map(mlir::Value x);
  mlir::Value reshape(mlir::Value x);
  mlir::Value slice(mlir::Value x);
  mlir::Value reduce(mlir::Value x);
  mlir::Value matmulConstant(mlir::Value x);
  mlir::Value matmulActivations(mlir::Value x);
  mlir::Value contract(mlir::Value x);

  std::mt19937 random;
  mlir::OpBuilder builder;
  mlir::Location loc;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::vector<mlir::Value> values;
};

} // namespace sluice::layout
