#include "compiler/index_space/points.h"

#include "llvm/ADT/STLExtras.h"

namespace sluice::space {

void add(Extents &to, ExtentsRef steps, int64_t times) {
  for (auto [index, step] : llvm::zip_equal(to, steps))
    index += step * times;
}

bool isInside(ExtentsRef index, ExtentsRef tensor) {
  return llvm::all_of(llvm::zip_equal(index, tensor), [](const auto &along) {
    const auto &[at, extent] = along;
    return at >= 0 && at < extent;
  });
}

void forEachPoint(const Piece &piece, llvm::function_ref<void(ExtentsRef, ExtentsRef)> visit) {
  Extents from = piece.from, to = piece.to, point(piece.loops.size(), 0);
  while (true) {
    visit(from, to);
    size_t loop = piece.loops.size();
    while (loop > 0) {
      const Piece::Loop &moved = piece.loops[--loop];
      const bool isLast = ++point[loop] == moved.extent;
      add(from, moved.from, isLast ? 1 - moved.extent : 1);
      add(to, moved.to, isLast ? 1 - moved.extent : 1);
      if (!isLast)
        break;
      point[loop] = 0;
      if (loop == 0)
        return;
    }
    if (piece.loops.empty())
      return;
  }
}

std::pair<__int128, __int128> rangeOf(const Piece &piece, bool ofResult, size_t axis) {
  __int128 low = (ofResult ? piece.to : piece.from)[axis], high = low;
  for (const Piece::Loop &loop : piece.loops) {
    const __int128 reach =
        static_cast<__int128>((ofResult ? loop.to : loop.from)[axis]) * (loop.extent - 1);
    (reach < 0 ? low : high) += reach;
  }
  return {low, high};
}

} // namespace sluice::space
