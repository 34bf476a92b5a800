// Random index spaces, legal ones and broken ones.
#pragma once

#include "compiler/index_space/index_space.h"
#include "tests/support/rng.h"

namespace sluice::space {

/// Up to four loops, one or two operands of up to three axes, with steps in both
/// directions, regions, tensors that fit or do not, and a result that the loops
/// cover, mostly. Small enough to try every point.
IndexSpace randomSpace(fixtures::Rng &rng, mlir::MLIRContext &context);

/// A block of a space.
Region randomBlock(fixtures::Rng &rng, const IndexSpace &space);

} // namespace sluice::space
