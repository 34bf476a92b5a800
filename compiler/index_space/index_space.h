// The index space of an operation: its loops, and a projection for each operand and result.
// Planning, splitting and printing read the index space and nothing else of the operation.
#pragma once

#include "compiler/index_space/projection.h"
#include "compiler/reference/monoid.h"
#include "mlir/Support/LLVM.h"

namespace sluice::space {

enum class LoopKind : uint8_t {
  Parallel, ///< the iterations do not depend on each other
  Reduced,  ///< a monoid combines the results of the iterations
};

struct Loop {
  int64_t extent = 1;
  LoopKind kind = LoopKind::Parallel;
  reference::Monoid monoid = reference::Monoid::Sum; ///< combines the results of a reduced loop
  /// Whether the loop repeats the whole operation, as the leading axes of a matrix product in
  /// NumPy do. Such a loop runs along both factors and the result.
  bool batch = false;
};

/// The hardware that computes one point of an index space.
enum class Work : uint8_t {
  Address, ///< none: the reader uses other addresses
  Pass,    ///< one lane in one pass of a vector unit
  Product, ///< one multiplication in a matrix unit
};

/// The loops of an operation, and the regions of its tensors that each point reads and writes.
struct IndexSpace {
  llvm::SmallVector<Loop, 6> loops;
  llvm::SmallVector<Projection, 2> operands;
  llvm::SmallVector<Projection, 1> results;
  Work work = Work::Pass;

  /// The extent of each loop.
  [[nodiscard]] Extents extents() const;
  /// The region of all points.
  [[nodiscard]] Region whole() const { return wholeOf(extents()); }
};

/// Checks the rules of an index space. Returns false if one is broken; `why` is then a sentence
/// that ends in the id of the first broken rule. The rules, by id:
///  IS-AFFINE    every map has the loops of the space, no symbols and no divisions
///  IS-SHAPE     map, region and tensor of a projection have the same rank
///  IS-EMPTY     no loop and no region has an extent below 1
///  IS-INSIDE    no region leaves its tensor, unless Projection::outside has a value
///  IS-COHERENT  an iteration of a loop moves a region along at most one axis, so
///               blocks of the index space are blocks of the tensor
///  IS-REDUCED   a reduced loop does not move a result
///  IS-COVER     exactly one point of the loops that are not reduced writes each
///               element of a result
bool verify(const IndexSpace &space, std::string &why);

/// Returns "parallel" or "reduced".
llvm::StringRef nameOf(LoopKind kind);

} // namespace sluice::space
