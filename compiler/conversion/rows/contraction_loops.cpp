#include "compiler/conversion/rows/contraction_loops.h"

#include "compiler/reference/tensor.h"

using namespace mlir;

namespace sluice::rows {

std::vector<Trip> Loops::trips(const std::vector<size_t> &which, bool xFirst) const {
  std::vector<Trip> all = {{}};
  for (const size_t loop : which) {
    std::vector<Trip> longer;
    longer.reserve(all.size() * extents[loop]);
    for (const Trip &trip : all)
      for (int64_t i = 0; i < extents[loop]; ++i)
        longer.push_back({trip.x + i * (xFirst ? lhs : rhs)[loop],
                          trip.w + i * (xFirst ? rhs : lhs)[loop], trip.out + i * result[loop]});
    all = std::move(longer);
  }
  return all;
}

Loops loopsOf(Operation *op) {
  const space::IndexSpace space = llvm::cast<ir::IndexSpaceInterface>(op).indexSpace();
  Loops loops;
  for (const space::Loop &loop : space.loops)
    loops.extents.push_back(loop.extent);
  const auto spread = [&](const space::Projection &tensor, std::vector<size_t> &axes) {
    const auto strides = reference::strides({tensor.tensor.begin(), tensor.tensor.end()});
    std::vector<int64_t> perLoop(loops.extents.size());
    for (unsigned axis = 0; axis < tensor.rank(); ++axis) {
      axes.push_back(tensor.loopAlong(axis).value_or(kNoLoop));
      for (unsigned loop = 0; loop < tensor.loops(); ++loop)
        perLoop[loop] += tensor.step(axis, loop) * strides[axis];
    }
    return perLoop;
  };
  loops.lhs = spread(space.operands[0], loops.lhsAxes);
  loops.rhs = spread(space.operands[1], loops.rhsAxes);
  loops.result = spread(space.results[0], loops.resultAxes);
  return loops;
}

} // namespace sluice::rows
