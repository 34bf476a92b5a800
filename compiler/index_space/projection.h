// Projections: maps from the points of an index space to regions of a tensor. All functions here
// depend only on the affine map and the shapes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "mlir/IR/AffineMap.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace sluice::space {

using Extents = llvm::SmallVector<int64_t, 4>;
using ExtentsRef = llvm::ArrayRef<int64_t>;

/// A box of indices of a tensor or an index space: along axis i, the indices from start[i] to
/// start[i] + extents[i] - 1. The box is empty if an extent is 0 or less.
struct Region {
  Extents start, extents;

  [[nodiscard]] int64_t end(size_t axis) const { return start[axis] + extents[axis]; }
  [[nodiscard]] bool empty() const;
  /// The number of indices; 1 for rank 0.
  [[nodiscard]] int64_t size() const;
  bool operator==(const Region &) const = default;
};

/// Returns the box of all indices of a tensor or an index space with these extents.
Region wholeOf(ExtentsRef extents);

/// Calls `visit` with every index of a box in row-major order.
void forEachIndex(const Region &box, llvm::function_ref<void(ExtentsRef)> visit);

/// Returns the intersection of two boxes of equal rank; it may be empty.
Region intersection(const Region &a, const Region &b);

/// Returns the smallest box that contains two boxes.
Region around(const Region &a, const Region &b);

/// Elements of a tensor: along axis i, sizes[i] of them, from starts[i] on, steps[i] apart. A step
/// may be negative.
struct Selection {
  Extents starts, sizes, steps;

  /// Selects every element of a box.
  static Selection all(const Region &box) {
    return {box.start, box.extents, Extents(box.start.size(), 1)};
  }
  void take(size_t axis, int64_t start, int64_t size, int64_t step) {
    starts[axis] = start;
    sizes[axis] = size;
    steps[axis] = step;
  }
  /// The index of the last element along an axis.
  [[nodiscard]] int64_t last(size_t axis) const {
    return starts[axis] + (sizes[axis] - 1) * steps[axis];
  }
  /// Returns the smallest box that contains the elements.
  [[nodiscard]] Region box() const;
  bool operator==(const Selection &) const = default;
};

/// Returns whether a map has neither divisions nor symbols.
bool isAffine(mlir::AffineMap map);

/// A map from the points of an index space to regions of a tensor. An affine map without divisions
/// gives the first element of a region. All regions have the same shape.
struct Projection {
  mlir::AffineMap map;           ///< loops -> first index along each axis
  Extents region;                ///< extents of a region
  Extents tensor;                ///< extents of the tensor
  std::optional<double> outside; ///< value of elements outside the tensor; nothing: no region
                                 ///< leaves the tensor

  /// Returns a projection to single elements, all inside the tensor.
  static Projection elements(mlir::AffineMap map, ExtentsRef tensor);

  [[nodiscard]] unsigned rank() const { return map.getNumResults(); }
  [[nodiscard]] unsigned loops() const { return map.getNumDims(); }
  /// Returns the distance in elements by which one iteration of a loop moves the region along an
  /// axis.
  [[nodiscard]] int64_t step(unsigned axis, unsigned loop) const;
  /// Returns the start of the region at the first point of the index space.
  [[nodiscard]] int64_t offset(unsigned axis) const;
  /// Returns the loop that alone runs along an axis, element by element from the first one.
  /// Returns nothing if several loops move along the axis, or one with another step or offset.
  [[nodiscard]] std::optional<unsigned> loopAlong(unsigned axis) const;
  /// Returns the axis along which a loop alone runs, element by element.
  [[nodiscard]] std::optional<unsigned> axisAlong(unsigned loop) const;
  /// Whether a loop moves the region along any axis.
  [[nodiscard]] bool moves(unsigned loop) const;
};

/// A projection as numbers.
struct ProjectionSteps {
  Extents first;                       ///< start of the region at the first point
  llvm::SmallVector<Extents, 4> loops; ///< by loop, Projection::step along each axis
  Extents region;                      ///< as in Projection
  Extents tensor;

  [[nodiscard]] unsigned rank() const { return static_cast<unsigned>(first.size()); }
  /// Like Projection::loopAlong().
  [[nodiscard]] std::optional<unsigned> loopAlong(unsigned axis) const;
};

ProjectionSteps stepsOf(const Projection &projection);

/// Returns the distance in elements by which one iteration of a loop moves the region along each
/// axis.
Extents delta(const Projection &projection, unsigned loop);

/// Returns the smallest box that contains the regions of all points of a block. Loops may run
/// against an axis. The box may leave the tensor. It contains elements that no point reads if a
/// step is longer than the region.
Region regionOf(const Projection &projection, const Region &block);

/// The indices first to first + count - 1.
struct Run {
  int64_t first = 0, count = 0;
  bool operator==(const Run &) const = default;
};
using Runs = llvm::SmallVector<Run, 1>;

/// Returns the indices along an axis that the points of a block read inside the tensor, as
/// ascending runs with gaps between them.
Runs indicesAlong(const Projection &projection, unsigned axis, const Region &block);

/// Returns the number of elements of the tensor that the points of a block read, each counted
/// once. Like the functions below, it requires that every loop moves the region along at most one
/// axis (IS-COHERENT).
int64_t elementsOf(const Projection &projection, const Region &block);

/// Returns a box of elements of an operand that the points of loops that write the elements
/// `needed` of a result certainly read; nothing if no box is known.
std::optional<Region> regionRead(ExtentsRef loops, const Projection &operand,
                                 const Projection &result, const Region &needed);
std::optional<Region> regionRead(ExtentsRef loops, const ProjectionSteps &operand,
                                 const ProjectionSteps &result, const Region &needed);

/// Returns the number of elements that both a block and the next block along a loop read.
int64_t sharedElements(const Projection &projection, const Region &block, unsigned loop);

/// Returns the number of groups of `lanes` indices along an axis, the first of which begins at
/// index 0, that hold the indices of indicesAlong().
int64_t rowsAlong(const Projection &projection, unsigned axis, const Region &block, int64_t lanes);

/// Returns the number of rows that hold the elements of elementsOf(). A row holds `lanes` elements
/// along axis `dim`; the first row begins at index 0.
int64_t rowsOf(const Projection &projection, const Region &block, unsigned dim, int64_t lanes);

} // namespace sluice::space
