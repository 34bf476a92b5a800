// Result shapes of the operations, on extents alone. Each fails with a sentence
// in `why`, so a caller can check before it builds (a builder that infers its
// type aborts on what these refuse).
#pragma once

#include <string>

#include "mlir/IR/AffineMap.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace sluice::ir {

using Extents = llvm::SmallVector<int64_t, 4>;
using ShapeOr = mlir::FailureOr<Extents>;
using ExtentsRef = llvm::ArrayRef<int64_t>;

ShapeOr inferMap(llvm::ArrayRef<ExtentsRef> inputs, std::string &why);
ShapeOr inferReduce(ExtentsRef input, ExtentsRef axes, bool keepdims, std::string &why);
ShapeOr inferMatmul(ExtentsRef lhs, ExtentsRef rhs, std::string &why);
ShapeOr inferContract(llvm::ArrayRef<mlir::AffineMap> maps, ExtentsRef lhs, ExtentsRef rhs,
                      std::string &why);
ShapeOr inferTranspose(ExtentsRef input, ExtentsRef permutation, std::string &why);
ShapeOr inferReverse(ExtentsRef input, ExtentsRef axes, std::string &why);
ShapeOr inferSlice(ExtentsRef input, ExtentsRef starts, ExtentsRef sizes, ExtentsRef steps,
                   std::string &why);
/// `shape` if it is a legal target.
ShapeOr inferReshape(ExtentsRef input, ExtentsRef shape, std::string &why);
ShapeOr inferBroadcast(ExtentsRef input, ExtentsRef shape, std::string &why);
ShapeOr inferUnsqueeze(ExtentsRef input, ExtentsRef axes, std::string &why);
ShapeOr inferSqueeze(ExtentsRef input, ExtentsRef axes, std::string &why);
ShapeOr inferConcat(llvm::ArrayRef<ExtentsRef> inputs, int64_t axis, std::string &why);
ShapeOr inferPad(ExtentsRef input, ExtentsRef low, ExtentsRef high, std::string &why);

/// Trip counts of a contraction's loops; fails like inferContract.
ShapeOr contractLoops(llvm::ArrayRef<mlir::AffineMap> maps, ExtentsRef lhs, ExtentsRef rhs,
                      std::string &why);

} // namespace sluice::ir
