#include "compiler/conversion/rows/contraction_loops.h"

#include <algorithm>

#include "compiler/dialect/sluice/operations.h"
#include "runtime/addressing/addressing.h"

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

bool isProduct(Operation *op) {
  return llvm::isa<ir::MatmulOp, ir::ContractOp>(op); // an index space takes longer to make
}

Loops loopsOf(Operation *op) {
  const space::IndexSpace space = llvm::cast<ir::IndexSpaceInterface>(op).indexSpace();
  Loops loops;
  for (const space::Loop &loop : space.loops)
    loops.extents.push_back(loop.extent);
  const auto spread = [&](const space::Projection &tensor, std::vector<size_t> &axes) {
    const auto strides = addressing::rowMajorStrides(tensor.tensor);
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

Sampled sampleContraction(const Loops &loops, bool leftMoves, const reference::Tensor &left,
                          const reference::Tensor &right, const reference::Shape &shape,
                          int64_t products) {
  const auto &moving = leftMoves ? loops.lhs : loops.rhs,
             &still = leftMoves ? loops.rhs : loops.lhs;
  std::vector<size_t> outer, inner;
  for (size_t loop = 0; loop < loops.extents.size(); ++loop) {
    const bool position = loops.result[loop] != 0 && moving[loop] != 0 && still[loop] == 0;
    (position ? outer : inner).push_back(loop);
  }
  const std::vector<Trip> positions = loops.trips(outer, leftMoves);
  const std::vector<Trip> points = loops.trips(inner, leftMoves); // of one position
  const auto all = static_cast<int64_t>(positions.size());
  Sampled sampled{reference::Tensor(shape), all,
                  std::clamp<int64_t>(products / static_cast<int64_t>(points.size()), 1, all)};
  const std::vector<double> &x = (leftMoves ? left : right).values;
  const std::vector<double> &w = (leftMoves ? right : left).values;
  std::vector<double> &values = sampled.result.values;
  for (int64_t sample = 0; sample < sampled.sampled; ++sample) {
    const Trip &at = positions[sample * all / sampled.sampled];
    for (const Trip &point : points)
      values[at.out + point.out] += x[at.x + point.x] * w[at.w + point.w];
  }
  for (int64_t position = 0; position < all; ++position) {
    // The last sample that is not behind it.
    const int64_t sample = ((position + 1) * sampled.sampled - 1) / all;
    const Trip &from = positions[sample * all / sampled.sampled], &to = positions[position];
    if (from.out != to.out)
      for (const Trip &point : points)
        values[to.out + point.out] = values[from.out + point.out];
  }
  return sampled;
}

} // namespace sluice::rows
