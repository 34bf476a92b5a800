#include "compiler/index_space/projection.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

namespace sluice::space {
namespace {

/// Sorts runs and joins those that touch or overlap.
void normalise(Runs &runs) {
  llvm::sort(runs, [](const Run &a, const Run &b) { return a.first < b.first; });
  Runs joined;
  for (const Run &run : runs) {
    if (!joined.empty() && run.first <= joined.back().first + joined.back().count)
      joined.back().count =
          std::max(joined.back().first + joined.back().count, run.first + run.count) -
          joined.back().first;
    else
      joined.push_back(run);
  }
  runs = std::move(joined);
}

/// The runs inside first..end-1.
Runs clipped(const Runs &runs, int64_t first, int64_t end) {
  Runs inside;
  for (const Run &run : runs) {
    const int64_t from = std::max(run.first, first), to = std::min(run.first + run.count, end);
    if (from < to)
      inside.push_back({from, to - from});
  }
  return inside;
}

int64_t countOf(const Runs &runs) {
  return std::accumulate(runs.begin(), runs.end(), int64_t{0},
                         [](int64_t sum, const Run &run) { return sum + run.count; });
}

/// The coefficient of a loop in an expression without divisions; without a loop, the
/// constant term.
int64_t termOf(mlir::AffineExpr expr, std::optional<unsigned> loop) {
  if (const auto constant = llvm::dyn_cast<mlir::AffineConstantExpr>(expr))
    return loop ? 0 : constant.getValue();
  if (const auto dim = llvm::dyn_cast<mlir::AffineDimExpr>(expr))
    return loop == dim.getPosition() ? 1 : 0;
  const auto binary = llvm::cast<mlir::AffineBinaryOpExpr>(expr);
  if (expr.getKind() == mlir::AffineExprKind::Mul) // the right side is a constant
    return termOf(binary.getLHS(), loop) * termOf(binary.getRHS(), std::nullopt);
  return termOf(binary.getLHS(), loop) + termOf(binary.getRHS(), loop);
}

/// The next block along a loop.
Region next(Region block, unsigned loop) {
  block.start[loop] += block.extents[loop];
  return block;
}

} // namespace

bool Region::empty() const {
  return llvm::any_of(extents, [](int64_t extent) { return extent <= 0; });
}

int64_t Region::size() const {
  return empty() ? 0
                 : std::accumulate(extents.begin(), extents.end(), int64_t{1}, std::multiplies<>());
}

bool isAffine(mlir::AffineMap map) {
  using mlir::AffineExprKind;
  bool affine = map.getNumSymbols() == 0;
  map.walkExprs([&](mlir::AffineExpr expr) {
    affine &= !llvm::is_contained(
        {AffineExprKind::Mod, AffineExprKind::FloorDiv, AffineExprKind::CeilDiv}, expr.getKind());
  });
  return affine;
}

Region wholeOf(ExtentsRef extents) { return {Extents(extents.size(), 0), Extents(extents)}; }

void forEachIndex(const Region &box, llvm::function_ref<void(ExtentsRef)> visit) {
  if (box.empty())
    return;
  Extents index = box.start;
  while (true) {
    visit(index);
    size_t axis = index.size();
    while (axis > 0 && ++index[axis - 1] == box.end(axis - 1)) {
      --axis;
      index[axis] = box.start[axis];
    }
    if (axis == 0)
      return;
  }
}

Region intersection(const Region &a, const Region &b) {
  Region common;
  for (size_t axis = 0; axis < a.start.size(); ++axis) {
    common.start.push_back(std::max(a.start[axis], b.start[axis]));
    common.extents.push_back(
        std::max<int64_t>(0, std::min(a.end(axis), b.end(axis)) - common.start.back()));
  }
  return common;
}

Region around(const Region &a, const Region &b) {
  Region box;
  for (size_t axis = 0; axis < a.start.size(); ++axis) {
    box.start.push_back(std::min(a.start[axis], b.start[axis]));
    box.extents.push_back(std::max(a.end(axis), b.end(axis)) - box.start.back());
  }
  return box;
}

Region Selection::box() const {
  Region box;
  for (size_t axis = 0; axis < starts.size(); ++axis) {
    box.start.push_back(std::min(starts[axis], last(axis)));
    box.extents.push_back(std::abs(last(axis) - starts[axis]) + 1);
  }
  return box;
}

Projection Projection::elements(mlir::AffineMap map, ExtentsRef tensor) {
  return {map, Extents(tensor.size(), 1), Extents(tensor), std::nullopt};
}

int64_t Projection::offset(unsigned axis) const {
  return termOf(map.getResult(axis), std::nullopt);
}

int64_t Projection::step(unsigned axis, unsigned loop) const {
  return termOf(map.getResult(axis), loop);
}

std::optional<unsigned> Projection::loopAlong(unsigned axis) const {
  const auto dim = llvm::dyn_cast<mlir::AffineDimExpr>(map.getResult(axis));
  return dim && region[axis] == 1 ? std::optional(dim.getPosition()) : std::nullopt;
}

std::optional<unsigned> Projection::axisAlong(unsigned loop) const {
  for (unsigned axis = 0; axis < rank(); ++axis)
    if (loopAlong(axis) == loop)
      return axis;
  return std::nullopt;
}

bool Projection::moves(unsigned loop) const {
  return llvm::any_of(delta(*this, loop), [](int64_t step) { return step != 0; });
}

Extents delta(const Projection &projection, unsigned loop) {
  Extents steps;
  for (unsigned axis = 0; axis < projection.rank(); ++axis)
    steps.push_back(projection.step(axis, loop));
  return steps;
}

std::optional<unsigned> ProjectionSteps::loopAlong(unsigned axis) const {
  std::optional<unsigned> found;
  for (auto [loop, steps] : llvm::enumerate(loops))
    if (steps[axis] != 0) {
      if (found || steps[axis] != 1)
        return std::nullopt;
      found = static_cast<unsigned>(loop);
    }
  return first[axis] == 0 && region[axis] == 1 ? found : std::nullopt;
}

ProjectionSteps stepsOf(const Projection &projection) {
  ProjectionSteps steps{{}, {}, projection.region, projection.tensor};
  for (unsigned axis = 0; axis < projection.rank(); ++axis)
    steps.first.push_back(projection.offset(axis));
  for (unsigned loop = 0; loop < projection.loops(); ++loop)
    steps.loops.push_back(delta(projection, loop));
  return steps;
}

namespace {

Region regionOf(const ProjectionSteps &steps, const Region &block) {
  Region box;
  for (unsigned axis = 0; axis < steps.rank(); ++axis) {
    int64_t low = steps.first[axis], high = low;
    for (auto [loop, moved] : llvm::enumerate(steps.loops)) {
      const int64_t step = moved[axis];
      const int64_t from = step * block.start[loop], to = step * (block.end(loop) - 1);
      low += std::min(from, to);
      high += std::max(from, to);
    }
    box.start.push_back(low);
    box.extents.push_back(high - low + steps.region[axis]);
  }
  return box;
}

Runs indicesAlong(const ProjectionSteps &steps, unsigned axis, const Region &block) {
  // Loops by the length of their steps; what is still to be added reaches from
  // `low` to `high`.
  struct Moving {
    int64_t step, extent;
  };
  llvm::SmallVector<Moving> moving;
  int64_t first = steps.first[axis], high = 0;
  for (auto [loop, moved] : llvm::enumerate(steps.loops)) {
    const int64_t step = moved[axis], extent = block.extents[loop];
    first += step * block.start[loop];
    if (step == 0 || extent == 1)
      continue;
    // Against the axis: from the other end.
    first += step < 0 ? step * (extent - 1) : 0;
    moving.push_back({std::abs(step), extent});
    high += moving.back().step * (extent - 1);
  }
  llvm::sort(moving, [](const Moving &a, const Moving &b) { return a.step < b.step; });
  const int64_t end = steps.tensor[axis];
  Runs runs{{first, steps.region[axis]}};
  for (const auto &[step, extent] : moving) {
    high -= step * (extent - 1);
    Runs more;
    for (const Run &run : runs) {
      if (step <= run.count) {
        more.push_back({run.first, run.count + step * (extent - 1)});
        continue;
      }
      // Only steps after which the tensor can still be reached.
      const int64_t reach = -high - run.first - run.count + 1;
      const int64_t from = std::max<int64_t>(0, llvm::divideCeilSigned(reach, step));
      const int64_t to = std::min(extent, llvm::divideFloorSigned(end - 1 - run.first, step) + 1);
      for (int64_t i = from; i < to; ++i)
        more.push_back({run.first + i * step, run.count});
    }
    runs = std::move(more);
    normalise(runs);
  }
  return clipped(runs, 0, end);
}

int64_t elementsOf(const ProjectionSteps &steps, const Region &block) {
  int64_t count = 1;
  for (unsigned axis = 0; axis < steps.rank(); ++axis)
    count *= countOf(indicesAlong(steps, axis, block));
  return count;
}

} // namespace

Region regionOf(const Projection &projection, const Region &block) {
  return regionOf(stepsOf(projection), block);
}

Runs indicesAlong(const Projection &projection, unsigned axis, const Region &block) {
  return indicesAlong(stepsOf(projection), axis, block);
}

int64_t elementsOf(const Projection &projection, const Region &block) {
  return elementsOf(stepsOf(projection), block);
}

std::optional<Region> regionRead(ExtentsRef loops, const Projection &operand,
                                 const Projection &result, const Region &needed) {
  return regionRead(loops, stepsOf(operand), stepsOf(result), needed);
}

std::optional<Region> regionRead(ExtentsRef loops, const ProjectionSteps &operand,
                                 const ProjectionSteps &result, const Region &needed) {
  Region block = wholeOf(loops);
  for (unsigned axis = 0; axis < result.rank(); ++axis) {
    if (needed.start[axis] == 0 && needed.extents[axis] == result.tensor[axis])
      continue;
    const auto loop = result.loopAlong(axis);
    if (!loop)
      return std::nullopt;
    block.start[*loop] = needed.start[axis];
    block.extents[*loop] = std::min(needed.end(axis), loops[*loop]) - needed.start[axis];
  }
  if (block.empty())
    return std::nullopt;
  Region box = intersection(regionOf(operand, block), wholeOf(operand.tensor));
  if (box.empty() || elementsOf(operand, block) != box.size())
    return std::nullopt;
  return box;
}

int64_t sharedElements(const Projection &projection, const Region &block, unsigned loop) {
  int64_t count = 1;
  for (unsigned axis = 0; axis < projection.rank(); ++axis) {
    Runs here = indicesAlong(projection, axis, block);
    if (projection.step(axis, loop) == 0) {
      count *= countOf(here);
      continue;
    }
    // What both have is what their union lacks.
    const Runs there = indicesAlong(projection, axis, next(block, loop));
    const int64_t both = countOf(here) + countOf(there);
    here.append(there.begin(), there.end());
    normalise(here);
    count *= both - countOf(here);
  }
  return count;
}

int64_t rowsAlong(const Projection &projection, unsigned axis, const Region &block, int64_t lanes) {
  Runs runs = indicesAlong(projection, axis, block);
  for (Run &run : runs) {
    const int64_t last = (run.first + run.count - 1) / lanes;
    run.first /= lanes;
    run.count = last - run.first + 1;
  }
  normalise(runs);
  return countOf(runs);
}

int64_t rowsOf(const Projection &projection, const Region &block, unsigned dim, int64_t lanes) {
  int64_t count = 1;
  for (unsigned axis = 0; axis < projection.rank(); ++axis)
    count *= rowsAlong(projection, axis, block, axis == dim ? lanes : 1);
  return count;
}

} // namespace sluice::space
