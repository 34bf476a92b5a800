#include "compiler/index_space/pieces.h"

#include <cstdlib>
#include <numeric>

#include "runtime/addressing/addressing.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace sluice::space {
namespace {

void add(Extents &to, ExtentsRef steps, int64_t times = 1) {
  for (auto [index, step] : llvm::zip_equal(to, steps))
    index += step * times;
}

/// Calls `visit` with the indices in operand and result of every point of a piece.
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

/// Returns whether a piece writes the element of the result at `index`. `from` becomes the index in
/// the operand.
bool finds(const Piece &piece, ExtentsRef index, Extents &from) {
  // The longest steps first: what is left is within the steps of the loops that follow.
  llvm::SmallVector<std::pair<int64_t, const Piece::Loop *>> loops;
  Extents left(index);
  add(left, piece.to, -1);
  from = piece.from;
  for (const Piece::Loop &loop : piece.loops) {
    int64_t longest = 0;
    for (auto [axis, step] : llvm::enumerate(loop.to)) {
      longest = std::max(longest, std::abs(step));
      if (step < 0) // counted from the other end
        left[axis] -= step * (loop.extent - 1);
    }
    loops.emplace_back(longest, &loop);
  }
  llvm::sort(loops, [](const auto &a, const auto &b) { return a.first > b.first; });
  for (const auto &[longest, loop] : loops) {
    int64_t point = 0;
    for (auto [axis, step] : llvm::enumerate(loop->to))
      if (step != 0) {
        const int64_t steps = std::clamp<int64_t>(left[axis] / std::abs(step), 0, loop->extent - 1);
        left[axis] -= steps * std::abs(step);
        point = step < 0 ? loop->extent - 1 - steps : steps;
      }
    add(from, loop->from, point);
  }
  return llvm::all_of(left, [](int64_t rest) { return rest == 0; });
}

/// The map from the loops of a piece to the elements of one side.
Projection sideOf(const Piece &piece, bool ofResult, ExtentsRef tensor, MLIRContext *context) {
  llvm::SmallVector<AffineExpr> places;
  for (const int64_t first : ofResult ? piece.to : piece.from)
    places.push_back(getAffineConstantExpr(first, context));
  for (auto [index, loop] : llvm::enumerate(piece.loops))
    for (auto [place, step] : llvm::zip_equal(places, ofResult ? loop.to : loop.from))
      place = place + getAffineDimExpr(index, context) * step;
  return Projection::elements(AffineMap::get(piece.loops.size(), 0, places, context), tensor);
}

/// Consecutive iterations of a loop, or indices along an axis.
struct Range {
  int64_t low = 0, high = 0;
};
using Ranges = llvm::SmallVector<Range, 4>;

/// Adds what the iterations of a loop add to an index.
void add(Range &index, int64_t step, const Range &iterations) {
  index.low += step * (step < 0 ? iterations.high : iterations.low);
  index.high += step * (step < 0 ? iterations.low : iterations.high);
}

/// Returns for each loop the iterations that may write to a box of the result; nothing if there are
/// none. An iteration is left out if no iterations of the other loops lead to the box from it.
std::optional<Ranges> writing(const Piece &piece, const Region &box) {
  Ranges ranges;
  for (const Piece::Loop &loop : piece.loops)
    ranges.push_back({0, loop.extent - 1});
  for (const size_t axis : llvm::seq(box.start.size())) {
    for (const size_t one : llvm::seq(ranges.size())) {
      Range others{piece.to[axis], piece.to[axis]};
      for (auto [index, loop] : llvm::enumerate(piece.loops))
        if (index != one)
          add(others, loop.to[axis], ranges[index]);
      const int64_t step = piece.loops[one].to[axis];
      int64_t least = box.start[axis] - others.high, most = box.end(axis) - 1 - others.low;
      if (step == 0 ? least > 0 || most < 0 : least > most)
        return std::nullopt;
      if (step == 0)
        continue;
      if (step < 0)
        std::swap(least, most);
      ranges[one].low = std::max(ranges[one].low, llvm::divideCeilSigned(least, step));
      ranges[one].high = std::min(ranges[one].high, llvm::divideFloorSigned(most, step));
      if (ranges[one].low > ranges[one].high)
        return std::nullopt;
    }
  }
  return ranges;
}

/// The axes of one side of a reshape. Axes of extent 1 have no loop.
struct Side {
  explicit Side(ExtentsRef shape) : shape(shape) {
    for (auto [axis, extent] : llvm::enumerate(shape))
      if (extent != 1)
        axes.push_back(axis);
  }

