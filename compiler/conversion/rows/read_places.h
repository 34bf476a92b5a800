// Which elements a product reads, and where lowering may have them.
#pragma once

#include <optional>
#include <vector>

#include "compiler/conversion/rows/constant_values.h"
#include "compiler/index_space/pieces.h"

namespace sluice::rows {

/// An element of a runtime value.
struct ElementAt {
  mlir::Value value;
  int64_t element = 0; ///< row-major index

  bool operator==(const ElementAt &) const = default;
};

/// One entry for each element that a product reads; nothing for elements that are constants.
using ReadPlaces = std::vector<std::optional<ElementAt>>;

/// The ways in which lowering may have elements in rows.
struct WaysToRead {
  std::vector<ReadPlaces> places; ///< by way; none if nothing is known
  bool areScaledAlike = true;     ///< each way multiplies all weights with one factor
  /// For each element, whether it is one of a state, which lowering reads as the row of the state.
  std::vector<bool> areOfStates = {};
};

/// Follows elements to where lowering may have them. The function must not change, since what was
/// found out about an operation is kept.
class ElementFollower {
public:
  explicit ElementFollower(ConstantValues &constants) : constants(constants) {}

  /// Returns the ways in which lowering may have the elements `read` of `value`: as they are, as
  /// elements before views, or before maps whose factors it multiplies with the weights. Returns
  /// none if such a factor may be zero or change a sign, or if elements may be the same.
  WaysToRead waysToRead(mlir::Value value, const std::vector<int64_t> &read);

  /// Whether lowering computes all rows of a product: rows of weights that are all zero would be
  /// constants, which may be the same.
  bool computesAll(mlir::Operation *product);

private:
  /// What decides whether a product computes a row for each line of its weights.
  struct Weights {
    std::vector<int64_t> extents, strides, result; ///< of contraction_loops.h
    bool areAllComputed = false;
  };

  ConstantValues &constants;
  llvm::DenseMap<mlir::Operation *, space::Pieces> views;
  llvm::DenseMap<mlir::Operation *, mlir::Value> maps; ///< the operands that they follow
  llvm::DenseMap<const float *, std::vector<Weights>> weights;

  std::optional<ElementAt> before(const ElementAt &at);
  mlir::Value followed(mlir::Operation *map);
  bool computesAll(mlir::Operation *product, unsigned side);
  bool areDistinct(const ReadPlaces &places, std::vector<bool> &areOfStates);
};

} // namespace sluice::rows
