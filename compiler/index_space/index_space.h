// The index space of an operation: its loops, and a projection for each operand
// and result. Whoever plans, splits or prints an operation asks it, and knows
// nothing else about the operation.
#pragma once

#include "compiler/index_space/projection.h"
#include "compiler/reference/monoid.h"
#include "mlir/Support/LLVM.h"

namespace sluice::space {

enum class LoopKind : uint8_t {
  Parallel, ///< steps do not depend on each other
  Reduced,  ///< what its steps give is merged by a monoid
  Ordered,  ///< a step needs the one before it
};

struct Loop {
  int64_t extent = 1;
  LoopKind kind = LoopKind::Parallel;
  reference::Monoid monoid = reference::Monoid::Sum; ///< of a reduced loop
  /// The operation is repeated for each step, whatever it does: a leading axis of
  /// numpy's matrix product, or a loop of both factors and the result.
  bool batch = false;
};

/// What a point costs.
enum class Work : uint8_t {
  Address, ///< nothing: rows are only read at other addresses
  Pass,    ///< a lane of a pass of a vector unit
  Product, ///< a multiplication of a matrix unit
};

struct IndexSpace {
  llvm::SmallVector<Loop, 6> loops;
  llvm::SmallVector<Projection, 2> operands;
  llvm::SmallVector<Projection, 1> results;
  Work work = Work::Pass;

  [[nodiscard]] Extents extents() const;
  /// All points.
  [[nodiscard]] Region whole() const { return wholeOf(extents()); }
};

/// The rules of an index space, by id:
///  IS-AFFINE    every map has the space's loops, no symbols, no divisions
///  IS-SHAPE     map, region and tensor of a projection have the same rank
///  IS-EMPTY     no loop and no region has an extent below 1
///  IS-INSIDE    no region leaves its tensor, unless something lies outside
///  IS-COHERENT  a step of a loop moves a region along one axis at most, so that
///               blocks of index space are blocks of the tensor
///  IS-REDUCED   a reduced loop does not move a result
///  IS-COVER     every element of a result is written by exactly one point of the
///               loops that are not reduced
/// Returns false with a sentence that ends in the id of the first rule broken.
bool verify(const IndexSpace &space, std::string &why);

/// "parallel", "reduced", "ordered".
llvm::StringRef nameOf(LoopKind kind);

} // namespace sluice::space