  ExtentsRef shape;
  llvm::SmallVector<size_t> axes;
  size_t next = 0;     ///< in `axes`, the first of the group
  size_t groupEnd = 0; ///< in `axes`
  int64_t count = 1;   ///< elements of the group

  /// The distances of neighbours along each axis of the group, within the group.
  [[nodiscard]] Extents strides() const {
    Extents result;
    int64_t stride = count;
    for (size_t i = next; i < groupEnd; ++i)
      result.push_back(stride /= shape[axes[i]]);
    return result;
  }

  /// The index of element `flat` of the group along each axis of the tensor.
  [[nodiscard]] Extents indexOf(int64_t flat) const {
    Extents index(shape.size(), 0);
    for (auto [i, stride] : llvm::enumerate(strides())) {
      index[axes[next + i]] = flat / stride;
      flat %= stride;
    }
    return index;
  }
};

/// Groups of axes of both sides of a reshape that hold the same elements.
class Reshape {
public:
  Reshape(ExtentsRef from, ExtentsRef to) : from(from), to(to) {}

  std::vector<Parts> groups() {
    std::vector<Parts> all;
    while (from.next < from.axes.size()) {
      findGroup();
      Extents distances = from.strides();
      distances.append(to.strides());
      llvm::sort(distances, std::greater<>());
      distances.erase(std::unique(distances.begin(), distances.end()), distances.end());
      all.push_back(divides(distances) ? Parts{nest(distances)} : runs(distances));
      from.next = from.groupEnd;
      to.next = to.groupEnd;
    }
    return all;
  }

private:
  Side from, to;

  /// The least number of axes of both that hold the same elements.
  void findGroup() {
    for (Side *side : {&from, &to}) {
      side->groupEnd = side->next;
      side->count = 1;
    }
    do {
      Side &shorter = from.count <= to.count ? from : to;
      shorter.count *= shorter.shape[shorter.axes[shorter.groupEnd++]];
    } while (from.count != to.count);
  }

  [[nodiscard]] bool divides(ExtentsRef distances) const {
    int64_t above = from.count;
    return llvm::all_of(distances, [&](int64_t distance) {
      return std::exchange(above, distance) % distance == 0;
    });
  }

  [[nodiscard]] Piece at(int64_t flat) const {
    return {0, from.indexOf(flat), to.indexOf(flat), {}};
  }

  /// A loop that moves by `distance` elements, within the borders of the axes: its steps are the
  /// index of the element at that distance.
  [[nodiscard]] Piece::Loop loop(int64_t extent, int64_t distance) const {
    return {extent, from.indexOf(distance), to.indexOf(distance)};
  }

  /// A loop for each distance.
  [[nodiscard]] Piece nest(ExtentsRef distances) const {
    Piece piece = at(0);
    int64_t above = from.count;
    for (const int64_t distance : distances)
      piece.loops.push_back(loop(std::exchange(above, distance) / distance, distance));
    return piece;
  }

