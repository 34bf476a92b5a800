// The rules of pieces.
#include "compiler/index_space/points.h"

#include "runtime/addressing/addressing.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

namespace sluice::space {
namespace {

/// Collects the first broken rule.
class PiecesVerifier {
public:
  PiecesVerifier(const Pieces &view, std::string &why) : view(view), why(why) {}

  bool run() {
    for (auto [index, piece] : llvm::enumerate(view.pieces))
      if (!hasShape(piece, index) || !hasPoints(piece, index) || !isInside(piece, index))
        return false;
    return covers();
  }

private:
  const Pieces &view;
  std::string &why;

  template <typename... Args>
  bool refuse(llvm::StringRef rule, const char *format, const Args &...args) {
    why = (llvm::formatv(format, args...).str() + " (" + rule + ")").str();
    return false;
  }

  static std::string nameOf(const Piece &piece, bool ofResult) {
    return ofResult ? "the result" : llvm::formatv("operand {0}", piece.operand).str();
  }

  bool hasShape(const Piece &piece, size_t index) {
    if (piece.operand >= view.operands.size())
      return refuse("IS-SHAPE", "piece {0} reads operand {1}, but there are {2} operands", index,
                    piece.operand, view.operands.size());
    for (const bool ofResult : {false, true}) {
      const size_t rank = (ofResult ? view.result : view.operands[piece.operand]).size();
      const size_t found = (ofResult ? piece.to : piece.from).size();
      if (found != rank)
        return refuse("IS-SHAPE", "piece {0} has {1} indices for {2} of rank {3}", index, found,
                      ofResult ? "the result" : "its operand", rank);
    }
    return true;
  }

  bool hasPoints(const Piece &piece, size_t index) {
    for (auto [number, loop] : llvm::enumerate(piece.loops))
      if (loop.extent < 1)
        return refuse("IS-EMPTY", "loop {0} of piece {1} has extent {2}; it must be at least 1",
                      number, index, loop.extent);
    return true;
  }

  bool isInside(const Piece &piece, size_t index) {
    for (const bool ofResult : {true, false})
      for (auto [axis, extent] :
           llvm::enumerate(ofResult ? view.result : view.operands[piece.operand])) {
        const auto [low, high] = rangeOf(piece, ofResult, axis);
        const std::string name = nameOf(piece, ofResult);
        if (low < -kFarthest || high > kFarthest)
          return refuse("IS-INSIDE", "piece {0} {1} indices beyond 2^62 along axis {2} of {3}",
                        index, ofResult ? "writes" : "reads", axis, name);
        if ((low < 0 || high >= extent) && (ofResult || !view.outside))
          return refuse("IS-INSIDE",
                        "piece {0} {1} the indices {2} to {3} along axis {4} of {5}, which has "
                        "extent {6}{7}",
                        index, ofResult ? "writes" : "reads", static_cast<int64_t>(low),
                        static_cast<int64_t>(high), axis, name, extent,
                        ofResult ? "" : ", and the view has no value outside");
      }
    return true;
  }

  bool covers() {
    const __int128 size = wholeOf(view.result).size();
    __int128 points = 0;
    for (const Piece &piece : view.pieces) {
      __int128 here = 1;
      for (const Piece::Loop &loop : piece.loops)
        if (here <= size)
          here *= loop.extent;
      points += here;
    }
    std::vector<bool> isWritten(points > size ? 0 : static_cast<size_t>(size));
    bool isTwice = points > size;
    for (const Piece &piece : view.pieces)
      if (!isTwice)
        forEachPoint(piece, [&](ExtentsRef, ExtentsRef to) {
          const auto place = static_cast<size_t>(addressing::rowMajorPosition(to, view.result));
          isTwice |= isWritten[place];
          isWritten[place] = true;
        });
    if (isTwice)
      return refuse("IS-COVER", "the pieces write an element of the result more than once");
    return points == size ||
           refuse("IS-COVER", "the pieces write {0} of {1} elements of the result",
                  static_cast<int64_t>(points), static_cast<int64_t>(size));
  }

  static constexpr int64_t kFarthest = int64_t{1} << 62;
};

} // namespace

bool verify(const Pieces &view, std::string &why) { return PiecesVerifier(view, why).run(); }

} // namespace sluice::space
