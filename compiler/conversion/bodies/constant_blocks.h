// Constants that are cut: every trip of a loop needs another block.
#pragma once

#include "compiler/conversion/bodies/lines.h"
#include "compiler/dialect/sluice/operations.h"

namespace sluice::bodies {

/// The block of a constant that is the same in every trip of a part; null if they differ.
mlir::Value equalBlocks(mlir::OpBuilder &builder, ir::ConstantOp constant, const Cut &cut,
                        const Part &part);

/// A constant of which every trip of a part needs another block, laid out along axis `dim`.
rows::Family constantFamily(ir::ConstantOp constant, const Cut &cut, int64_t dim, const Part &part,
                            int64_t lanes);

} // namespace sluice::bodies