  /// A piece for each run of elements between two borders. Borders repeat after the common multiple
  /// of the longest distances, which an outer loop runs over.
  [[nodiscard]] Parts runs(ExtentsRef distances) const {
    const int64_t period = std::lcm(from.strides().front(), to.strides().front());
    Extents borders{period};
    for (const int64_t distance : distances)
      for (int64_t border = 0; distance > 1 && border < period; border += distance)
        borders.push_back(border);
    llvm::sort(borders);
    borders.erase(std::unique(borders.begin(), borders.end()), borders.end());
    Parts parts;
    for (size_t i = 1; i < borders.size(); ++i) {
      parts.push_back(at(borders[i - 1]));
      if (period < from.count)
        parts.back().loops.push_back(loop(from.count / period, period));
      parts.back().loops.push_back(loop(borders[i] - borders[i - 1], 1));
    }
    return parts;
  }
};

/// Loops that all pieces have, and the box of all other elements of each tensor.
class SharedLoops {
public:
  explicit SharedLoops(const Pieces &view) : view(view), shared(view.pieces[0].loops.size()) {
    for (const size_t loop : llvm::seq(shared.size()))
      shared[loop] = llvm::all_of(view.pieces, [&](const Piece &piece) {
        return loop < piece.loops.size() && piece.loops[loop] == view.pieces[0].loops[loop];
      });
    while (view.pieces.size() > 1 && dropGap())
      ;
  }

  [[nodiscard]] IndexSpace space(MLIRContext *context) const {
    IndexSpace space;
    space.work = Work::Address;
    for (const size_t loop : llvm::seq(shared.size()))
      if (shared[loop])
        space.loops.push_back({view.pieces[0].loops[loop].extent});
    const llvm::SmallVector<Region, 1> boxes = operandBoxes();
    for (auto [operand, box] : llvm::enumerate(boxes))
      space.operands.push_back(
          projection(box, false, view.operands[operand], view.outside, context));
    space.results = {projection(resultBox(), true, view.result, std::nullopt, context)};
    return space;
  }

private:
  const Pieces &view;
  llvm::SmallVector<bool> shared;

  static const Extents &steps(const Piece::Loop &loop, bool ofResult) {
    return ofResult ? loop.to : loop.from;
  }

  /// Adds the elements of a piece at the first point of the shared loops to a box.
  void extend(Region &box, const Piece &piece, bool ofResult) const {
    Extents low = ofResult ? piece.to : piece.from, high = low;
    for (auto [index, loop] : llvm::enumerate(piece.loops))
      if (index >= shared.size() || !shared[index])
        for (auto [axis, step] : llvm::enumerate(steps(loop, ofResult)))
          (step < 0 ? low : high)[axis] += step * (loop.extent - 1);
    for (const size_t axis : llvm::seq(box.start.size())) {
      low[axis] = std::min(low[axis], box.start[axis]);
      high[axis] = std::max(high[axis], box.end(axis) - 1);
    }
    box = {low, high};
    for (auto [extent, first] : llvm::zip_equal(box.extents, low))
      extent += 1 - first;
  }

  [[nodiscard]] Region resultBox() const {
    Region box;
    for (const Piece &piece : view.pieces)
      extend(box, piece, true);
    return box;
  }

  [[nodiscard]] llvm::SmallVector<Region, 1> operandBoxes() const {
    llvm::SmallVector<Region, 1> boxes(view.operands.size());
    for (const Piece &piece : view.pieces)
      extend(boxes[piece.operand], piece, false);
    return boxes;
  }

  /// Shared loops must cover the tensors without gaps or overlaps; else the regions of a point do
  /// not have the same elements. Makes a loop that does not one of the others; false if there is
  /// none.
  bool dropGap() {
    return dropGap(resultBox(), true) ||
           llvm::any_of(operandBoxes(), [&](const Region &box) { return dropGap(box, false); });
  }

