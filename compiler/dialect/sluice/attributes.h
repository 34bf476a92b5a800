// The dialect's attributes: data dimensions, nodes of the ONNX graph, monoids.
#pragma once

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/TensorEncoding.h"

#include "compiler/dialect/sluice/enums.h.inc"
#include "compiler/reference/monoid.h"

#define GET_ATTRDEF_CLASSES
#include "compiler/dialect/sluice/attributes.h.inc"

namespace sluice::ir {

/// The definition that the attribute names: its enumerators have the same values.
constexpr reference::Monoid definedBy(Monoid monoid) {
  static_assert(static_cast<int>(reference::Monoid::ArgMax) == static_cast<int>(Monoid::ArgMax));
  return static_cast<reference::Monoid>(monoid);
}

} // namespace sluice::ir
