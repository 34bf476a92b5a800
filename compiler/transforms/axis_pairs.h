// Which neighbouring axes of tensors are one to every operation that reads or makes them.
#pragma once

#include <optional>

#include "compiler/dialect/sluice/operations.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/IntEqClasses.h"

namespace sluice::ir {

/// Before layout all are; after it what is known at compile time.
inline bool isConstant(mlir::Value value) { return !dataDim(value); }

/// Pairs of neighbouring axes, of every tensor, and of neighbouring loops: those that are one only
/// together are one class, and a class that some operation tells apart may not be merged.
class AxisPairs {
public:
  /// Of the values of a block after layout.
  explicit AxisPairs(mlir::Block &block);

  /// How many classes there are.
  [[nodiscard]] unsigned size() const { return classes.getNumClasses(); }
  /// The class of axes `axis` and `axis + 1` of a value that is no constant.
  [[nodiscard]] unsigned classOf(mlir::Value value, int64_t axis) const {
    return classes[pairs.lookup(value) + static_cast<unsigned>(axis)];
  }
  /// The same of a constant, as an operation reads it; none: they stay apart.
  [[nodiscard]] std::optional<unsigned> classOf(mlir::OpOperand &constant, int64_t axis) const;

  [[nodiscard]] bool mayMerge(unsigned theClass) const { return !apart.test(theClass); }
  /// Whether the axes are one somewhere already, from which a reshape makes them or which it makes
  /// of them.
  [[nodiscard]] bool isReshaped(unsigned theClass) const { return reshaped.test(theClass); }
  /// Adds to merged classes those that they are merged only with.
  void addNeeded(llvm::BitVector &merged) const;

private:
  class Look;
  /// One pair is merged only with another.
  struct Need {
    unsigned one, needed;
  };

  llvm::IntEqClasses classes;
  unsigned count = 0;
  llvm::DenseMap<mlir::Value, unsigned> pairs; ///< the first pair of a value's axes
  llvm::DenseMap<mlir::OpOperand *, llvm::SmallVector<std::optional<unsigned>>> ofConstants;
  llvm::SmallVector<unsigned> toldApart, takenApart;
  llvm::SmallVector<Need> needs; ///< of pairs, and of classes once there are
  llvm::BitVector apart, reshaped;

  unsigned newPairs(unsigned more);
  void add(mlir::Value value);
  void tellApart(mlir::Value value);
  void look(mlir::Operation &op);
  /// Adds `one` wherever `needed` is in, as `turned` has them.
  void closeOver(llvm::BitVector &set, llvm::function_ref<Need(Need)> turned) const;
};

} // namespace sluice::ir
