#include "compiler/reference/ops.h"

#include <algorithm>
#include <array>
#include <optional>

#include "runtime/addressing/addressing.h"

namespace sluice::reference {
namespace {

using addressing::Addressing;

/// Calls visit(index) for every index of a box, last axis fastest.
template <typename Visit> void forEach(const Shape &extents, Visit visit) {
  if (elements(extents) == 0)
    return;
  Shape index(extents.size(), 0);
  while (true) {
    visit(index);
    size_t axis = extents.size();
    while (axis > 0 && ++index[axis - 1] == extents[axis - 1])
      index[--axis] = 0;
    if (axis == 0)
      return;
  }
}

int64_t offsetOf(const Shape &index, const Shape &stride) {
  return std::inner_product(index.begin(), index.end(), stride.begin(), int64_t{0});
}

/// `to` += `left` * `right` for every step of a loop, with these distances of neighbours.
void accumulateRun(const double *left, int64_t l, const double *right, int64_t r, double *to,
                   int64_t o, int64_t count) {
  if (o == 0) {
    double sum = *to;
    for (int64_t i = 0; i < count; ++i)
      sum += left[i * l] * right[i * r];
    *to = sum;
  } else if (l == 0 && r == 1 && o == 1) {
    const double factor = *left;
    for (int64_t i = 0; i < count; ++i)
      to[i] += factor * right[i];
  } else if (r == 0 && l == 1 && o == 1) {
    const double factor = *right;
    for (int64_t i = 0; i < count; ++i)
      to[i] += left[i] * factor;
  } else if (r == 0 && o == 1) { // of windows
    const double factor = *right;
    for (int64_t i = 0; i < count; ++i)
      to[i] += left[i * l] * factor;
  } else {
    for (int64_t i = 0; i < count; ++i)
      to[i * o] += left[i * l] * right[i * r];
  }
}

/// Sums the products of several runs, four sums at a time: one waits for each of its own additions.
void accumulateSums(const double *left, int64_t l, int64_t nextLeft, const double *right, int64_t r,
                    int64_t nextRight, double *to, int64_t nextTo, int64_t count, int64_t runs) {
  constexpr int64_t kTogether = 4;
  int64_t run = 0;
  for (; run + kTogether <= runs; run += kTogether) {
    std::array<double, kTogether> sums{};
    for (int64_t k = 0; k < kTogether; ++k)
      sums[k] = to[k * nextTo];
    for (int64_t i = 0; i < count; ++i)
      for (int64_t k = 0; k < kTogether; ++k)
        sums[k] += left[k * nextLeft + i * l] * right[k * nextRight + i * r];
    for (int64_t k = 0; k < kTogether; ++k)
      to[k * nextTo] = sums[k];
    left += kTogether * nextLeft;
    right += kTogether * nextRight;
    to += kTogether * nextTo;
  }
  for (; run < runs; ++run, left += nextLeft, right += nextRight, to += nextTo)
    accumulateRun(left, l, right, r, to, 0, count);
}

/// The loops of a sum of products, with the distances of neighbours along each loop.
struct Nest {
  Shape extents, left, right, to;

