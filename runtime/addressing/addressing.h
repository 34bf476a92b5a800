// Where the elements of a tensor are in a linear space, and which elements are at an address.
// Views are addresses too: they say of which element of another tensor each of theirs is.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace sluice::addressing {

/// An index, extents or strides, by axis.
using Indices = std::vector<int64_t>;
using IndicesRef = std::span<const int64_t>;

/// Product of extents; 1 for rank 0.
int64_t elementsOf(IndicesRef shape);
/// Distances of neighbours in row-major order.
Indices rowMajorStrides(IndicesRef shape);
/// Distances of neighbours along each axis in rows of `lanes` elements along axis `dim`, the other
/// axes in row-major order: element i of a row is in slot row * lanes + i.
Indices rowStrides(IndicesRef shape, size_t dim, int64_t lanes);
/// Rows of such a tensor; 1 for rank 0.
int64_t rowsOf(IndicesRef shape, size_t dim, int64_t lanes);

/// A map from the elements of a tensor, by index or by position in row-major order, to addresses.
/// One element has one address; several may have the same.
class Addressing {
public:
  /// Elements in row-major order from address 0 on.
  explicit Addressing(Indices shape = {});
  /// Element i is at base + sum of i[axis] * strides[axis].
  static Addressing strided(Indices shape, IndicesRef strides, int64_t base = 0);
  /// `count` elements that go round `size` addresses.
  static Addressing ring(int64_t count, int64_t size);

  /// Views of a tensor of this shape; they are at the addresses of the elements they select.
  [[nodiscard]] Addressing permuted(IndicesRef permutation) const;
  [[nodiscard]] Addressing reversed(IndicesRef axes) const;
  /// Element i along an axis is element starts + i * steps. Steps may be negative.
  [[nodiscard]] Addressing sliced(IndicesRef starts, IndicesRef sizes, IndicesRef steps) const;
  /// Axes of extent 1 are repeated.
  [[nodiscard]] Addressing broadcast(IndicesRef shape) const;
  /// Element i along the axis is element (i + by) mod extent; `by` may be negative.
  [[nodiscard]] Addressing rotated(size_t axis, int64_t by) const;
  /// The axis `times` times, one behind the other.
  [[nodiscard]] Addressing tiled(size_t axis, int64_t times) const;
  [[nodiscard]] Addressing reshaped(Indices shape) const;

  /// The composition: what this calls an address is a row-major position of `next`. One map of
  /// strides if there is one, else the two after each other.
  [[nodiscard]] Addressing then(const Addressing &next) const;

  [[nodiscard]] const Indices &shape() const { return extents; }
  [[nodiscard]] int64_t elements() const { return count; }
  /// Whether addresses are a sum over axes, so that no more than divisions by their extents is
  /// needed.
  [[nodiscard]] bool isOneMap() const { return maps.size() == 1; }

  /// The address of an element, by its row-major position.
  [[nodiscard]] int64_t at(int64_t position) const {
    for (const Map &map : maps)
      position = map.at(position);
    return position;
  }
  [[nodiscard]] int64_t at(IndicesRef index) const { return at(positionOf(index)); }

  /// The inverse: the positions of all elements at an address, ascending.
  [[nodiscard]] std::vector<int64_t> positionsAt(int64_t address) const;
  /// The first of them; nothing if no element is there.
  [[nodiscard]] std::optional<int64_t> positionAt(int64_t address) const;

  [[nodiscard]] int64_t positionOf(IndicesRef index) const;
  [[nodiscard]] Indices indexOf(int64_t position) const;

  /// Calls visit(position, address) for every element in row-major order.
  template <typename Visit> void forEach(Visit visit) const {
    const int64_t run = maps.size() == 1 ? maps[0].run() : 1, step = maps[0].runStep();
    for (int64_t first = 0; first < count; first += run) {
      int64_t address = at(first);
      for (int64_t i = 0; i < run; ++i, address += step)
        visit(first + i, address);
    }
  }

private:
  /// Positions along an axis: number i of `count` is element (i + offset) mod extent, `stride`
  /// from the next one. With offset 0 and extent = count nothing goes round.
  struct Axis {
    int64_t count = 1;
    int64_t extent = 1;
    int64_t stride = 0;
    int64_t offset = 0;

    [[nodiscard]] bool goesRound() const { return extent != count || offset != 0; }
    [[nodiscard]] int64_t element(int64_t i) const {
      return goesRound() ? (i + offset) % extent : i;
    }
  };

  /// One sum over axes. They need not be those of the shape: neighbours that are one run of
  /// addresses are one axis, and only the positions they stand for are the same.
  struct Map {
    std::vector<Axis> axes;
    int64_t base = 0;
    bool nested = false; ///< dividing by the strides finds the only position at an address

    struct Digit {
      int64_t stride = 0, count = 1;
      int64_t weight = 1; ///< positions from one element along the axis to the next
    };
    std::vector<Digit> digits = {}; ///< of the axes, by descending stride

    [[nodiscard]] int64_t at(int64_t position) const {
      int64_t address = base;
      for (size_t axis = axes.size(); axis-- > 0;) {
        const int64_t rest = axis == 0 ? 0 : position / axes[axis].count;
        address += axes[axis].element(position - rest * axes[axis].count) * axes[axis].stride;
        position = rest;
      }
      return address;
    }
    /// Elements from each multiple of it on whose addresses are `runStep` apart.
    [[nodiscard]] int64_t run() const {
      return axes.empty() || axes.back().goesRound() ? 1 : axes.back().count;
    }
    [[nodiscard]] int64_t runStep() const { return axes.empty() ? 0 : axes.back().stride; }

    void tidy();
    void find(int64_t rest, std::span<const size_t> order, std::vector<int64_t> &elements,
              std::vector<int64_t> &found) const;
    void addPositions(const std::vector<int64_t> &elements, std::vector<int64_t> &found) const;
    [[nodiscard]] std::vector<int64_t> positionsAt(int64_t address) const;
    [[nodiscard]] std::optional<int64_t> onlyAt(int64_t address) const;
  };

  static std::optional<Map> fused(const Map &first, const Map &second);
  Addressing selecting(Indices shape, std::vector<Axis> axes, int64_t base) const;

  Indices extents;
  int64_t count = 1;
  std::vector<Map> maps; ///< one after the other; at least one
};

} // namespace sluice::addressing
