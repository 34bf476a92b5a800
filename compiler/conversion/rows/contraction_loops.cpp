#include "compiler/conversion/rows/contraction_loops.h"

#include <numeric>

#include "compiler/dialect/sluice/shapes.h"
#include "compiler/reference/tensor.h"

using namespace mlir;

namespace sluice::rows {

static std::vector<int64_t> stridesOf(Value value) {
  const auto shape = ir::shapeOf(value);
  return reference::strides({shape.begin(), shape.end()});
}

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

/// numpy's matmul: batch axes from the right, an extent of 1 stands still.
Loops loopsOf(ir::MatmulOp op) {
  const auto lhs = ir::shapeOf(op.getLhs()), rhs = ir::shapeOf(op.getRhs());
  const auto lhsStrides = stridesOf(op.getLhs()), rhsStrides = stridesOf(op.getRhs()),
             outStrides = stridesOf(op.getResult());
  const size_t lhsRank = lhs.size(), rhsRank = rhs.size(), outRank = outStrides.size();
  const size_t matrixAxes = (lhsRank > 1) + (rhsRank > 1);
  const size_t batch = outRank - matrixAxes;
  Loops loops;
  // Axes of the batch count from the right.
  const auto batchAxes = [&](size_t rank) {
    std::vector<size_t> axes(rank < 2 ? 0 : rank - 2);
    std::iota(axes.begin(), axes.end(), batch - axes.size());
    return axes;
  };
  loops.lhsAxes = batchAxes(lhsRank);
  loops.rhsAxes = batchAxes(rhsRank);
  loops.resultAxes = batchAxes(batch + 2);
  const auto outShape = ir::shapeOf(op.getResult());
  for (size_t axis = 0; axis < batch; ++axis) {
    const auto strideIn = [&](llvm::ArrayRef<int64_t> shape, const std::vector<int64_t> &strides) {
      const size_t batches = shape.size() < 2 ? 0 : shape.size() - 2;
      if (axis + batches < batch)
        return int64_t{0};
      const size_t own = axis + batches - batch;
      return shape[own] == 1 ? 0 : strides[own];
    };
    loops.add(outShape[axis], strideIn(lhs, lhsStrides), strideIn(rhs, rhsStrides),
              outStrides[axis]);
  }
  const auto addKept = [&](std::vector<size_t> &axes, int64_t extent, int64_t left, int64_t right,
                           int64_t out) {
    axes.push_back(loops.extents.size());
    loops.resultAxes.push_back(loops.extents.size());
    loops.add(extent, left, right, out);
  };
  if (lhsRank > 1)
    addKept(loops.lhsAxes, lhs[lhsRank - 2], lhsStrides[lhsRank - 2], 0, outStrides[batch]);
  const size_t inner = loops.extents.size() + (rhsRank > 1 ? 1 : 0);
  loops.lhsAxes.push_back(inner);
  loops.rhsAxes.push_back(inner);
  if (rhsRank > 1)
    addKept(loops.rhsAxes, rhs[rhsRank - 1], 0, rhsStrides[rhsRank - 1], outStrides[outRank - 1]);
  loops.add(lhs[lhsRank - 1], lhsStrides[lhsRank - 1],
            rhsRank > 1 ? rhsStrides[rhsRank - 2] : rhsStrides[0], 0);
  return loops;
}

Loops loopsOf(ir::ContractOp op) {
  auto maps = llvm::to_vector(op.getIndexingMaps().getAsValueRange<AffineMapAttr>());
  std::string why;
  const auto extents =
      ir::contractLoops(maps, ir::shapeOf(op.getLhs()), ir::shapeOf(op.getRhs()), why);
  Loops loops;
  loops.extents.assign(extents->begin(), extents->end());
  const auto spread = [&](AffineMap map, Value value, std::vector<size_t> &axes) {
    const auto strides = stridesOf(value);
    std::vector<int64_t> perLoop(loops.extents.size());
    for (unsigned axis = 0; axis < map.getNumResults(); ++axis) {
      axes.push_back(map.getDimPosition(axis));
      perLoop[axes.back()] = strides[axis];
    }
    return perLoop;
  };
  loops.lhs = spread(maps[0], op.getLhs(), loops.lhsAxes);
  loops.rhs = spread(maps[1], op.getRhs(), loops.rhsAxes);
  loops.result = spread(maps[2], op.getResult(), loops.resultAxes);
  return loops;
}

} // namespace sluice::rows
