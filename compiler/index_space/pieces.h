// Views as pieces: where each element of a view comes from. A piece is two affine maps from shared
// loops, one into an operand and one into the result. Everything else about the positions of a view
// follows from its pieces.
#pragma once

#include <vector>

#include "compiler/index_space/index_space.h"

namespace sluice::space {

/// Elements of a result that come from one operand. At each point of the loops, the element of the
/// result at `to` plus the steps of the loops is the element of the operand at `from` plus theirs.
struct Piece {
  struct Loop {
    int64_t extent = 1;
    Extents from, to; ///< steps along each axis of the operand and of the result
    bool operator==(const Loop &) const = default;
  };

  unsigned operand = 0;
  Extents from, to; ///< the indices at the first point
  llvm::SmallVector<Loop, 4> loops;
};

/// A view. The pieces write each element of the result once.
struct Pieces {
  llvm::SmallVector<Extents, 1> operands; ///< shapes
  Extents result;                         ///< shape
  std::vector<Piece> pieces;
  std::optional<double> outside; ///< value of elements outside an operand; nothing: there are none
};

/// Checks the rules of pieces. Returns false if one is broken; `why` is then a sentence that ends
/// in the id of the first broken rule:
///  IS-SHAPE   a piece has an index and steps for each axis of its operand and of the result
///  IS-EMPTY   no loop has an extent below 1
///  IS-INSIDE  no piece leaves the result, nor its operand unless Pieces::outside has a value
///  IS-COVER   exactly one point of one piece writes each element of the result
bool verify(const Pieces &view, std::string &why);

/// Returns whether a piece has points outside its operand.
bool leaves(const Pieces &view, const Piece &piece);

/// Returns a piece with a loop along each axis of a result. No loop moves along the operand.
Piece loopsOver(ExtentsRef result, size_t operandRank);

/// Returns the pieces of a reshape. Neighbouring axes whose extents have common factors, as [4 6]
/// and [2 12], are loops over these factors. Other axes, as [4 6] and [3 8], have a piece for each
/// run of elements that no border of an axis divides.
Pieces reshaped(ExtentsRef from, ExtentsRef to);

/// Returns the index space of a view. Its loops are the loops that all pieces share; the elements
/// along the others are one region.
IndexSpace spaceOf(const Pieces &view, mlir::MLIRContext *context);

/// Returns the map from the loops of a piece to the indices of one side.
mlir::AffineMap mapOf(const Piece &piece, bool ofResult, mlir::MLIRContext *context);

/// Returns the piece of operand 0 that loops of these extents and the first elements of two
/// projections describe.
Piece pieceOf(ExtentsRef loops, const Projection &from, const Projection &to);

/// Where an element of a result comes from.
struct Source {
  std::optional<unsigned> operand; ///< nothing: it lies outside
  int64_t element = 0;             ///< row-major index in the operand

  bool operator==(const Source &) const = default;
};

/// Returns the source of every element of the result in row-major order.
std::vector<Source> sourcesOf(const Pieces &view);

/// Returns the source of the element of the result at `index`.
Source sourceOf(const Pieces &view, ExtentsRef index);

/// Elements of one operand.
struct Selected {
  unsigned operand = 0;
  Selection elements;
};

/// Returns the elements of an operand that some elements of the result come from. Returns nothing
/// if these are not in one piece, or if an axis of them is not the same axis of the operand.
std::optional<Selected> selectedFrom(const Pieces &view, const Selection &selection);

/// Returns the loops of a piece as extents.
Extents extentsOf(const Piece &piece);

/// Returns where a piece reads its operand, or where it writes the result.
ProjectionSteps stepsOf(const Pieces &view, const Piece &piece, bool ofResult);

/// Returns a box of elements of an operand that the elements `needed` of the result certainly read
/// by this piece; nothing if no box is known.
std::optional<Region> regionRead(const Pieces &view, const Piece &piece, const Region &needed);

/// Returns regionRead() of the part of `needed` that a piece writes. Other pieces may write the
/// rest of `needed`, and the piece may begin at any index of an axis. Returns nothing where the
/// piece writes none of it.
std::optional<Region> partRead(const Pieces &view, const Piece &piece, const Region &needed);

/// Returns a box of an operand that contains all elements which the elements `needed` of the result
/// read by this piece; an empty box if they read none.
Region mostRead(const Pieces &view, const Piece &piece, const Region &needed);

/// The same of an operation: a box of operand `operand` for elements of its first result.
Region mostRead(const IndexSpace &space, unsigned operand, const Region &needed);

} // namespace sluice::space
