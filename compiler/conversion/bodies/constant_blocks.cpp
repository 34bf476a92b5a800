#include "compiler/conversion/bodies/constant_blocks.h"

#include "compiler/conversion/scalar/constants.h"
#include "compiler/conversion/scalar/table_builder.h"
#include "compiler/dialect/sluice/node.h"

using namespace mlir;

namespace sluice::bodies {

Value equalBlocks(OpBuilder &builder, ir::ConstantOp constant, const Cut &cut, const Part &part) {
  const reference::Tensor values = ir::toTensor(constant.getValue());
  const auto shape = ir::shapeOf(constant);
  int64_t inner = cut.block, outer = 1;
  for (int64_t axis = 0; axis < static_cast<int64_t>(shape.size()); ++axis)
    if (axis != cut.axis)
      (axis < cut.axis ? outer : inner) *= shape[axis];
  const RankedTensorType type = blockType(llvm::cast<RankedTensorType>(constant.getType()), cut);
  reference::Tensor block({type.getShape().begin(), type.getShape().end()});
  const int64_t trips = shape[cut.axis] / cut.block;
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t t = part.first; t < part.first + part.trips; ++t)
      for (int64_t i = 0; i < inner; ++i) {
        const int64_t trip = cut.mirrored ? trips - 1 - t : t;
        const double value =
            values.values[o * shape[cut.axis] * (inner / cut.block) + trip * inner + i];
        double &first = block.values[o * inner + i];
        if (t == part.first)
          first = value;
        else if (first != value)
          return nullptr;
      }
  return builder.create<ir::ConstantOp>(constant.getLoc(), type,
                                        ir::toElements(block, builder.getContext()));
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
