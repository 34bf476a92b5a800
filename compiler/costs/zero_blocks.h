// The cost of a product with a constant, without the block products whose weights are all zero.
#pragma once

#include <optional>
#include <vector>

#include "compiler/costs/cost.h"

namespace sluice::space {

/// A product of an activation with a constant. A block of weights that is zero is not stored, and
/// an operand row that only such blocks multiply is not read.
class ConstantProduct {
public:
  /// Returns the product with the elements of its constant operand in row-major order; nothing if
  /// the index space is not that of such a product. The space, the layouts and the weights must
  /// outlive it.
  static std::optional<ConstantProduct> of(const IndexSpace &space, const RowLayouts &layouts,
                                           llvm::ArrayRef<double> weights);

  /// Returns the cost of a block. A block of more than two million products counts as if no weight
  /// were zero.
  [[nodiscard]] Cost costOf(const Region &block) const;
  /// Returns the cost that the next step of `loop` adds to stepBlock(); nothing if there is none.
  [[nodiscard]] std::optional<Cost> marginalCost(unsigned loop) const;

  /// The activation, and its elements that a step of a loop and the next one read.
  [[nodiscard]] unsigned operand() const { return activation; }
  struct Shared {
    int64_t elements = 0; ///< that both steps read
    int64_t of = 0;       ///< that the step reads
  };
  [[nodiscard]] Shared shared(const Region &block, unsigned loop) const;

private:
  ConstantProduct(const IndexSpace &space, const RowLayouts &layouts,
                  llvm::ArrayRef<double> weights, unsigned activation)
      : space(&space), layouts(&layouts), weights(weights), activation(activation) {}

  /// Calls `visit` with each point of a block whose weight is not zero, and the element of the
  /// activation there, if it lies inside the tensor.
  void forEach(const Region &block,
               llvm::function_ref<void(ExtentsRef point, ExtentsRef element)> visit) const;
  [[nodiscard]] std::vector<Extents> groupsWithWeights(const Region &block,
                                                       ExtentsRef groups) const;
  /// Nothing if the block has too many points.
  [[nodiscard]] std::optional<Cost> exactCost(const Region &block) const;

  const IndexSpace *space;
  const RowLayouts *layouts;
  llvm::ArrayRef<double> weights;
  unsigned activation; ///< the number of the operand; the other one is the constant
};

} // namespace sluice::space
