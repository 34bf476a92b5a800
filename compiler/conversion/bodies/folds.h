// What cores can fold over the positions of a loop.
#pragma once

#include <optional>
#include <vector>

#include "mlir/IR/Operation.h"

#include "compiler/conversion/rows/program.h"
#include "compiler/support/problem.h"

namespace sluice::bodies {

/// What is wrong if sums of `rows` rows of every position, those of operation `first` and others,
/// need more accumulators than there are beside that of another product.
std::optional<Problem> tooManySums(uint32_t rows, int64_t positions, mlir::Operation *first,
                                   const format::Geometry &geometry);

/// Whether rows that are summed over the trips are sums of products alone.
bool canFold(const rows::Graph &trip, const std::vector<rows::Write> &writes);

} // namespace sluice::bodies
