// Evaluates a graph of the sluice dialect in double precision, and at the same time with emulated
// rounding.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseMap.h"

#include "compiler/check/program_facts.h"
#include "compiler/check/rounding.h"
#include "compiler/reference/tensor.h"

namespace sluice::check {

/// How large the elements of a tensor are.
struct Magnitude {
  double largest = 0; ///< of the finite elements
  bool isFinite = true, hasZero = false;
};

/// A tensor in several variants. Variant 0 is exact. Each other variant rounds all intermediate
/// values to bf16 in its own direction. Equal variants share a tensor.
struct Spread {
  std::vector<std::shared_ptr<const reference::Tensor>> variants;
  /// The variants as they are if nothing is rounded to bf16 behind the inputs of the function and
  /// behind quantised integers. Empty: not known.
  std::vector<std::shared_ptr<const reference::Tensor>> unrounded;
  /// Of each variant of a constant, which every step of a sequence reads again; otherwise empty.
  std::vector<Magnitude> magnitudes;

  [[nodiscard]] Magnitude magnitude(size_t variant) const;
  [[nodiscard]] const reference::Tensor &exact() const { return *variants.front(); }
  /// Returns the largest distance by which rounding moves each element; infinity if only some
  /// variants of the element are finite.
  [[nodiscard]] std::vector<double> moved() const;
};

/// Returns one rounding for each direction.
std::vector<Rounding> allDirections();
/// Returns `count` roundings in random directions.
std::vector<Rounding> randomDirections(size_t count, uint64_t seed);
/// All directions and further random ones, which must agree before an element counts as wrong.
std::vector<Rounding> manyDirections(uint64_t seed);

class Evaluator {
public:
  /// `function` has one block. Each of its operations is a constant or implements
  /// ReferenceInterface.
  Evaluator(mlir::FunctionOpInterface function, std::vector<Rounding> roundings,
            ProgramFacts facts);
  ~Evaluator();

  /// Returns the results of the function. All variants except the exact one round the arguments to
  /// the nearest bf16 numbers. States have the values that the previous run stored.
  std::vector<Spread> run(const reference::Tensors &arguments);

  /// Resets the states to their initial values.
  void reset() { states.clear(); }

  /// The number of variants of each value, including the exact one.
  [[nodiscard]] size_t variants() const { return 1 + roundings.size(); }

  /// Whether more runs follow the first, which read the constants again.
  bool keepsConstants = true;

  /// Is called with the result of each operation in the block of the function, which it may
  /// replace; may be null.
  std::function<void(mlir::Value, Spread &)> tap;

private:
  using Values = llvm::DenseMap<mlir::Value, Spread>;

  std::vector<Spread> runBlock(mlir::Block &block, Values values, bool isOutermost);
  std::vector<Spread> runOperation(mlir::Operation &op, const std::vector<Spread> &operands);
  std::vector<Spread> runRounded(mlir::Operation &op, const std::vector<Spread> &operands);
  Spread quantise(mlir::Operation &op, const std::vector<Spread> &operands);
  void addUnrounded(mlir::Operation &op, const std::vector<Spread> &operands, Spread &result);
  Spread constant(mlir::Operation &op);
  void moveElements(Spread &result) const;
  [[nodiscard]] bool isUnspecified(mlir::Operation &op, const std::vector<Spread> &operands) const;

  mlir::FunctionOpInterface function;
  std::vector<Rounding> roundings;
  ProgramFacts facts;
  llvm::DenseMap<mlir::Value, Spread> states;          ///< by result of sluice.state
  llvm::DenseMap<mlir::Operation *, Spread> constants; ///< those that are kept
  size_t kept = 0;                                     ///< elements of their variants
  llvm::DenseMap<mlir::Operation *, std::vector<Magnitude>> magnitudes; ///< of all constants
  llvm::DenseSet<mlir::Value> viewsOfConstants;
};

} // namespace sluice::check
