// What cores can fold over the positions of a loop.
#pragma once

#include <optional>
#include <vector>

#include "compiler/conversion/bodies/cut.h"
#include "compiler/dialect/sluice/operations.h"
#include "compiler/support/problem.h"

namespace sluice::bodies {

/// Returns how the results of single tiles of the operand of a reduction combine into the result of
/// all; nothing if they do not.
std::optional<rows::Fold> foldOf(ir::ReduceOp reduce, const Cut &cut);

/// Builds the partial result of one tile, of the type of the result.
mlir::Value makePart(mlir::OpBuilder &builder, ir::ReduceOp reduce, mlir::Value block);

/// Combines partial results, stacked along a first axis, into the result.
mlir::Value mergeParts(mlir::OpBuilder &builder, ir::ReduceOp reduce, mlir::Value parts);

/// What is wrong if sums of `rows` rows of every position, those of operation `first` and others,
/// need more accumulators than there are beside that of another product.
std::optional<Problem> tooManySums(uint32_t rows, int64_t positions, mlir::Operation *first,
                                   const format::Geometry &geometry);

/// Whether rows that are summed over the trips are sums of products alone.
bool canFold(const rows::Graph &trip, const std::vector<rows::Write> &writes);

} // namespace sluice::bodies
