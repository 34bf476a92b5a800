// Composition of projections: how a reader of a view reads the operand of the view.
#pragma once

#include "compiler/index_space/projection.h"

namespace sluice::space {

/// Returns the projection `of`, which reads the result of a view, as a projection of the operand of
/// the view. The loops of `view`, the projection of that operand, are the axes of the result.
/// Returns nothing if a point of `of` reads more than one element, or elements outside the result.
std::optional<Projection> through(const Projection &of, const Projection &view);

} // namespace sluice::space
