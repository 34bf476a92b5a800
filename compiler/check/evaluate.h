// Evaluates a graph of the sluice dialect in double, and with emulated rounding beside it.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseMap.h"

#include "compiler/check/rounding.h"
#include "compiler/reference/tensor.h"

namespace sluice::check {

/// A tensor in several variants: variant 0 is exact, and in each of the others every value on the
/// way is rounded to bf16 in one direction. Variants that are equal share a tensor.
struct Spread {
  std::vector<std::shared_ptr<const reference::Tensor>> variants;

  [[nodiscard]] const reference::Tensor &exact() const { return *variants.front(); }
  /// Returns how far rounding moves each element at most; infinite where variants differ in being
  /// finite.
  [[nodiscard]] std::vector<double> moved() const;
};

/// The directions of the rounded variants.
std::vector<Rounding> allDirections();
/// `count` variants of random directions.
std::vector<Rounding> randomDirections(size_t count, uint64_t seed);

class Evaluator {
public:
  /// `function` has one block, whose operations are constants or have a reference.
  Evaluator(mlir::FunctionOpInterface function, std::vector<Rounding> roundings);
  ~Evaluator();

  /// Returns the results of the function. The arguments are rounded to the nearest bf16 numbers in
  /// all variants but the exact one. States are those that the evaluation before kept.
  std::vector<Spread> run(const reference::Tensors &arguments);

  /// Puts the states back to their initial values.
  void reset() { states.clear(); }

  /// Variants of each value, the exact one among them.
  [[nodiscard]] size_t variants() const { return 1 + roundings.size(); }

  /// Called with the results of the operations of the function's block.
  std::function<void(mlir::Value, const Spread &)> tap;

private:
  using Values = llvm::DenseMap<mlir::Value, Spread>;

  std::vector<Spread> runBlock(mlir::Block &block, Values values, bool isOutermost);
  std::vector<Spread> runOperation(mlir::Operation &op, const std::vector<Spread> &operands);
  Spread constant(mlir::Operation &op);

  mlir::FunctionOpInterface function;
  std::vector<Rounding> roundings;
  llvm::DenseMap<mlir::Value, Spread> states; ///< by result of sluice.state
  llvm::DenseMap<mlir::Operation *, Spread> constants;
  llvm::DenseSet<mlir::Value> viewsOfConstants;
};

} // namespace sluice::check
