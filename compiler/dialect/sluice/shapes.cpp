#include "compiler/dialect/sluice/shapes.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>

#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Support/FormatVariadic.h"

#include "compiler/dialect/sluice/layout.h"
#include "compiler/reference/ops.h"

using namespace mlir;

namespace sluice::ir {
namespace {

template <typename... Args>
LogicalResult refuse(std::string &why, const char *format, Args... args) {
  why = llvm::formatv(format, args...).str();
  return failure();
}

int64_t rank(ExtentsRef shape) { return static_cast<int64_t>(shape.size()); }

/// Number of elements, or failure if it does not fit.
FailureOr<int64_t> elements(ExtentsRef shape) {
  int64_t count = 1;
  for (int64_t extent : shape)
    if (__builtin_mul_overflow(count, extent, &count))
      return failure();
  return count;
}

LogicalResult checkAxes(ExtentsRef axes, int64_t rank, std::string &why) {
  for (int64_t axis : axes)
    if (axis < 0 || axis >= rank)
      return refuse(why, "axis {0} is outside a tensor of rank {1}", axis, rank);
  for (size_t i = 1; i < axes.size(); ++i)
    if (axes[i] <= axes[i - 1])
      return refuse(why, "axes {0} are not ascending", notation(axes));
  return success();
}

LogicalResult checkCount(ExtentsRef values, int64_t rank, const char *what, std::string &why) {
  if (static_cast<int64_t>(values.size()) != rank)
    return refuse(why, "{0} {1} for a tensor of rank {2}", values.size(), what, rank);
  return success();
}

ShapeOr commonShape(ArrayRef<ExtentsRef> inputs, const char *what, std::string &why) {
  if (inputs.empty())
    return refuse(why, "{0} needs at least one operand", what);
  for (ExtentsRef input : inputs)
    if (input != inputs.front())
      return refuse(why, "operands have shapes {0} and {1}; they must be equal",
                    notation(inputs.front()), notation(input));
  return Extents(inputs.front());
}

} // namespace

ShapeOr inferMap(ArrayRef<ExtentsRef> inputs, std::string &why) {
  return commonShape(inputs, "a map", why);
}

ShapeOr inferReduce(ExtentsRef input, ExtentsRef axes, bool keepdims, std::string &why) {
  if (failed(checkAxes(axes, rank(input), why)))
    return failure();
  Extents result;
  for (auto [axis, extent] : llvm::enumerate(input)) {
    if (!llvm::is_contained(axes, static_cast<int64_t>(axis)))
      result.push_back(extent);
    else if (keepdims)
      result.push_back(1);
  }
  return result;
}

FailureOr<ContractionAxes> matmulAxes(ExtentsRef lhs, ExtentsRef rhs, std::string &why) {
  if (lhs.empty() || rhs.empty())
    return refuse(why, "a matrix product needs operands of rank 1 or more, not {0} and {1}",
                  notation(lhs), notation(rhs));
  const int64_t inner = rhs.size() == 1 ? rhs[0] : rhs[rhs.size() - 2];
  if (lhs.back() != inner)
    return refuse(why, "the contracted extents of {0} and {1} are {2} and {3}, they must be equal",
                  notation(lhs), notation(rhs), lhs.back(), inner);
  const ExtentsRef batches[] = {lhs.drop_back(std::min<size_t>(2, lhs.size())),
                                rhs.drop_back(std::min<size_t>(2, rhs.size()))};
  const size_t leading = std::max(batches[0].size(), batches[1].size());
  ContractionAxes axes;
  axes.leading = leading;
  axes.extents.assign(leading, 1);
  for (const ExtentsRef batch : batches)
    for (size_t i = 0; i < batch.size(); ++i) {
      int64_t &extent = axes.extents[leading - batch.size() + i];
      if (extent != 1 && batch[i] != 1 && extent != batch[i])
        return refuse(why, "batch axes of {0} and {1} do not broadcast: {2} and {3}", notation(lhs),
                      notation(rhs), extent, batch[i]);
      extent = std::max(extent, batch[i]);
    }
  // Leading axes count from the right.
  const auto addLeading = [&](ContractionAxes::OfTensor &tensor, ExtentsRef batch) {
    for (size_t i = 0; i < batch.size(); ++i) {
      const size_t loop = leading - batch.size() + i;
      tensor.push_back(batch[i] == axes.extents[loop] ? std::optional<unsigned>(loop)
                                                      : std::nullopt);
    }
  };
  addLeading(axes.lhs, batches[0]);
  addLeading(axes.rhs, batches[1]);
  addLeading(axes.result, axes.extents);
  const unsigned row = leading, column = row + 1, contracted = column + 1;
  axes.extents.append({1, 1, inner});
  if (lhs.size() > 1) {
    axes.lhs.push_back(row);
    axes.result.push_back(row);
    axes.extents[row] = lhs[lhs.size() - 2];
  }
  axes.lhs.push_back(contracted);
  axes.rhs.push_back(contracted);
  if (rhs.size() > 1) {
    axes.rhs.push_back(column);
    axes.result.push_back(column);
    axes.extents[column] = rhs.back();
  }
  return axes;
}

FailureOr<ContractionAxes> contractAxes(ArrayRef<AffineMap> maps, ExtentsRef lhs, ExtentsRef rhs,
                                        std::string &why) {
  if (maps.size() != 3)
    return refuse(why, "{0} indexing maps, there must be 3: lhs, rhs, result", maps.size());
  const unsigned loops = maps[0].getNumDims();
  for (AffineMap map : maps)
    if (map.getNumDims() != loops || !map.isProjectedPermutation())
      return refuse(why, "indexing map {0} does not map {1} loops one to one to axes", map, loops);
  ContractionAxes axes;
  axes.extents.assign(loops, 0);
  for (auto [map, shape] : {std::pair(maps[0], lhs), std::pair(maps[1], rhs)}) {
    if (map.getNumResults() != shape.size())
      return refuse(why, "indexing map {0} does not fit an operand of rank {1}", map, shape.size());
    for (auto [axis, extent] : llvm::enumerate(shape)) {
      int64_t &loop = axes.extents[map.getDimPosition(axis)];
      if (loop != 0 && loop != extent)
        return refuse(why, "loop {0} runs over extents {1} and {2}, they must be equal",
                      map.getDimPosition(axis), loop, extent);
      loop = extent;
    }
  }
  for (auto [loop, extent] : llvm::enumerate(axes.extents))
    if (extent == 0)
      return refuse(why, "loop {0} indexes no operand", loop);
  for (auto [map, tensor] : {std::pair(maps[0], &axes.lhs), std::pair(maps[1], &axes.rhs),
                             std::pair(maps[2], &axes.result)})
    for (unsigned axis = 0; axis < map.getNumResults(); ++axis)
      tensor->push_back(map.getDimPosition(axis));
  return axes;
}

/// Extents of the result of a contraction.
static ShapeOr resultOf(const FailureOr<ContractionAxes> &axes) {
  if (failed(axes))
    return failure();
  return llvm::map_to_vector<4>(axes->result,
                                [&](std::optional<unsigned> loop) { return axes->extents[*loop]; });
}

ShapeOr inferMatmul(ExtentsRef lhs, ExtentsRef rhs, std::string &why) {
  return resultOf(matmulAxes(lhs, rhs, why));
}

ShapeOr inferContract(ArrayRef<AffineMap> maps, ExtentsRef lhs, ExtentsRef rhs, std::string &why) {
  return resultOf(contractAxes(maps, lhs, rhs, why));
}

ShapeOr inferTranspose(ExtentsRef input, ExtentsRef permutation, std::string &why) {
  if (rank(permutation) != rank(input) || !isPermutationVector(permutation))
    return refuse(why, "{0} is not a permutation of the axes of {1}", notation(permutation),
                  notation(input));
  return Extents(applyPermutation(input, permutation));
}

ShapeOr inferSlice(ExtentsRef input, ExtentsRef starts, ExtentsRef sizes, ExtentsRef steps,
                   std::string &why) {
  if (failed(checkCount(starts, rank(input), "starts", why)) ||
      failed(checkCount(sizes, rank(input), "sizes", why)) ||
      failed(checkCount(steps, rank(input), "steps", why)))
    return failure();
  for (size_t axis = 0; axis < input.size(); ++axis) {
    const int64_t start = starts[axis], size = sizes[axis], step = steps[axis];
    if (step == 0)
      return refuse(why, "the step along axis {0} is 0", axis);
    if (size < 1)
      return refuse(why, "the size along axis {0} is {1}, it must be at least 1", axis, size);
    const __int128 last = static_cast<__int128>(start) + static_cast<__int128>(size - 1) * step;
    if (start < 0 || start >= input[axis] || last < 0 || last >= input[axis])
      return refuse(why, "start {0}, size {1}, step {2} go outside axis {3} of extent {4}", start,
                    size, step, axis, input[axis]);
  }
  return Extents(sizes);
}

ShapeOr inferReshape(ExtentsRef input, ExtentsRef shape, std::string &why) {
  const FailureOr<int64_t> from = elements(input), to = elements(shape);
  if (failed(from) || failed(to) || *from != *to)
    return refuse(why, "{0} and {1} do not have the same number of elements", notation(input),
                  notation(shape));
  return Extents(shape);
}

ShapeOr inferBroadcast(ExtentsRef input, ExtentsRef shape, std::string &why) {
  if (input.size() != shape.size())
    return refuse(why, "{0} and {1} do not have the same rank", notation(input), notation(shape));
  for (size_t axis = 0; axis < input.size(); ++axis)
    if (input[axis] != 1 && input[axis] != shape[axis])
      return refuse(why, "axis {0} of extent {1} cannot become {2}; only extent 1 can be broadcast",
                    axis, input[axis], shape[axis]);
  return Extents(shape);
}

ShapeOr inferUnsqueeze(ExtentsRef input, ExtentsRef axes, std::string &why) {
  if (failed(checkAxes(axes, rank(input) + rank(axes), why)))
    return failure();
  Extents result(input);
  for (int64_t axis : axes)
    result.insert(result.begin() + axis, 1);
  return result;
}

ShapeOr inferSqueeze(ExtentsRef input, ExtentsRef axes, std::string &why) {
  if (failed(checkAxes(axes, rank(input), why)))
    return failure();
  for (int64_t axis : axes)
    if (input[axis] != 1)
      return refuse(why, "axis {0} has extent {1}; only extent 1 can be removed", axis,
                    input[axis]);
  return inferReduce(input, axes, false, why);
}

ShapeOr inferConcat(ArrayRef<ExtentsRef> inputs, int64_t axis, std::string &why) {
  if (inputs.empty())
    return refuse(why, "a concatenation needs at least one operand");
  if (failed(checkAxes(axis, rank(inputs.front()), why)))
    return failure();
  Extents result(inputs.front());
  for (ExtentsRef input : inputs.drop_front()) {
    Extents expected(result);
    if (input.size() == result.size())
      expected[axis] = input[axis];
    if (ExtentsRef(expected) != input)
      return refuse(why,
                    "operands have shapes {0} and {1}; they must be equal except along axis {2}",
                    notation(inputs.front()), notation(input), axis);
    result[axis] += input[axis];
  }
  return result;
}

ShapeOr inferRepeat(ExtentsRef input, ExtentsRef counts, std::string &why) {
  if (failed(checkCount(counts, rank(input), "counts", why)))
    return failure();
  Extents result(input);
  for (size_t axis = 0; axis < input.size(); ++axis)
    if (counts[axis] < 1 || __builtin_mul_overflow(input[axis], counts[axis], &result[axis]))
      return refuse(
          why, "axis {0} of extent {1} is repeated {2} times, allowed: 1 or more, without overflow",
          axis, input[axis], counts[axis]);
  return result;
}

ShapeOr inferInterleave(ArrayRef<ExtentsRef> inputs, int64_t axis, std::string &why) {
  ShapeOr result = commonShape(inputs, "an interleaving", why);
  if (failed(result) || failed(checkAxes(axis, rank(*result), why)))
    return failure();
  (*result)[axis] *= static_cast<int64_t>(inputs.size());
  return result;
}

ShapeOr inferWindow(ExtentsRef input, const reference::Window &window, std::string &why) {
  const size_t count = window.axes.size();
  for (const reference::Shape *list :
       {&window.sizes, &window.counts, &window.starts, &window.strides, &window.dilations})
    if (list->size() != count)
      return refuse(why, "{0} axes have windows; every list must have {0} elements", count);
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  int64_t last = -1;
  for (size_t i = 0; i < count; ++i) {
    const int64_t axis = window.axes[i];
    if (axis <= last || axis >= rank(input))
      return refuse(why, "window axis {0} must be above {1} and below rank {2}", axis, last,
                    rank(input));
    last = axis;
    for (const auto &[name, list] : {std::pair("size", &window.sizes),
                                     {"count", &window.counts},
                                     {"stride", &window.strides},
                                     {"dilation", &window.dilations}})
      if ((*list)[i] < 1 || (*list)[i] > kMost)
        return refuse(why, "the {0} of the window along axis {1} is {2}; it must be in [1, {3}]",
                      name, axis, (*list)[i], kMost);
    if (window.starts[i] < -kMost || window.starts[i] > kMost)
      return refuse(why, "the window along axis {0} starts at {1}; it must be in [{2}, {3}]", axis,
                    window.starts[i], -kMost, kMost);
  }
  const reference::Shape shape = reference::windowShape({input.begin(), input.end()}, window);
  return Extents(shape.begin(), shape.end());
}

ShapeOr inferPad(ExtentsRef input, ExtentsRef low, ExtentsRef high, std::string &why) {
  if (failed(checkCount(low, rank(input), "low pads", why)) ||
      failed(checkCount(high, rank(input), "high pads", why)))
    return failure();
  Extents result(input);
  for (size_t axis = 0; axis < input.size(); ++axis) {
    if (low[axis] < 0 || high[axis] < 0)
      return refuse(why, "the padding of axis {0} is {1} and {2}; it must not be negative", axis,
                    low[axis], high[axis]);
    result[axis] += low[axis] + high[axis];
  }
  return result;
}

ShapeOr inferElement(ExtentsRef sequence, int64_t axis, int64_t trips, std::string &why) {
  if (failed(checkAxes(axis, rank(sequence), why)))
    return failure();
  if (sequence[axis] != trips)
    return refuse(why,
                  "sequence {0} has {1} elements along axis {2}, but the loop has trip count {3}",
                  notation(sequence), sequence[axis], axis, trips);
  return inferReduce(sequence, axis, false, why);
}

ShapeOr inferStack(ExtentsRef element, int64_t axis, int64_t trips, std::string &why) {
  const ShapeOr row = inferUnsqueeze(element, axis, why);
  if (failed(row))
    return failure();
  Extents result = *row;
  result[axis] = trips;
  return result;
}

} // namespace sluice::ir
