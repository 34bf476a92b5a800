// The points of a piece: an index in the operand and one in the result for each.
#pragma once

#include "compiler/index_space/pieces.h"

namespace sluice::space {

/// Adds the steps of a loop to an index, `times` times.
void add(Extents &to, ExtentsRef steps, int64_t times = 1);

/// Returns whether an index is one of a tensor.
bool isInside(ExtentsRef index, ExtentsRef tensor);

/// Calls `visit` with the indices in operand and result of every point of a piece.
void forEachPoint(const Piece &piece, llvm::function_ref<void(ExtentsRef, ExtentsRef)> visit);

/// Returns the first and the last index along an axis that a piece has on one side, whatever its
/// size.
std::pair<__int128, __int128> rangeOf(const Piece &piece, bool ofResult, size_t axis);

} // namespace sluice::space
