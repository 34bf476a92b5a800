// Projections: the region of a tensor that a point of an index space stands for.
// Everything here follows from the affine map and the shapes alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "mlir/IR/AffineMap.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace sluice::space {

using Extents = llvm::SmallVector<int64_t, 4>;
using ExtentsRef = llvm::ArrayRef<int64_t>;

/// A box of indices, of a tensor or of an index space: extents[i] of them from
/// start[i] on. Empty if an extent is 0 or less.
struct Region {
  Extents start, extents;

  [[nodiscard]] int64_t end(size_t axis) const { return start[axis] + extents[axis]; }
  [[nodiscard]] bool empty() const;
  /// Number of indices; 1 for rank 0.
  [[nodiscard]] int64_t size() const;
  bool operator==(const Region &) const = default;
};

/// The whole of something with these extents.
Region wholeOf(ExtentsRef extents);

/// The common part of two boxes of one rank, which may be empty.
Region intersection(const Region &a, const Region &b);

/// A map from the loops of an index space to a region of a tensor: where it
/// starts, by an affine map without divisions, and its shape, which is the same
/// everywhere.
struct Projection {
  mlir::AffineMap map;           ///< loops -> first index along each axis
  Extents region;                ///< extents of the region
  Extents tensor;                ///< extents of the tensor
  std::optional<double> outside; ///< what lies outside the tensor; nothing: no region may

  /// Single elements, with nothing outside.
  static Projection elements(mlir::AffineMap map, ExtentsRef tensor);

  [[nodiscard]] unsigned rank() const { return map.getNumResults(); }
  [[nodiscard]] unsigned loops() const { return map.getNumDims(); }
  /// How far one step of a loop moves the region along an axis.
  [[nodiscard]] int64_t step(unsigned axis, unsigned loop) const;
  /// Where the region starts at the first point of the index space.
  [[nodiscard]] int64_t offset(unsigned axis) const;
  /// The loop that runs along an axis: element by element, from the first one on,
  /// and alone. None if several loops do, or one in other steps.
  [[nodiscard]] std::optional<unsigned> loopAlong(unsigned axis) const;
  /// Whether a loop moves the region at all.
  [[nodiscard]] bool moves(unsigned loop) const;
};

/// How far one step of a loop moves the region: constant, as the map is affine.
Extents delta(const Projection &projection, unsigned loop);

/// The region of a block of index space: the least box that holds those of its
/// points. Loops may run against an axis; the box may leave the tensor, and hold
/// elements that no point asks for, where a step is longer than the region.
Region regionOf(const Projection &projection, const Region &block);

/// The box that a block and the next one along a loop have in common: total where
/// the loop does not move the region, partial for windows, else empty.
Region overlap(const Projection &projection, const Region &block, unsigned loop);

/// Indices first..first+count-1.
struct Run {
  int64_t first = 0, count = 0;
  bool operator==(const Run &) const = default;
};
using Runs = llvm::SmallVector<Run, 1>;

/// The indices along an axis that the points of a block ask for, inside the
/// tensor: ascending runs with gaps between them.
Runs indicesAlong(const Projection &projection, unsigned axis, const Region &block);

/// Elements of the tensor that the points of a block ask for, each counted once.
/// Here and below, every loop moves the region along one axis at most (verify).
int64_t elementsOf(const Projection &projection, const Region &block);

/// Elements that both a block and the next one along a loop ask for.
int64_t sharedElements(const Projection &projection, const Region &block, unsigned loop);

/// Rows of tensor RAM that hold these elements: `lanes` elements along axis `dim`
/// each, from index 0 on.
int64_t rowsOf(const Projection &projection, const Region &block, unsigned dim, int64_t lanes);

} // namespace sluice::space
