// The data-dimension rules of views that follow from their pieces: the data dimension stays with
// its axis.
#include "compiler/dialect/sluice/operations.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;

namespace sluice::ir {
namespace {

using space::Piece;
using space::Pieces;

/// The axis of each operand whose elements lie along an axis of the result.
class AxesOfView {
public:
  explicit AxesOfView(const Pieces &view) : view(view) {
    for (auto [operand, shape] : llvm::enumerate(view.operands)) {
      const size_t rank = view.result.size();
      auto &axes = all.emplace_back(rank, std::nullopt);
      llvm::SmallVector<bool> isTaken(shape.size(), false);
      for (const size_t to : llvm::seq(rank)) {
        axes[to] = movedAlong(operand, to);
        if (axes[to])
          isTaken[*axes[to]] = true;
      }
      // Along the others all loops read one element: axes of extent 1, in their order.
      size_t next = 0;
      for (const size_t to : llvm::seq(rank)) {
        if (axes[to])
          continue;
        while (next < shape.size() && (isTaken[next] || shape[next] != 1))
          ++next;
        if (next < shape.size())
          axes[to] = next++;
      }
    }
  }

  /// Nothing: the elements along the axis lie along none of the operand.
  [[nodiscard]] std::optional<size_t> of(size_t operand, size_t to) const {
    return all[operand][to];
  }

private:
  const Pieces &view;
  llvm::SmallVector<llvm::SmallVector<std::optional<size_t>, 4>, 2> all;

  [[nodiscard]] std::optional<size_t> movedAlong(size_t operand, size_t to) const {
    for (const Piece &piece : view.pieces)
      for (const Piece::Loop &loop : piece.loops)
        if (piece.operand == operand && loop.to[to] != 0)
          for (auto [axis, step] : llvm::enumerate(loop.from))
            if (step != 0)
              return axis;
    return std::nullopt;
  }
};

/// Whether every element keeps its index along an axis, and none is left out.
bool isUnmoved(const Pieces &view, const AxesOfView &axes, size_t to) {
  return llvm::all_of(view.pieces, [&](const Piece &piece) {
    const size_t from = *axes.of(piece.operand, to);
    return piece.from[from] == piece.to[to] &&
           view.operands[piece.operand][from] == view.result[to] &&
           llvm::all_of(piece.loops, [&](const Piece::Loop &loop) {
             return loop.extent == 1 || loop.from[from] == loop.to[to];
           });
  });
}

/// Whether all elements along an axis are one element of the operand.
bool isSpread(const Pieces &view, const AxesOfView &axes, size_t to) {
  return view.pieces.size() == 1 && llvm::all_of(view.pieces[0].loops, [&](const auto &loop) {
           return loop.from[*axes.of(0, to)] == 0;
         });
}

} // namespace

void layoutsOfView(Operation *op, const LayoutQuery &query, LayoutRelation &relation) {
  auto interface = llvm::cast<ViewInterface>(op);
  const Pieces view = interface.pieces();
  const auto [rule, why] = interface.layoutRule();
  if (view.result.empty()) { // carried as [1]
    addEqual(query, relation, rule, why, [](int64_t) { return int64_t{0}; });
    return;
  }
  const AxesOfView axes(view);
  for (const size_t to : llvm::seq(view.result.size())) {
    LayoutTuple tuple{{}, rule, why};
    for (const size_t operand : llvm::seq(view.operands.size()))
      if (const auto from = axes.of(operand, to))
        tuple.dims.push_back(query.constant[operand] ? kNoDim : static_cast<int8_t>(*from));
    if (tuple.dims.size() != view.operands.size())
      continue;
    if (!isUnmoved(view, axes, to))
      tuple.cost = isSpread(view, axes, to) ? query.rows(query.operands[0], tuple.dims[0])
                                            : query.rows(query.result, static_cast<int64_t>(to));
    tuple.dims.push_back(static_cast<int8_t>(to));
    relation.push_back(std::move(tuple));
  }
}

} // namespace sluice::ir
