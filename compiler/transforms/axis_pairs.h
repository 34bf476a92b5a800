// Pairs of adjacent axes that every operation treats alike, so that they can be merged into one.
#pragma once

#include <optional>

#include "compiler/dialect/sluice/operations.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/IntEqClasses.h"

namespace sluice::ir {

/// The pairs of adjacent axes of all tensors and of adjacent loops of all operations. Pairs that
/// can only be merged together form a class. A class cannot be merged if an operation treats the
/// two axes of one of its pairs differently.
class AxisPairs {
public:
  /// Finds the classes of all values in a block after layout.
  explicit AxisPairs(mlir::Block &block);

  /// The number of classes.
  [[nodiscard]] unsigned size() const { return classes.getNumClasses(); }
  /// Returns the class of the axes `axis` and `axis + 1` of a value that is not a constant.
  [[nodiscard]] unsigned classOf(mlir::Value value, int64_t axis) const {
    return classes[pairs.lookup(value) + static_cast<unsigned>(axis)];
  }
  /// Returns the class of the axes `axis` and `axis + 1` of a constant, for the operation that
  /// reads this operand; nothing if the axes stay apart.
  [[nodiscard]] std::optional<unsigned> classOf(mlir::OpOperand &constant, int64_t axis) const;

  /// Whether no operation treats the axes of the class differently.
  [[nodiscard]] bool mayMerge(unsigned theClass) const { return !apart.test(theClass); }
  /// Whether a reshape splits one axis into the axes of the class, or merges them into one.
  [[nodiscard]] bool isReshaped(unsigned theClass) const { return reshaped.test(theClass); }
  /// Adds the classes that must be merged too if those of `merged` are.
  void addNeeded(llvm::BitVector &merged) const;

private:
  class Look;
  /// The pair `one` can only be merged if the pair `needed` is.
  struct Need {
    unsigned one, needed;
  };

  llvm::IntEqClasses classes;
  unsigned count = 0;
  llvm::DenseMap<mlir::Value, unsigned> pairs; ///< the number of the first pair of each value
  llvm::DenseMap<mlir::OpOperand *, llvm::SmallVector<std::optional<unsigned>>> ofConstants;
  llvm::SmallVector<unsigned> toldApart, takenApart;
  llvm::SmallVector<Need> needs; ///< between pairs; between classes once these are known
  llvm::BitVector apart, reshaped;

  unsigned newPairs(unsigned more);
  void add(mlir::Value value);
  void tellApart(mlir::Value value);
  void look(mlir::Operation &op);
  /// Adds `one` to the set for every need whose `needed` is in the set, until nothing changes.
  /// `turned` maps each need first; it may exchange the two.
  void closeOver(llvm::BitVector &set, llvm::function_ref<Need(Need)> turned) const;
};

} // namespace sluice::ir
