// Result shapes of the operations, on extents alone. Each fails with a sentence
// in `why`, so a caller can check before it builds (a builder that infers its
// type aborts on what these refuse).
#pragma once

#include <string>

#include "mlir/IR/AffineMap.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include "compiler/index_space/projection.h"
#include "compiler/reference/axes.h"

namespace sluice::ir {

using space::Extents;
using space::ExtentsRef;
using ShapeOr = mlir::FailureOr<Extents>;

ShapeOr inferMap(llvm::ArrayRef<ExtentsRef> inputs, std::string &why);
ShapeOr inferReduce(ExtentsRef input, ExtentsRef axes, bool keepdims, std::string &why);
ShapeOr inferMatmul(ExtentsRef lhs, ExtentsRef rhs, std::string &why);
ShapeOr inferContract(llvm::ArrayRef<mlir::AffineMap> maps, ExtentsRef lhs, ExtentsRef rhs,
                      std::string &why);
ShapeOr inferTranspose(ExtentsRef input, ExtentsRef permutation, std::string &why);
ShapeOr inferSlice(ExtentsRef input, ExtentsRef starts, ExtentsRef sizes, ExtentsRef steps,
                   std::string &why);
/// `shape` if it is a legal target.
ShapeOr inferReshape(ExtentsRef input, ExtentsRef shape, std::string &why);
ShapeOr inferBroadcast(ExtentsRef input, ExtentsRef shape, std::string &why);
ShapeOr inferUnsqueeze(ExtentsRef input, ExtentsRef axes, std::string &why);
ShapeOr inferSqueeze(ExtentsRef input, ExtentsRef axes, std::string &why);
ShapeOr inferConcat(llvm::ArrayRef<ExtentsRef> inputs, int64_t axis, std::string &why);
/// Of tile and repeat.
ShapeOr inferRepeat(ExtentsRef input, ExtentsRef counts, std::string &why);
ShapeOr inferInterleave(llvm::ArrayRef<ExtentsRef> inputs, int64_t axis, std::string &why);
ShapeOr inferWindow(ExtentsRef input, const reference::Window &window, std::string &why);
ShapeOr inferPad(ExtentsRef input, ExtentsRef low, ExtentsRef high, std::string &why);
/// An element of a loop's sequence, which has one for each trip along `axis`.
ShapeOr inferElement(ExtentsRef sequence, int64_t axis, int64_t trips, std::string &why);
/// What a loop stacks up of `element` along a new axis.
ShapeOr inferStack(ExtentsRef element, int64_t axis, int64_t trips, std::string &why);

/// The loops of a contraction, and which of them runs along each axis. Everybody else
/// asks the operation's index space, which is made of this.
struct ContractionAxes {
  /// None: the axis has extent 1 and stands still.
  using OfTensor = llvm::SmallVector<std::optional<unsigned>, 4>;

  Extents extents; ///< of every loop
  OfTensor lhs, rhs, result;
  unsigned leading = 0; ///< loops from the first on that only repeat the operation
};

/// numpy's rules: loops of the leading axes, then row, column, contracted. The row of a
/// vector on the left and the column of one on the right have extent 1 and no axis.
mlir::FailureOr<ContractionAxes> matmulAxes(ExtentsRef lhs, ExtentsRef rhs, std::string &why);

/// Returns the loop along each axis of a contraction, from its indexing maps.
mlir::FailureOr<ContractionAxes> contractAxes(llvm::ArrayRef<mlir::AffineMap> maps, ExtentsRef lhs,
                                              ExtentsRef rhs, std::string &why);

} // namespace sluice::ir
