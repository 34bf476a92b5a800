#include "random_space.h"

#include <algorithm>

#include "mlir/IR/AffineExpr.h"

namespace sluice::space {
namespace {

using fixtures::Rng;
using mlir::AffineExpr;
using mlir::AffineMap;

Projection randomOperand(Rng &rng, mlir::MLIRContext &context, const IndexSpace &space) {
  const auto rank = static_cast<unsigned>(rng.range(0, 3));
  llvm::SmallVector<AffineExpr> maps(rank, mlir::getAffineConstantExpr(0, &context));
  Extents low(rank, 0), high(rank, 0);
  Projection operand;
  for (unsigned loop = 0; loop < space.loops.size() && rank > 0; ++loop) {
    // Rarely along two axes, which is not allowed.
    for (int axes = rng.percent(3) ? 2 : 1; axes > 0; --axes) {
      const auto axis = static_cast<unsigned>(rng.range(0, rank - 1));
      const int64_t step = rng.range(-3, 3);
      maps[axis] = maps[axis] + mlir::getAffineDimExpr(loop, &context) * step;
      const int64_t reach = step * (space.loops[loop].extent - 1);
      (reach < 0 ? low : high)[axis] += reach;
    }
  }
  for (unsigned axis = 0; axis < rank; ++axis) {
    operand.region.push_back(rng.percent(60) ? 1 : rng.range(rng.percent(4) ? 0 : 1, 3));
    // From its first element on, or a little off.
    const int64_t offset = -low[axis] + (rng.percent(70) ? 0 : rng.range(-2, 2));
    maps[axis] = maps[axis] + offset;
    const int64_t end = high[axis] + offset + operand.region.back();
    operand.tensor.push_back(std::max<int64_t>(1, end + (rng.percent(70) ? 0 : rng.range(-3, 3))));
  }
  operand.map = AffineMap::get(space.loops.size(), 0, maps, &context);
  if (rng.percent(30))
    operand.outside = 0;
  return operand;
}

/// Each loop that is not reduced is a digit of one axis.
Projection randomResult(Rng &rng, mlir::MLIRContext &context, const IndexSpace &space) {
  const auto rank = static_cast<unsigned>(rng.range(1, 3));
  Projection result;
  llvm::SmallVector<AffineExpr> maps(rank, mlir::getAffineConstantExpr(0, &context));
  for (unsigned axis = 0; axis < rank; ++axis)
    result.region.push_back(rng.percent(70) ? 1 : rng.range(1, 3));
  result.tensor = result.region;
  llvm::SmallVector<unsigned> order;
  for (unsigned loop = 0; loop < space.loops.size(); ++loop)
    order.insert(order.begin() + rng.range(0, order.size()), loop);
  for (const unsigned loop : order) {
    const auto &[extent, kind, monoid, batch] = space.loops[loop];
    if (kind == LoopKind::Reduced && !rng.percent(2))
      continue;
    const auto axis = static_cast<unsigned>(rng.range(0, rank - 1));
    int64_t step = result.tensor[axis];
    if (rng.percent(4))
      step += rng.range(-1, 1);
    const AffineExpr dim = mlir::getAffineDimExpr(loop, &context);
    // Forwards or backwards.
    maps[axis] = maps[axis] + (rng.percent(70) ? dim * step : dim * -step + (extent - 1) * step);
    result.tensor[axis] *= extent;
  }
  if (rng.percent(4))
    result.tensor[0] += rng.range(0, 1);
  if (rng.percent(3))
    maps[0] = maps[0] + 1;
  result.map = AffineMap::get(space.loops.size(), 0, maps, &context);
  return result;
}

} // namespace

IndexSpace randomSpace(Rng &rng, mlir::MLIRContext &context) {
  IndexSpace space;
  for (int64_t loops = rng.range(1, 4); loops > 0; --loops)
    space.loops.push_back({rng.range(rng.percent(1) ? 0 : 1, 5),
                           rng.percent(60) ? LoopKind::Parallel : LoopKind::Reduced});
  for (int64_t operands = rng.range(1, 2); operands > 0; --operands)
    space.operands.push_back(randomOperand(rng, context, space));
  space.results.push_back(randomResult(rng, context, space));
  return space;
}

Region randomBlock(Rng &rng, const IndexSpace &space) {
  Region block;
  for (const Loop &loop : space.loops) {
    block.start.push_back(rng.range(0, loop.extent - 1));
    block.extents.push_back(rng.range(1, loop.extent - block.start.back()));
  }
  return block;
}

} // namespace sluice::space