  void erase(size_t loop) {
    for (Shape *of : {&extents, &left, &right, &to})
      of->erase(of->begin() + static_cast<std::ptrdiff_t>(loop));
  }
  void moveInnermost(size_t loop) {
    for (Shape *of : {&extents, &left, &right, &to}) {
      const auto at = of->begin() + static_cast<std::ptrdiff_t>(loop);
      std::rotate(at, at + 1, of->end());
    }
  }
};

/// How many products read each element of an operand with these distances.
int64_t readsOf(const Shape &distances, const Shape &extents) {
  int64_t reads = 1;
  for (size_t loop = 0; loop < extents.size(); ++loop)
    reads *= distances[loop] == 0 ? extents[loop] : 1;
  return reads;
}

/// A copy of an operand pays where so many products read each of its elements.
constexpr int64_t kReadsToCopy = 8;

/// Copies an operand so that neighbours along the innermost loop are neighbours in memory, where
/// this pays. `distances` become those of the copy.
const double *packed(const double *operand, Shape &distances, const Shape &extents,
                     std::vector<double> &copy) {
  if (distances.back() <= 1 || readsOf(distances, extents) < kReadsToCopy)
    return operand;
  Shape own, from;
  for (size_t loop = 0; loop < extents.size(); ++loop)
    if (distances[loop] != 0) {
      own.push_back(extents[loop]);
      from.push_back(distances[loop]);
    }
  copy.resize(static_cast<size_t>(elements(own)));
  double *to = copy.data();
  const int64_t count = own.back(), apart = from.back();
  own.back() = 1;
  forEach(own, [&](const Shape &index) {
    const double *const row = operand + offsetOf(index, from);
    for (int64_t i = 0; i < count; ++i)
      *to++ = row[i * apart];
  });
  int64_t distance = 1;
  for (size_t loop = extents.size(); loop-- > 0;)
    if (distances[loop] != 0) {
      distances[loop] = distance;
      distance *= extents[loop];
    }
  return copy.data();
}

/// Sums products over loops. The order of the loops that are summed over is kept, so each sum is in
/// ascending order. The innermost loop is one whose elements are neighbours in the result and share
/// a factor, if there is one.
void accumulate(const double *left, const double *right, double *to, Nest nest) {
  if (elements(nest.extents) == 0)
    return;
  for (size_t loop = nest.extents.size(); loop-- > 0;)
    if (nest.extents[loop] == 1)
      nest.erase(loop);
  if (nest.extents.empty()) {
    *to += *left * *right;
    return;
  }
  // Neighbours in the result that read neighbours of one operand, or of a copy of it; elements
  // further apart only where the innermost loop is short.
  constexpr int64_t kShort = 16;
  const bool isShort = nest.extents.back() < kShort;
  std::optional<size_t> run;
  for (size_t loop = 0; loop < nest.extents.size(); ++loop) {
    const bool isFactor = nest.left[loop] == 0 || nest.right[loop] == 0;
    const bool isUnit = nest.left[loop] + nest.right[loop] == 1;
    const auto reads = [&] {
      return readsOf(nest.left[loop] == 0 ? nest.right : nest.left, nest.extents);
    };
    if (nest.to[loop] == 1 && isFactor &&
        (isUnit || (!run && (isShort || reads() >= kReadsToCopy))))
      run = loop;
  }
  std::vector<double> lefts, rights;
  if (run) {
    nest.moveInnermost(*run);
    left = packed(left, nest.left, nest.extents, lefts);
    right = packed(right, nest.right, nest.extents, rights);
  }
  // Sums along the innermost loop: those of another loop are computed together.
  const size_t inner = nest.extents.size() - 1;
  std::optional<size_t> together;
  for (size_t loop = 0; loop < inner && nest.to[inner] == 0; ++loop)
    if (nest.to[loop] != 0)
      together = loop;
  if (together) {
    nest.moveInnermost(*together);
    nest.moveInnermost(inner - 1);
  }
  const size_t outer = together ? inner - 1 : inner;
  Shape index(outer, 0);
  while (true) {
    if (together)
      accumulateSums(left, nest.left[inner], nest.left[outer], right, nest.right[inner],
                     nest.right[outer], to, nest.to[outer], nest.extents[inner],
                     nest.extents[outer]);
    else
      accumulateRun(left, nest.left[inner], right, nest.right[inner], to, nest.to[inner],
                    nest.extents[inner]);
    size_t loop = outer;
    for (; loop > 0 && ++index[loop - 1] == nest.extents[loop - 1]; --loop) {
      const int64_t back = nest.extents[loop - 1] - 1;
      index[loop - 1] = 0;
      left -= back * nest.left[loop - 1];
      right -= back * nest.right[loop - 1];
      to -= back * nest.to[loop - 1];
    }
    if (loop == 0)
      return;
    left += nest.left[loop - 1];
    right += nest.right[loop - 1];
    to += nest.to[loop - 1];
  }
}

/// The elements that a view of the input selects.
Tensor read(const Tensor &input, const Addressing &view) {
  Tensor result(view.shape());
  view.forEach(
      [&](int64_t position, int64_t address) { result.values[position] = input.values[address]; });
  return result;
}

/// Writes all elements of the input to a block of the result that begins there.
void write(const Tensor &input, const Shape &begin, Tensor &result) {
  const Shape steps(begin.size(), 1);
  Addressing(result.shape)
      .sliced(begin, input.shape, steps)
      .forEach([&](int64_t position, int64_t address) {
        result.values[address] = input.values[position];
      });
}

} // namespace

Tensor map(const std::vector<const Tensor *> &operands, const ScalarFunction &function) {
  Tensor result(operands.front()->shape);
  std::vector<double> arguments(operands.size());
  for (size_t i = 0; i < result.values.size(); ++i) {
    std::transform(operands.begin(), operands.end(), arguments.begin(),
                   [&](const Tensor *operand) { return operand->values[i]; });
    result.values[i] = function(arguments);
  }
  return result;
}

Tensor reduce(const Tensor &input, Monoid monoid, const Shape &axes, bool keepdims) {
  Shape kept = input.shape;
  for (int64_t axis : axes)
    kept[axis] = 1;
  Shape stride = strides(kept);
  for (int64_t axis : axes)
    stride[axis] = 0;

  const MonoidDefinition &rules = definition(monoid);
  std::vector<Partial> partials(elements(kept), rules.zero);
  auto element = input.values.begin();
  Shape rows = input.shape;
  const int64_t count = rows.empty() ? 1 : rows.back(), step = rows.empty() ? 0 : stride.back();
  if (!rows.empty())
    rows.back() = std::min<int64_t>(count, 1);
  forEach(rows, [&](const Shape &index) {
    Partial *partial = &partials[offsetOf(index, stride)];
    for (int64_t i = 0; i < count; ++i, partial += step)
      *partial = rules.merge(*partial, rules.wrap(*element++, partial->count));
  });
  Tensor result(kept);
  std::transform(partials.begin(), partials.end(), result.values.begin(), rules.unwrap);
  if (!keepdims) {
    Shape squeezed;
    for (int64_t axis = 0; axis < input.rank(); ++axis)
      if (std::find(axes.begin(), axes.end(), axis) == axes.end())
        squeezed.push_back(kept[axis]);
    result.shape = squeezed;
  }
  return result;
}

Tensor contract(const Tensor &lhs, const Shape &lhsMap, const Tensor &rhs, const Shape &rhsMap,
                const Shape &resultMap, const Shape &extents) {
  // Stride of every loop in a tensor: the stride of the axis it indexes, else 0.
  auto loopStrides = [&](const Shape &shape, const Shape &map) {
    const Shape stride = strides(shape);
    Shape result(extents.size(), 0);
    for (size_t axis = 0; axis < map.size(); ++axis)
      if (map[axis] >= 0 && shape[axis] != 1)
        result[map[axis]] += stride[axis];
    return result;
  };
  Shape shape;
  for (int64_t loop : resultMap)
    shape.push_back(extents[loop]);
  Tensor result(shape);
  accumulate(lhs.values.data(), rhs.values.data(), result.values.data(),
             {extents, loopStrides(lhs.shape, lhsMap), loopStrides(rhs.shape, rhsMap),
              loopStrides(shape, resultMap)});
  return result;
}

Tensor matmul(const Tensor &lhs, const Tensor &rhs) {
  const int64_t lhsBatch = std::max<int64_t>(lhs.rank() - 2, 0);
  const int64_t rhsBatch = std::max<int64_t>(rhs.rank() - 2, 0);
  const int64_t batch = std::max(lhsBatch, rhsBatch);
  // Loops: the batch axes, then row, column, contracted.
  const int64_t row = batch, column = batch + 1, inner = batch + 2;
  Shape extents(batch + 3, 1);
  extents[inner] = lhs.shape.back();
  Shape lhsMap, rhsMap, resultMap;
  for (int64_t axis = 0; axis < batch; ++axis)
    resultMap.push_back(axis);
  auto batchAxes = [&](const Tensor &operand, int64_t own, Shape &map) {
    for (int64_t axis = 0; axis < own; ++axis) {
      map.push_back(batch - own + axis);
      extents[map.back()] = std::max(extents[map.back()], operand.shape[axis]);
    }
  };
  batchAxes(lhs, lhsBatch, lhsMap);
  batchAxes(rhs, rhsBatch, rhsMap);
  if (lhs.rank() > 1) {
    lhsMap.push_back(row);
    resultMap.push_back(row);
    extents[row] = lhs.shape[lhs.rank() - 2];
  }
  lhsMap.push_back(inner);
  rhsMap.push_back(inner);
  if (rhs.rank() > 1) {
    rhsMap.push_back(column);
    resultMap.push_back(column);
    extents[column] = rhs.shape.back();
  }
  return contract(lhs, lhsMap, rhs, rhsMap, resultMap, extents);
}

Tensor transpose(const Tensor &input, const Shape &permutation) {
  return read(input, Addressing(input.shape).permuted(permutation));
}

Tensor slice(const Tensor &input, const Shape &starts, const Shape &sizes, const Shape &steps) {
  return read(input, Addressing(input.shape).sliced(starts, sizes, steps));
}

Tensor reshape(const Tensor &input, const Shape &shape) { return {shape, input.values}; }

Tensor broadcast(const Tensor &input, const Shape &shape) {
  return read(input, Addressing(input.shape).broadcast(shape));
}

Tensor concat(const std::vector<const Tensor *> &inputs, int64_t axis) {
  Shape shape = inputs.front()->shape, begin(shape.size(), 0);
  shape[axis] = 0;
  for (const Tensor *input : inputs)
    shape[axis] += input->shape[axis];
  Tensor result(shape);
  for (const Tensor *input : inputs) {
    write(*input, begin, result);
    begin[axis] += input->shape[axis];
  }
  return result;
}

Tensor tile(const Tensor &input, const Shape &counts) {
  Addressing view(input.shape);
  for (size_t axis = 0; axis < counts.size(); ++axis)
    view = view.tiled(axis, counts[axis]);
  return read(input, view);
}

Tensor repeat(const Tensor &input, const Shape &counts) {
  // Copies are an axis of their own behind the one they are of.
  Shape apart, wide, result;
  for (size_t axis = 0; axis < counts.size(); ++axis) {
    apart.insert(apart.end(), {input.shape[axis], 1});
    wide.insert(wide.end(), {input.shape[axis], counts[axis]});
    result.push_back(input.shape[axis] * counts[axis]);
  }
  return read(input, Addressing(apart).broadcast(wide).reshaped(result));
}

Tensor interleave(const std::vector<const Tensor *> &inputs, int64_t axis) {
  const Shape &shape = inputs.front()->shape;
  Shape all = shape, begin(shape.size(), 0), steps(shape.size(), 1);
  steps[axis] = static_cast<int64_t>(inputs.size());
  all[axis] *= steps[axis];
  Tensor result(all);
  for (const Tensor *input : inputs) {
    Addressing(all).sliced(begin, shape, steps).forEach([&](int64_t position, int64_t address) {
      result.values[address] = input->values[position];
    });
    ++begin[axis];
  }
  return result;
}

Tensor pad(const Tensor &input, const Shape &low, const Shape &high, double value) {
  Shape shape = input.shape;
  for (size_t axis = 0; axis < shape.size(); ++axis)
    shape[axis] += low[axis] + high[axis];
  Tensor result(shape);
  std::fill(result.values.begin(), result.values.end(), value);
  write(input, low, result);
  return result;
}

Shape windowShape(const Shape &input, const Window &window) {
  Shape shape = input;
  for (size_t i = 0; i < window.axes.size(); ++i)
    shape[window.axes[i]] = window.counts[i];
  shape.insert(shape.end(), window.sizes.begin(), window.sizes.end());
  return shape;
}

Tensor window(const Tensor &input, const Window &window, double outside) {
  if (window.axes.empty())
    return input;
  Tensor result(windowShape(input.shape, window));
  const Shape stride = strides(input.shape);
  const size_t rank = input.shape.size();
  // Along the last axis of the result neighbours are evenly apart, or outside.
  Shape rows = result.shape;
  const int64_t count = rows.back();
  rows.back() = 1;
  const auto axis = static_cast<size_t>(window.axes.back());
  const int64_t apart = window.dilations.back();
  auto element = result.values.begin();
  Shape place;
  forEach(rows, [&](const Shape &index) {
    place.assign(index.begin(), index.begin() + static_cast<std::ptrdiff_t>(rank));
    bool inside = true;
    for (size_t i = 0; i < window.axes.size(); ++i) {
      int64_t &at = place[window.axes[i]];
      at = window.starts[i] + at * window.strides[i] + index[rank + i] * window.dilations[i];
      // The last axis of the result is that of the last axis of the window.
      inside &= i + 1 == window.axes.size() || (at >= 0 && at < input.shape[window.axes[i]]);
    }
    const int64_t from = place[axis];
    place[axis] = 0;
    const int64_t begin = offsetOf(place, stride);
    for (int64_t i = 0; i < count; ++i) {
      const int64_t at = from + i * apart;
      *element++ = inside && at >= 0 && at < input.shape[axis]
                       ? input.values[begin + at * stride[axis]]
                       : outside;
    }
  });
  return result;
}

Tensors loop(int64_t trips, const std::vector<const Tensor *> &initial,
             const std::vector<const Tensor *> &sequences, const std::vector<LoopAxis> &slices,
             const std::vector<LoopAxis> &stacks, const LoopBody &body) {
  Tensors carried;
  for (const Tensor *tensor : initial)
    carried.push_back(*tensor);
  std::vector<Tensors> added(stacks.size()); // by stack and iteration, as rows of a stack
  for (int64_t trip = 0; trip < trips; ++trip) {
    Tensors elements;
    for (size_t i = 0; i < sequences.size(); ++i) {
      Shape starts(sequences[i]->shape.size(), 0), sizes = sequences[i]->shape;
      const Shape steps(starts.size(), 1);
      starts[slices[i].axis] = slices[i].reversed ? trips - 1 - trip : trip;
      sizes[slices[i].axis] = 1;
      Tensor element = slice(*sequences[i], starts, sizes, steps);
      element.shape.erase(element.shape.begin() + slices[i].axis);
      elements.push_back(std::move(element));
    }
    std::vector<const Tensor *> arguments;
    for (const Tensors *list : {&carried, &elements})
      for (const Tensor &tensor : *list)
        arguments.push_back(&tensor);
    Tensors next = body(arguments);
    for (size_t i = 0; i < stacks.size(); ++i) {
      Tensor &row = added[i].emplace_back(std::move(next[carried.size() + i]));
      row.shape.insert(row.shape.begin() + stacks[i].axis, 1);
    }
    next.resize(carried.size());
    carried = std::move(next);
  }
  for (size_t i = 0; i < stacks.size(); ++i) {
    std::vector<const Tensor *> rows;
    for (const Tensor &row : added[i])
      rows.push_back(&row);
    if (stacks[i].reversed)
      std::reverse(rows.begin(), rows.end());
    carried.push_back(concat(rows, stacks[i].axis));
  }
  return carried;
}

} // namespace sluice::reference
