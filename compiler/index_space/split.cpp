#include "compiler/index_space/split.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "mlir/IR/AffineExpr.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace sluice::space {
namespace {

/// Along one axis: what of the tensor a part gets, and its map into that.
struct Lattice {
  int64_t start = 0, size = 1, step = 1;
  AffineExpr map;
};

/// The indices that a projection asks for along an axis lie on a lattice: the
/// part's tensor is that lattice, inside the tensor.
Lattice latticeOf(const Projection &moved, unsigned axis, const IndexSpace &space) {
  int64_t low = moved.offset(axis), high = low, common = 0;
  for (auto [loop, of] : llvm::enumerate(space.loops)) {
    const int64_t step = moved.step(axis, loop);
    if (of.extent == 1)
      continue;
    (step < 0 ? low : high) += step * (of.extent - 1);
    common = std::gcd(common, step);
  }
  Lattice cut;
  cut.step = moved.region[axis] == 1 && common > 0 ? common : 1;
  const int64_t extent = moved.tensor[axis], last = high + moved.region[axis] - 1;
  // Positions on the lattice, counted from its lowest index, that are elements.
  const auto inside = [&] {
    return std::pair(std::max<int64_t>(0, llvm::divideCeilSigned(-low, cut.step)),
                     llvm::divideFloorSigned(std::min(last, extent - 1) - low, cut.step));
  };
  auto [first, end] = inside();
  if (first > end) {
    // Nothing, or only between its indices: the nearest element stands for all.
    cut.step = 1;
    std::tie(first, end) = inside();
    if (first > end)
      first = end = (last < 0 ? 0 : extent - 1) - low;
  }
  cut.start = low + first * cut.step;
  cut.size = end - first + 1;
  // (map - start) / step, which is whole at every point: term by term, as the
  // steps of loops of extent 1 need not be.
  MLIRContext *context = moved.map.getContext();
  cut.map = getAffineConstantExpr(0, context);
  int64_t offset = moved.offset(axis) - cut.start;
  for (auto [loop, of] : llvm::enumerate(space.loops))
    if (of.extent > 1)
      cut.map = cut.map + getAffineDimExpr(loop, context) * (moved.step(axis, loop) / cut.step);
  cut.map = cut.map + offset / cut.step;
  return cut;
}

/// The same projection after point = first + stride * point along a loop.
AffineMap substituted(AffineMap map, unsigned loop, const Share &share) {
  MLIRContext *context = map.getContext();
  llvm::SmallVector<AffineExpr> dims;
  for (const unsigned dim : llvm::seq(map.getNumDims()))
    dims.push_back(getAffineDimExpr(dim, context));
  dims[loop] = dims[loop] * share.stride + share.first;
  return map.replaceDimsAndSymbols(dims, {}, map.getNumDims(), 0);
}

/// Makes a projection of the part from one of the whole.
Slice cut(Projection &projection, unsigned loop, const Share &share, const IndexSpace &part) {
  projection.map = substituted(projection.map, loop, share);
  Slice slice;
  llvm::SmallVector<AffineExpr> maps;
  for (unsigned axis = 0; axis < projection.rank(); ++axis) {
    const Lattice one = latticeOf(projection, axis, part);
    slice.starts.push_back(one.start);
    slice.sizes.push_back(one.size);
    slice.steps.push_back(one.step);
    maps.push_back(one.map);
  }
  projection.map = AffineMap::get(part.loops.size(), 0, maps, projection.map.getContext());
  projection.tensor = slice.sizes;
  return slice;
}

/// (d0, ..., dn, part) -> (part, d0, ..., dn): partial results to the result.
IndexSpace mergeOf(const Projection &result, reference::Monoid monoid, int64_t parts) {
  MLIRContext *context = result.map.getContext();
  IndexSpace merge;
  llvm::SmallVector<AffineExpr> axes;
  Extents stacked{parts};
  for (auto [axis, extent] : llvm::enumerate(result.tensor)) {
    merge.loops.push_back({extent});
    axes.push_back(getAffineDimExpr(axis, context));
    stacked.push_back(extent);
  }
  merge.loops.push_back({parts, LoopKind::Reduced, monoid});
  const unsigned loops = merge.loops.size();
  merge.results.push_back(
      Projection::elements(AffineMap::get(loops, 0, axes, context), result.tensor));
  axes.insert(axes.begin(), getAffineDimExpr(loops - 1, context));
  merge.operands.push_back(Projection::elements(AffineMap::get(loops, 0, axes, context), stacked));
  return merge;
}

} // namespace

std::vector<Share> sharesOf(int64_t extent, int64_t parts, Shares how) {
  std::vector<Share> shares;
  int64_t next = 0;
  for (int64_t part = 0; part < parts; ++part) {
    const int64_t count = extent / parts + (part < extent % parts ? 1 : 0);
    shares.push_back(how == Shares::Phases ? Share{part, count, parts} : Share{next, count, 1});
    next += count;
  }
  return shares;
}

std::optional<Part> partOf(const IndexSpace &space, unsigned loop, const Share &share,
                           std::string &why) {
  const Loop &whole = space.loops[loop];
  if (whole.kind == LoopKind::Ordered) {
    why = llvm::formatv("loop {0} is ordered and cannot be partitioned", loop);
    return std::nullopt;
  }
  if (share.count < 1 || share.first < 0 || share.stride < 1 ||
      share.first + (share.count - 1) * share.stride >= whole.extent) {
    why =
        llvm::formatv("a part of {0} steps from {1}, {2} apart, does not fit loop {3} of {4} steps",
                      share.count, share.first, share.stride, loop, whole.extent);
    return std::nullopt;
  }
  Part part{share, space, {}, {}};
  part.space.loops[loop].extent = share.count;
  for (Projection &operand : part.space.operands)
    part.operands.push_back(cut(operand, loop, share, part.space));
  for (Projection &result : part.space.results)
    part.results.push_back(cut(result, loop, share, part.space));
  if (!verify(part.space, why))
    return std::nullopt;
  return part;
}

std::optional<Split> split(const IndexSpace &space, unsigned loop, int64_t parts, Shares how,
                           std::string &why) {
  const Loop &whole = space.loops[loop];
  if (parts < 1 || parts > whole.extent) {
    why = llvm::formatv("loop {0} of extent {1} cannot be split into {2} parts", loop, whole.extent,
                        parts);
    return std::nullopt;
  }
  Split result{loop, {}, {}};
  for (const Share &share : sharesOf(whole.extent, parts, how)) {
    auto part = partOf(space, loop, share, why);
    if (!part)
      return std::nullopt;
    result.parts.push_back(std::move(*part));
  }
  if (whole.kind == LoopKind::Reduced)
    for (const Projection &one : space.results)
      result.merges.push_back(mergeOf(one, whole.monoid, parts));
  return result;
}

} // namespace sluice::space
