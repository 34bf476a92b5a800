#include "runtime/addressing/addressing.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <numeric>

namespace sluice::addressing {
namespace {

/// Of a positive b.
int64_t floorDivide(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

/// The representative of a in 0..b-1.
int64_t modulo(int64_t a, int64_t b) { return (a % b + b) % b; }

} // namespace

int64_t elementsOf(IndicesRef shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

Indices rowMajorStrides(IndicesRef shape) {
  Indices strides(shape.size(), 1);
  for (size_t axis = shape.size(); axis-- > 1;)
    strides[axis - 1] = strides[axis] * shape[axis];
  return strides;
}

Indices rowMajorIndex(int64_t position, IndicesRef shape) {
  Indices index(shape.size());
  for (size_t axis = shape.size(); axis-- > 0; position /= shape[axis])
    index[axis] = position % shape[axis];
  return index;
}

Indices rowStrides(IndicesRef shape, size_t dim, int64_t lanes) {
  Indices strides(shape.size(), 1);
  if (shape.empty())
    return strides;
  int64_t distance = (shape[dim] + lanes - 1) / lanes * lanes;
  for (size_t axis = shape.size(); axis-- > 0;)
    if (axis != dim) {
      strides[axis] = distance;
      distance *= shape[axis];
    }
  return strides;
}

int64_t rowsOf(IndicesRef shape, size_t dim, int64_t lanes) {
  return shape.empty() ? 1 : elementsOf(shape) / shape[dim] * ((shape[dim] + lanes - 1) / lanes);
}

/// Leaves out axes without a choice, joins neighbours that are one run, and finds out whether
/// addresses can be taken apart by dividing.
void Addressing::Map::tidy() {
  std::vector<Axis> joined;
  for (Axis axis : axes) {
    if (axis.count == 1) {
      base += axis.element(0) * axis.stride;
      continue;
    }
    if (axis.goesRound() && axis.offset + axis.count <= axis.extent) { // not as far as its end
      base += axis.offset * axis.stride;
      axis = {axis.count, axis.count, axis.stride};
    }
    if (axis.extent == 1)
      axis = {axis.count, axis.count, 0};
    if (!joined.empty() && !joined.back().goesRound() && !axis.goesRound() &&
        joined.back().stride == axis.stride * axis.count) {
      const int64_t both = joined.back().count * axis.count;
      joined.back() = {both, both, axis.stride};
    } else {
      joined.push_back(axis);
    }
  }
  axes = std::move(joined);
  digits.clear();
  int64_t weight = 1;
  for (size_t axis = axes.size(); axis-- > 0; weight *= axes[axis].count)
    digits.push_back({axes[axis].stride, axes[axis].count, weight});
  std::ranges::sort(digits, {}, &Digit::stride);
  int64_t reach = 0;
  nested = std::ranges::none_of(axes, &Axis::goesRound);
  for (const Digit &digit : digits) {
    nested &= digit.stride > reach;
    reach += digit.stride * (digit.count - 1);
  }
  std::ranges::reverse(digits);
}

Addressing::Addressing(Indices shape)
    : extents(std::move(shape)), count(elementsOf(extents)), maps(1) {
  maps[0].axes = {{count, count, 1}};
  maps[0].tidy();
}

/// A tensor of this shape whose axes are at those of a map onto positions of this one.
Addressing Addressing::selecting(Indices shape, std::vector<Axis> axes, int64_t base) const {
  Addressing view(std::move(shape));
  view.maps[0] = {std::move(axes), base};
  view.maps[0].tidy();
  return view.then(*this);
}

Addressing Addressing::strided(Indices shape, IndicesRef strides, int64_t base) {
  std::vector<Axis> axes;
  for (size_t axis = 0; axis < shape.size(); ++axis)
    axes.push_back({shape[axis], shape[axis], strides[axis]});
  Addressing result(std::move(shape));
  result.maps[0] = {std::move(axes), base};
  result.maps[0].tidy();
  return result;
}

Addressing Addressing::ring(int64_t count, int64_t size) {
  Addressing result({count});
  result.maps[0] = {{{count, size, 1}}, 0};
  result.maps[0].tidy();
  return result;
}

Addressing Addressing::permuted(IndicesRef permutation) const {
  const Indices strides = rowMajorStrides(extents);
  Indices shape, moved;
  for (const int64_t axis : permutation) {
    shape.push_back(extents[static_cast<size_t>(axis)]);
    moved.push_back(strides[static_cast<size_t>(axis)]);
  }
  return strided(std::move(shape), moved).then(*this);
}

Addressing Addressing::reversed(IndicesRef axes) const {
  Indices strides = rowMajorStrides(extents);
  int64_t base = 0;
  for (const int64_t axis : axes) {
    int64_t &stride = strides[static_cast<size_t>(axis)];
    base += (extents[static_cast<size_t>(axis)] - 1) * stride;
    stride = -stride;
  }
  return strided(extents, strides, base).then(*this);
}

Addressing Addressing::sliced(IndicesRef starts, IndicesRef sizes, IndicesRef steps) const {
  Indices strides = rowMajorStrides(extents);
  int64_t base = 0;
  for (size_t axis = 0; axis < extents.size(); ++axis) {
    base += starts[axis] * strides[axis];
    strides[axis] *= steps[axis];
  }
  return strided({sizes.begin(), sizes.end()}, strides, base).then(*this);
}

Addressing Addressing::broadcast(IndicesRef shape) const {
  Indices strides = rowMajorStrides(extents);
  for (size_t axis = 0; axis < extents.size(); ++axis)
    if (extents[axis] == 1)
      strides[axis] = 0;
  return strided({shape.begin(), shape.end()}, strides).then(*this);
}

Addressing Addressing::rotated(size_t axis, int64_t by) const {
  const Indices strides = rowMajorStrides(extents);
  std::vector<Axis> axes;
  for (size_t i = 0; i < extents.size(); ++i)
    axes.push_back({extents[i], extents[i], strides[i], i == axis ? modulo(by, extents[i]) : 0});
  return selecting(extents, std::move(axes), 0);
}

Addressing Addressing::tiled(size_t axis, int64_t times) const {
  const Indices strides = rowMajorStrides(extents);
  Indices shape = extents;
  shape[axis] *= times;
  std::vector<Axis> axes;
  for (size_t i = 0; i < extents.size(); ++i)
    axes.push_back({shape[i], extents[i], strides[i]});
  return selecting(std::move(shape), std::move(axes), 0);
}

Addressing Addressing::reshaped(Indices shape) const {
  return Addressing(std::move(shape)).then(*this);
}

/// One map that does what two do, if each axis of the first moves along one axis of the second, or
/// can be divided into some that do.
std::optional<Addressing::Map> Addressing::fused(const Map &first, const Map &second) {
  const size_t rank = second.axes.size();
  std::vector<int64_t> weights(rank, 1), digits(rank), low, high;
  for (size_t k = rank; k-- > 1;)
    weights[k - 1] = weights[k] * second.axes[k].count;
  int64_t rest = first.base;
  for (size_t k = 0; k < rank; ++k) {
    digits[k] = rest / weights[k];
    rest %= weights[k];
  }
  low = high = digits;

  struct Moved {
    Axis axis;
    std::optional<size_t> along; ///< which axis of the second; nothing: it stands
    int64_t step = 0;            ///< by how many elements of that
  };
  std::vector<Moved> moved;
  std::vector<Axis> open(first.axes.rbegin(), first.axes.rend());
  while (!open.empty()) {
    const Axis axis = open.back();
    open.pop_back();
    if (axis.stride == 0) {
      moved.push_back({axis, std::nullopt});
      continue;
    }
    size_t k = 0;
    while (k < rank && axis.stride % weights[k] != 0)
      ++k;
    if (k == rank)
      return std::nullopt;
    const int64_t step = axis.stride / weights[k], way = step * (axis.extent - 1);
    const int64_t limit = second.axes[k].count;
    if (low[k] + std::min<int64_t>(way, 0) >= 0 && high[k] + std::max<int64_t>(way, 0) < limit) {
      (way < 0 ? low : high)[k] += way;
      moved.push_back({axis, k, step});
      continue;
    }
    // As far as the axis goes, and what is left along those outside of it.
    const int64_t part = limit / std::abs(step);
    const bool atStart = step > 0 ? high[k] < step : low[k] >= limit + step;
    if (axis.goesRound() || low[k] != high[k] || !atStart || part < 2 ||
        limit % std::abs(step) != 0 || axis.count % part != 0 || axis.count == part)
      return std::nullopt;
    open.push_back({part, part, axis.stride});
    open.push_back({axis.count / part, axis.count / part, axis.stride * part});
  }

  Map result;
  result.base = second.base;
  std::vector<bool> round(rank);
  for (size_t k = 0; k < rank; ++k) {
    const Axis &axis = second.axes[k];
    round[k] = (low[k] + axis.offset) / axis.extent != (high[k] + axis.offset) / axis.extent;
    if (!round[k])
      result.base += axis.element(digits[k]) * axis.stride;
    else if (std::ranges::count_if(moved, [&](const Moved &one) { return one.along == k; }) != 1)
      return std::nullopt;
  }
  for (const Moved &one : moved) {
    Axis axis = one.axis;
    if (one.along) {
      const size_t k = *one.along;
      const Axis &under = second.axes[k];
      if (round[k] && (one.step != 1 || axis.goesRound()))
        return std::nullopt;
      if (round[k])
        axis = {axis.count, under.extent, under.stride, under.element(digits[k])};
      else
        axis.stride = one.step * under.stride;
    }
    result.axes.push_back(axis);
  }
  result.tidy();
  return result;
}

Addressing Addressing::then(const Addressing &next) const {
  Addressing result = *this;
  for (const Map &map : next.maps) {
    if (auto one = fused(result.maps.back(), map))
      result.maps.back() = std::move(*one);
    else
      result.maps.push_back(map);
  }
  return result;
}

/// The position at an address of a nested map.
std::optional<int64_t> Addressing::Map::onlyAt(int64_t address) const {
  // Each axis takes what those of smaller strides cannot reach.
  int64_t rest = address - base, position = 0;
  for (const Digit &digit : digits) {
    const int64_t element = rest / digit.stride;
    if (rest < 0 || element >= digit.count)
      return std::nullopt;
    position += element * digit.weight;
    rest -= element * digit.stride;
  }
  return rest == 0 ? std::optional(position) : std::nullopt;
}

/// All choices of elements along the axes of `order` that together are `rest` away.
void Addressing::Map::find(int64_t rest, std::span<const size_t> order,
                           std::vector<int64_t> &elements, std::vector<int64_t> &found) const {
  if (order.empty()) {
    if (rest == 0)
      addPositions(elements, found);
    return;
  }
  // How far the axes behind this one reach.
  int64_t low = 0, high = 0;
  for (const size_t axis : order.subspan(1)) {
    const int64_t way = axes[axis].stride * (axes[axis].extent - 1);
    (way < 0 ? low : high) += way;
  }
  const Axis &axis = axes[order.front()];
  int64_t first = 0, last = 0;
  if (axis.stride != 0) {
    const int64_t a = axis.stride > 0 ? rest - high : low - rest,
                  b = axis.stride > 0 ? rest - low : high - rest, s = std::abs(axis.stride);
    first = std::max<int64_t>(0, -floorDivide(-a, s));
    last = std::min(axis.extent - 1, floorDivide(b, s));
  }
  for (int64_t element = first; element <= last; ++element) {
    elements[order.front()] = element;
    find(rest - element * axis.stride, order.subspan(1), elements, found);
  }
}

/// The positions of elements, one along each axis.
void Addressing::Map::addPositions(const std::vector<int64_t> &elements,
                                   std::vector<int64_t> &found) const {
  std::vector<int64_t> positions{0};
  for (size_t k = 0; k < axes.size(); ++k) {
    const Axis &axis = axes[k];
    const int64_t first = axis.stride == 0 ? 0 : modulo(elements[k] - axis.offset, axis.extent),
                  step = axis.stride == 0 ? 1 : axis.extent;
    std::vector<int64_t> more;
    for (const int64_t position : positions)
      for (int64_t i = first; i < axis.count; i += step)
        more.push_back(position * axis.count + i);
    positions = std::move(more);
  }
  found.insert(found.end(), positions.begin(), positions.end());
}

std::vector<int64_t> Addressing::Map::positionsAt(int64_t address) const {
  std::vector<size_t> order(axes.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, std::greater<>(), [&](size_t k) { return std::abs(axes[k].stride); });
  std::vector<int64_t> elements(axes.size()), found;
  find(address - base, order, elements, found);
  return found;
}

std::vector<int64_t> Addressing::positionsAt(int64_t address) const {
  std::vector<int64_t> found{address};
  for (size_t map = maps.size(); map-- > 0;) {
    std::vector<int64_t> before;
    for (const int64_t one : found) {
      const std::vector<int64_t> positions = maps[map].positionsAt(one);
      before.insert(before.end(), positions.begin(), positions.end());
    }
    found = std::move(before);
  }
  std::ranges::sort(found);
  return found;
}

std::optional<int64_t> Addressing::positionAt(int64_t address) const {
  if (maps.size() == 1 && maps[0].nested)
    return maps[0].onlyAt(address);
  const std::vector<int64_t> found = positionsAt(address);
  return found.empty() ? std::nullopt : std::optional(found.front());
}

} // namespace sluice::addressing
