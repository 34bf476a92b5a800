// The pieces of every view: where its elements come from.
#include "compiler/dialect/sluice/operations.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;

namespace sluice::ir {
namespace {

using space::Extents;
using space::ExtentsRef;
using space::Piece;
using space::Pieces;

/// A view of one operand with one piece, whose loops do not move along the operand yet.
Pieces onePiece(Value input, Value result) {
  return {{Extents(shapeOf(input))},
          Extents(shapeOf(result)),
          {space::loopsOver(shapeOf(result), shapeOf(input).size())},
          std::nullopt};
}

/// A selection along each axis: element i of axis `axis` of the result is element `start` + i *
/// `step` of axis `of` of the operand.
struct Selected {
  int64_t start = 0, step = 1;
  size_t of;
};
Pieces selection(Value input, Value result, llvm::function_ref<Selected(size_t axis)> selected) {
  Pieces view = onePiece(input, result);
  Piece &piece = view.pieces.front();
  for (auto [axis, loop] : llvm::enumerate(piece.loops)) {
    const auto [start, step, of] = selected(axis);
    piece.from[of] = start;
    loop.from[of] = step;
  }
  return view;
}

/// A view of several operands: each is a piece whose loop along `axis` moves by `step` in the
/// result, from the place that `first` says.
Pieces joined(ValueRange inputs, Value result, size_t axis, int64_t step,
              llvm::function_ref<int64_t(size_t input)> first) {
  Pieces view{{}, Extents(shapeOf(result)), {}, std::nullopt};
  for (auto [index, input] : llvm::enumerate(inputs)) {
    const ExtentsRef shape = shapeOf(input);
    view.operands.emplace_back(shape);
    Piece piece = space::loopsOver(shape, shape.size());
    piece.operand = index;
    piece.to[axis] = first(index);
    for (Piece::Loop &loop : piece.loops)
      loop.from = loop.to;
    piece.loops[axis].to[axis] = step;
    view.pieces.push_back(std::move(piece));
  }
  return view;
}

/// Axes that have each element `counts` times: a loop over the elements, then one over the copies.
/// `copyStride` says how far apart the copies of an element are.
Pieces repeated(Value input, Value result, ExtentsRef counts,
                llvm::function_ref<int64_t(size_t axis)> copyStride) {
  const ExtentsRef shape = shapeOf(input);
  const Extents still(shape.size(), 0);
  Piece piece{0, still, still, {}};
  for (auto [axis, extent] : llvm::enumerate(shape)) {
    Piece::Loop elements{extent, still, still}, copies{counts[axis], still, still};
    copies.to[axis] = copyStride(axis);
    elements.from[axis] = 1;
    elements.to[axis] = copies.to[axis] == 1 ? counts[axis] : 1;
    piece.loops.push_back(elements);
    if (counts[axis] != 1)
      piece.loops.push_back(copies);
  }
  return {{Extents(shape)}, Extents(shapeOf(result)), {piece}, std::nullopt};
}

} // namespace

Pieces TransposeOp::pieces() {
  return selection(getInput(), getResult(), [&](size_t axis) {
    return Selected{.of = static_cast<size_t>(getPermutation()[axis])};
  });
}

Pieces SliceOp::pieces() {
  return selection(getInput(), getResult(), [&](size_t axis) {
    return Selected{getStarts()[axis], getSteps()[axis], axis};
  });
}

Pieces BroadcastOp::pieces() {
  return selection(getInput(), getResult(), [&](size_t axis) {
    return Selected{0, shapeOf(getInput())[axis] == 1 ? 0 : 1, axis};
  });
}

Pieces RelayoutOp::pieces() {
  return selection(getInput(), getResult(), [](size_t axis) { return Selected{.of = axis}; });
}

Pieces PadOp::pieces() {
  Pieces view = selection(getInput(), getResult(),
                          [&](size_t axis) { return Selected{-getLow()[axis], 1, axis}; });
  view.outside = getValue().convertToDouble();
  return view;
}

Pieces WindowOp::pieces() {
  const size_t rank = shapeOf(getInput()).size();
  Pieces view = onePiece(getInput(), getResult());
  Piece &piece = view.pieces.front();
  for (const size_t axis : llvm::seq(rank))
    piece.loops[axis].from[axis] = 1;
  for (auto [i, axis] : llvm::enumerate(getAxes())) {
    Piece::Loop &positions = piece.loops[axis], &elements = piece.loops[rank + i];
    positions.from[axis] = getStrides()[i];
    elements.from[axis] = getDilations()[i];
    piece.from[axis] = getStarts()[i];
  }
  if (space::leaves(view, piece))
    view.outside = getValue().convertToDouble();
  return view;
}

llvm::SmallVector<int64_t, 2> WindowOp::windowAxes() {
  return {getAxes().begin(), getAxes().end()};
}

Pieces ConcatOp::pieces() {
  int64_t end = 0;
  return joined(getInputs(), getResult(), getAxis(), 1, [&](size_t input) {
    const int64_t first = end;
    end += shapeOf(getInputs()[input])[getAxis()];
    return first;
  });
}

Pieces InterleaveOp::pieces() {
  return joined(getInputs(), getResult(), getAxis(), static_cast<int64_t>(getInputs().size()),
                [](size_t input) { return static_cast<int64_t>(input); });
}

Pieces TileOp::pieces() {
  return repeated(getInput(), getResult(), getCounts(),
                  [&](size_t axis) { return shapeOf(getInput())[axis]; });
}

Pieces RepeatOp::pieces() {
  return repeated(getInput(), getResult(), getCounts(), [](size_t) { return int64_t{1}; });
}

} // namespace sluice::ir
