// What a map may multiply the weights of products before and behind it with.
#pragma once

#include "compiler/conversion/rows/constant_values.h"
#include "compiler/dialect/sluice/operations.h"

namespace sluice::rows {

/// Bounds on the constant factors of a map. Lowering multiplies the weights of a product with the
/// factors of an affine map before it or behind it.
struct MapScale {
  /// The smallest magnitude of a product of one element of each factor; 0 if it is not known.
  double least = 1;
  /// The smallest magnitude of a product that is the largest in its line along the data dimension;
  /// 0 if it is not known. A mask that keeps some lanes of every line has a least factor of 0, but
  /// not in lines.
  double leastOfLines = 1;
  bool hasOneSign = true;  ///< all elements of each factor have the same sign
  bool isUniform = true;   ///< all elements of each factor are equal
  bool mayBeAffine = true; ///< in one operand that is not constant
};

MapScale scaleOf(ir::MapOp map, ConstantValues &constants);

} // namespace sluice::rows
