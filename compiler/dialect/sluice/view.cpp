// The view that is written as pieces.
#include "compiler/dialect/sluice/operations.h"

#include "compiler/reference/tensor.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace sluice::ir {
namespace {

using space::Extents;
using space::ExtentsRef;
using space::Piece;
using space::Pieces;

/// The map from the loops of a piece to the indices of one side.
AffineMap mapOf(const Piece &piece, bool ofResult, MLIRContext *context) {
  llvm::SmallVector<AffineExpr> indices;
  for (const int64_t first : ofResult ? piece.to : piece.from)
    indices.push_back(getAffineConstantExpr(first, context));
  for (auto [number, loop] : llvm::enumerate(piece.loops))
    for (auto [index, step] : llvm::zip_equal(indices, ofResult ? loop.to : loop.from))
      index = index + getAffineDimExpr(number, context) * step;
  return AffineMap::get(piece.loops.size(), 0, indices, context);
}

PieceAttr attributeOf(const Piece &piece, MLIRContext *context) {
  const auto extents =
      llvm::map_to_vector(piece.loops, [](const Piece::Loop &loop) { return loop.extent; });
  return PieceAttr::get(context, piece.operand, extents, mapOf(piece, false, context),
                        mapOf(piece, true, context));
}

Piece pieceOf(PieceAttr piece) {
  const auto from = space::Projection::elements(piece.getFrom(), {});
  const auto to = space::Projection::elements(piece.getTo(), {});
  Piece result{piece.getOperand(), {}, {}, {}};
  for (unsigned axis = 0; axis < from.rank(); ++axis)
    result.from.push_back(from.offset(axis));
  for (unsigned axis = 0; axis < to.rank(); ++axis)
    result.to.push_back(to.offset(axis));
  for (auto [loop, extent] : llvm::enumerate(piece.getLoops()))
    result.loops.push_back({extent, space::delta(from, loop), space::delta(to, loop)});
  return result;
}

} // namespace

void ViewOp::build(OpBuilder &builder, OperationState &state, RankedTensorType type,
                   ValueRange inputs, const Pieces &view) {
  llvm::SmallVector<Attribute> parts;
  for (const Piece &piece : view.pieces)
    parts.push_back(attributeOf(piece, builder.getContext()));
  FloatAttr outside;
  if (view.outside)
    outside = builder.getF32FloatAttr(static_cast<float>(*view.outside));
  build(builder, state, type, inputs, builder.getArrayAttr(parts), outside);
}

Pieces ViewOp::pieces() {
  Pieces view{{}, Extents(shapeOf(getResult())), {}, std::nullopt};
  for (const Value input : getInputs())
    view.operands.emplace_back(shapeOf(input));
  for (const PieceAttr piece : getParts().getAsRange<PieceAttr>())
    view.pieces.push_back(pieceOf(piece));
  if (const auto outside = getOutside())
    view.outside = outside->convertToDouble();
  return view;
}

LogicalResult ViewOp::verify() {
  for (auto [index, piece] : llvm::enumerate(getParts().getAsRange<PieceAttr>()))
    for (const AffineMap map : {piece.getFrom(), piece.getTo()}) {
      const std::string text = llvm::formatv("{0}", map);
      if (map.getNumDims() != piece.getLoops().size())
        return emitOpError("piece ")
               << index << " has " << piece.getLoops().size() << " loops, but its map " << text
               << " has " << map.getNumDims() << " (IS-AFFINE)";
      if (!space::isAffine(map))
        return emitOpError("piece ") << index << " has the map " << text
                                     << "; divisions and symbols are not allowed (IS-AFFINE)";
    }
  std::string why;
  return space::verify(pieces(), why) ? verifyIndexSpace(*this) : emitOpError(why);
}

bool ViewOp::addsElements() { return getOutside().has_value(); }

reference::Tensors ViewOp::evaluate(llvm::ArrayRef<const reference::Tensor *> operands) {
  const Pieces view = pieces();
  reference::Tensor result(reference::Shape(view.result.begin(), view.result.end()));
  for (auto [value, source] : llvm::zip_equal(result.values, space::sourcesOf(view)))
    value = source.operand ? operands[*source.operand]->values[source.element] : *view.outside;
  reference::Tensors results;
  results.push_back(std::move(result));
  return results;
}

} // namespace sluice::ir
