// The pieces of a reshape.
#include "compiler/index_space/points.h"

#include <numeric>

#include "llvm/ADT/STLExtras.h"

namespace sluice::space {
namespace {

/// How some axes of both sides belong together, apart from all other axes.
using Parts = std::vector<Piece>;

/// Returns the pieces that consist of one part of every factor: the loops of all, and the sum of
/// their indices.
Parts product(llvm::ArrayRef<Parts> factors) {
  Parts pieces = factors.front();
  for (const Parts &parts : factors.drop_front()) {
    Parts more;
    for (const Piece &piece : pieces)
      for (const Piece &part : parts) {
        more.push_back(piece);
        space::add(more.back().from, part.from);
        space::add(more.back().to, part.to);
        more.back().loops.append(part.loops);
      }
    pieces = std::move(more);
  }
  return pieces;
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

} // namespace

Pieces reshaped(ExtentsRef from, ExtentsRef to) {
  std::vector<Parts> factors = Reshape(from, to).groups();
  factors.push_back({Piece{0, Extents(from.size(), 0), Extents(to.size(), 0), {}}});
  return {{Extents(from)}, Extents(to), product(factors), std::nullopt};
}

} // namespace sluice::space
