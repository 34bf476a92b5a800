// The view that is written as pieces.
#include "compiler/dialect/sluice/evaluate.h"
#include "compiler/dialect/sluice/operations.h"

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

PieceAttr attributeOf(const Piece &piece, MLIRContext *context) {
  const auto extents =
      llvm::map_to_vector(piece.loops, [](const Piece::Loop &loop) { return loop.extent; });
  return PieceAttr::get(context, piece.operand, extents, space::mapOf(piece, false, context),
                        space::mapOf(piece, true, context));
}

Piece pieceOf(PieceAttr attribute) {
  const auto elements = [](AffineMap map) { return space::Projection::elements(map, {}); };
  Piece piece = space::pieceOf(attribute.getLoops(), elements(attribute.getFrom()),
                               elements(attribute.getTo()));
  piece.operand = attribute.getOperand();
  return piece;
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

Tensors ViewOp::evaluate(Operands operands) {
  const Pieces view = pieces();
  Tensor result(plain(view.result));
  for (auto [value, source] : llvm::zip_equal(result.values, space::sourcesOf(view)))
    value = source.operand ? operands[*source.operand]->values[source.element] : *view.outside;
  return one(std::move(result));
}

} // namespace sluice::ir
