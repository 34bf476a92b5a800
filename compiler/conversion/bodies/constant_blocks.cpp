#include "compiler/conversion/bodies/constant_blocks.h"

#include "compiler/conversion/scalar/constants.h"
#include "compiler/conversion/scalar/table_builder.h"
#include "compiler/dialect/sluice/node.h"
#include "compiler/reference/ops.h"

using namespace mlir;

namespace sluice::bodies {

Value equalBlocks(OpBuilder &builder, ir::ConstantOp constant, const Cut &cut, const Part &part) {
  const reference::Tensor values = ir::toTensor(constant.getValue());
  const Slab slab = slabOf(cut, values.shape[cut.axis]);
  reference::Shape sizes = values.shape;
  sizes[cut.axis] = cut.block;
  const reference::Shape steps(sizes.size(), 1);
  std::optional<reference::Tensor> block;
  for (int64_t trip = part.first; trip < part.first + part.trips; ++trip) {
    reference::Shape starts(sizes.size(), 0);
    starts[cut.axis] = slab.first + trip * slab.step;
    reference::Tensor here = reference::slice(values, starts, sizes, steps);
    if (block && here.values != block->values)
      return nullptr;
    block = std::move(here);
  }
  return builder.create<ir::ConstantOp>(constant.getLoc(), *block);
}

rows::Family constantFamily(ir::ConstantOp constant, const Cut &cut, int64_t dim, const Part &part,
                            int64_t lanes) {
  const reference::Tensor values = ir::toTensor(constant.getValue());
  const auto shape = ir::shapeOf(constant);
  const LineRows where(shape, dim, slabOf(cut, shape[cut.axis]), lanes);
  const rows::RowLayout layout({shape.begin(), shape.end()}, dim, lanes);
  rows::Family made;
  made.name = ir::tensorName(constant.getLoc());
  made.trips = static_cast<uint32_t>(part.trips);
  made.rows = where.rows();
  for (int64_t trip = 0; trip < part.trips; ++trip)
    for (int64_t row = 0; row < made.rows; ++row) {
      const int64_t from = where.rowOf(part.first + trip, row);
      for (int64_t lane = 0; lane < lanes; ++lane)
        made.constant.push_back(
            lane < layout.used(from)
                ? rows::roundToBf16(rows::withinBf16(values.values[layout.flat(from, lane)]))
                : uint16_t{0});
    }
  return made;
}

} // namespace sluice::bodies
