// Maps between the elements of a tensor and linear addresses, in both directions. A view is such a
// map too: the address of an element is its position in the viewed tensor.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace sluice::addressing {

/// An index, extents or strides, by axis.
using Indices = std::vector<int64_t>;
using IndicesRef = std::span<const int64_t>;

/// Returns the product of the extents; 1 for rank 0.
int64_t elementsOf(IndicesRef shape);
/// Returns the strides of a tensor in row-major order.
Indices rowMajorStrides(IndicesRef shape);
/// Returns the position of an element in row-major order.
inline int64_t rowMajorPosition(IndicesRef index, IndicesRef shape) {
  int64_t position = 0;
  for (size_t axis = 0; axis < shape.size(); ++axis)
    position = position * shape[axis] + index[axis];
  return position;
}
/// Returns the index of the element at a position in row-major order.
Indices rowMajorIndex(int64_t position, IndicesRef shape);
/// Returns the strides of a tensor in rows of `lanes` elements along axis `dim`. The other axes are
/// in row-major order. Element i of a row has the address row * lanes + i.
Indices rowStrides(IndicesRef shape, size_t dim, int64_t lanes);
/// Returns the number of rows of a tensor in rows along axis `dim`; 1 for rank 0.
int64_t rowsOf(IndicesRef shape, size_t dim, int64_t lanes);

/// A map from the elements of a tensor to addresses. An element is given by its index or by its
/// position in row-major order. Several elements may have the same address.
class Addressing {
public:
  /// Maps elements in row-major order to the addresses from 0 on.
  explicit Addressing(Indices shape = {});
  /// Maps element i to base + sum of i[axis] * strides[axis].
  static Addressing strided(Indices shape, IndicesRef strides, int64_t base = 0);
  /// Maps element i of `count` to the address i mod size.
  static Addressing ring(int64_t count, int64_t size);

  // Views of a tensor of this shape. Each element of a view has the address of the selected
  // element.

  /// Axis i of the view is axis permutation[i].
  [[nodiscard]] Addressing permuted(IndicesRef permutation) const;
  [[nodiscard]] Addressing reversed(IndicesRef axes) const;
  /// Along each axis, element i of the view is element starts + i * steps. Steps may be negative.
  [[nodiscard]] Addressing sliced(IndicesRef starts, IndicesRef sizes, IndicesRef steps) const;
  /// Repeats axes of extent 1.
  [[nodiscard]] Addressing broadcast(IndicesRef shape) const;
  /// Along the axis, element i of the view is element (i + by) mod extent; `by` may be negative.
  [[nodiscard]] Addressing rotated(size_t axis, int64_t by) const;
  /// Repeats the tensor `times` times along the axis.
  [[nodiscard]] Addressing tiled(size_t axis, int64_t times) const;
  [[nodiscard]] Addressing reshaped(Indices shape) const;

  /// Returns the composition: the addresses of this map are row-major positions of `next`. The
  /// result has a single map of strides if one can express it.
  [[nodiscard]] Addressing then(const Addressing &next) const;

  [[nodiscard]] const Indices &shape() const { return extents; }
  [[nodiscard]] int64_t elements() const { return count; }
  /// Whether a single map of strides gives the addresses.
  [[nodiscard]] bool isOneMap() const { return maps.size() == 1; }

  /// Returns the address of the element at a row-major position.
  [[nodiscard]] int64_t at(int64_t position) const {
    for (const Map &map : maps)
      position = map.at(position);
    return position;
  }
  [[nodiscard]] int64_t at(IndicesRef index) const { return at(positionOf(index)); }

  /// Returns the positions of all elements at an address, ascending: the inverse of `at`.
  [[nodiscard]] std::vector<int64_t> positionsAt(int64_t address) const;
  /// Returns the first position of positionsAt; nothing if no element has this address.
  [[nodiscard]] std::optional<int64_t> positionAt(int64_t address) const;

  [[nodiscard]] int64_t positionOf(IndicesRef index) const {
    return rowMajorPosition(index, extents);
  }
  [[nodiscard]] Indices indexOf(int64_t position) const { return rowMajorIndex(position, extents); }

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
  /// An axis of a map with `count` positions. Position i is element (i + offset) mod extent, at the
  /// address (element * stride). With offset 0 and extent = count, positions do not wrap.
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

  /// A sum over axes. These may differ from the axes of the shape: adjacent axes with consecutive
  /// addresses are merged. The positions stay the same.
  struct Map {
    std::vector<Axis> axes;
    int64_t base = 0;
    bool nested = false; ///< each address has one position, which division by the strides finds

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
    /// Returns the length of runs: beginning at each multiple of it, this many elements have
    /// addresses at a distance of runStep().
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