  /// From the shortest step to the longest.
  bool dropGap(const Region &box, bool ofResult) {
    for (const size_t axis : llvm::seq(box.start.size())) {
      llvm::SmallVector<std::pair<int64_t, size_t>> along;
      for (auto [index, loop] : llvm::enumerate(view.pieces[0].loops))
        if (shared[index] && steps(loop, ofResult)[axis] != 0)
          along.emplace_back(std::abs(steps(loop, ofResult)[axis]), index);
      llvm::sort(along);
      int64_t covered = box.extents[axis];
      for (const auto &[step, index] : along) {
        if (step != covered) {
          shared[index] = false;
          return true;
        }
        covered *= view.pieces[0].loops[index].extent;
      }
    }
    return false;
  }

  [[nodiscard]] Projection projection(const Region &region, bool ofResult, ExtentsRef tensor,
                                      std::optional<double> outside, MLIRContext *context) const {
    llvm::SmallVector<AffineExpr> places(region.start.size(), getAffineConstantExpr(0, context));
    unsigned count = 0;
    for (auto [index, loop] : llvm::enumerate(view.pieces[0].loops)) {
      if (!shared[index])
        continue;
      const AffineExpr dim = getAffineDimExpr(count++, context);
      for (auto [place, step] : llvm::zip_equal(places, steps(loop, ofResult)))
        place = place + dim * step;
    }
    for (auto [place, first] : llvm::zip_equal(places, region.start))
      place = place + first;
    return {AffineMap::get(count, 0, places, context), region.extents, Extents(tensor), outside};
  }
};

/// The first and the last index along an axis that a piece has on one side.
std::pair<__int128, __int128> rangeOf(const Piece &piece, bool ofResult, size_t axis) {
  __int128 low = (ofResult ? piece.to : piece.from)[axis], high = low;
  for (const Piece::Loop &loop : piece.loops) {
    const __int128 reach =
        static_cast<__int128>((ofResult ? loop.to : loop.from)[axis]) * (loop.extent - 1);
    (reach < 0 ? low : high) += reach;
  }
  return {low, high};
}

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
    const addressing::Indices strides = addressing::rowMajorStrides(view.result);
    std::vector<bool> isWritten(points > size ? 0 : static_cast<size_t>(size));
    bool isTwice = points > size;
    for (const Piece &piece : view.pieces)
      if (!isTwice)
        forEachPoint(piece, [&](ExtentsRef, ExtentsRef to) {
          int64_t place = 0;
          for (auto [index, stride] : llvm::zip_equal(to, strides))
            place += index * stride;
          isTwice |= isWritten[static_cast<size_t>(place)];
          isWritten[static_cast<size_t>(place)] = true;
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

bool leaves(const Pieces &view, const Piece &piece) {
  return llvm::any_of(llvm::enumerate(view.operands[piece.operand]), [&](auto axis) {
    const auto [low, high] = rangeOf(piece, false, axis.index());
    return low < 0 || high >= axis.value();
  });
}

Piece loopsOver(ExtentsRef result, size_t operandRank) {
  Piece piece{0, Extents(operandRank, 0), Extents(result.size(), 0), {}};
  for (auto [axis, extent] : llvm::enumerate(result)) {
    piece.loops.push_back({extent, piece.from, piece.to});
    piece.loops.back().to[axis] = 1;
  }
  return piece;
}

std::vector<Piece> product(llvm::ArrayRef<Parts> factors) {
  std::vector<Piece> pieces(factors.front().begin(), factors.front().end());
  for (const Parts &parts : factors.drop_front()) {
    std::vector<Piece> more;
    for (const Piece &piece : pieces)
      for (const Piece &part : parts) {
        more.push_back(piece);
        add(more.back().from, part.from);
        add(more.back().to, part.to);
        more.back().loops.append(part.loops);
      }
    pieces = std::move(more);
  }
  return pieces;
}

Pieces reshaped(ExtentsRef from, ExtentsRef to) {
  std::vector<Parts> factors = Reshape(from, to).groups();
  factors.push_back({Piece{0, Extents(from.size(), 0), Extents(to.size(), 0), {}}});
  return {{Extents(from)}, Extents(to), product(factors), std::nullopt};
}

IndexSpace spaceOf(const Pieces &view, MLIRContext *context) {
  return SharedLoops(view).space(context);
}

std::vector<Source> sourcesOf(const Pieces &view) {
  const addressing::Indices toStrides = addressing::rowMajorStrides(view.result);
  const int64_t size = wholeOf(view.result).size();
  std::vector<Source> sources(static_cast<size_t>(size));
  for (const Piece &piece : view.pieces) {
    const ExtentsRef shape = view.operands[piece.operand];
    const addressing::Indices fromStrides = addressing::rowMajorStrides(shape);
    forEachPoint(piece, [&](ExtentsRef from, ExtentsRef to) {
      int64_t element = 0, place = 0;
      bool isInside = true;
      for (const size_t axis : llvm::seq(from.size())) {
        isInside &= from[axis] >= 0 && from[axis] < shape[axis];
        element += from[axis] * fromStrides[axis];
      }
      for (const size_t axis : llvm::seq(to.size()))
        place += to[axis] * toStrides[axis];
      if (isInside)
        sources[static_cast<size_t>(place)] = {piece.operand, element};
    });
  }
  return sources;
}

Source sourceOf(const Pieces &view, ExtentsRef index) {
  Extents from;
  for (const Piece &piece : view.pieces) {
    if (!finds(piece, index, from))
      continue;
    const ExtentsRef shape = view.operands[piece.operand];
    const addressing::Indices strides = addressing::rowMajorStrides(shape);
    int64_t element = 0;
    for (const size_t axis : llvm::seq(from.size())) {
      if (from[axis] < 0 || from[axis] >= shape[axis])
        return {};
      element += from[axis] * strides[axis];
    }
    return {piece.operand, element};
  }
  return {};
}

std::optional<Region> regionRead(const Pieces &view, const Piece &piece, const Region &needed,
                                 MLIRContext *context) {
  Extents extents;
  for (const Piece::Loop &loop : piece.loops)
    extents.push_back(loop.extent);
  return regionRead(extents, sideOf(piece, false, view.operands[piece.operand], context),
                    sideOf(piece, true, view.result, context), needed);
}

Region mostRead(const Pieces &view, const Piece &piece, const Region &needed) {
  Region read;
  const auto ranges = writing(piece, needed);
  for (auto [axis, extent] : llvm::enumerate(view.operands[piece.operand])) {
    Range index{piece.from[axis], piece.from[axis]};
    if (ranges)
      for (auto [loop, range] : llvm::zip_equal(piece.loops, *ranges))
        add(index, loop.from[axis], range);
    read.start.push_back(std::max<int64_t>(index.low, 0));
    read.extents.push_back(ranges ? std::min(index.high, extent - 1) + 1 - read.start.back() : 0);
  }
  return read;
}

Region mostRead(const IndexSpace &space, unsigned operand, const Region &needed) {
  const Projection &from = space.operands[operand], &to = space.results.front();
  Piece piece{0, {}, {}, {}};
  for (unsigned axis = 0; axis < from.rank(); ++axis)
    piece.from.push_back(from.offset(axis));
  for (unsigned axis = 0; axis < to.rank(); ++axis)
    piece.to.push_back(to.offset(axis));
  for (auto [index, loop] : llvm::enumerate(space.loops))
    piece.loops.push_back({loop.extent, delta(from, index), delta(to, index)});
  // The elements of a region are loops of their own.
  const auto addRegion = [&](const Projection &side, Extents Piece::Loop::*moved) {
    for (auto [axis, extent] : llvm::enumerate(side.region)) {
      Piece::Loop loop{extent, Extents(from.rank(), 0), Extents(to.rank(), 0)};
      (loop.*moved)[axis] = 1;
      piece.loops.push_back(std::move(loop));
    }
  };
  addRegion(from, &Piece::Loop::from);
  addRegion(to, &Piece::Loop::to);
  return mostRead({{from.tensor}, to.tensor, {}, std::nullopt}, piece, needed);
}

} // namespace sluice::space
