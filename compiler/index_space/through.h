// Views are selections by affine maps: what is behind them reads what is in front of them.
#pragma once

#include "compiler/index_space/projection.h"

namespace sluice::space {

/// `of`, a projection of a view's result, as one of what it is a view of: `view` is the view's
/// projection of that, by indices of its result. Nothing if a point asks for more than an element
/// of the result, or for what lies outside of it.
std::optional<Projection> through(const Projection &of, const Projection &view);

} // namespace sluice::space
