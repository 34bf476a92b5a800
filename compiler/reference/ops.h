// The golden evaluator: one function per operation of the sluice dialect, the
// definition of what it computes, in plain code. Shapes are the caller's duty
// (the dialect's verifiers); sums run in ascending index order.
#pragma once

#include <functional>

#include "compiler/reference/axes.h"
#include "compiler/reference/monoid.h"
#include "compiler/reference/tensor.h"

namespace sluice::reference {

/// Scalar function of one element of each operand.
using ScalarFunction = std::function<double(const std::vector<double> &)>;

/// result[i] = function(operands[0][i], operands[1][i], ...).
Tensor map(const std::vector<const Tensor *> &operands, const ScalarFunction &function);

/// Reduces `axes` (ascending). The index of an element is the row-major one among those that
/// become one.
Tensor reduce(const Tensor &input, Monoid monoid, const Shape &axes, bool keepdims);

/// numpy's matmul: leading axes broadcast, a rank-1 operand loses its axis.
Tensor matmul(const Tensor &lhs, const Tensor &rhs);

/// result[r(i)] = sum over i of lhs[l(i)] * rhs[r(i)]; every index map names
/// one loop per axis, `extents` are the loops' trip counts.
Tensor contract(const Tensor &lhs, const Shape &lhsMap, const Tensor &rhs, const Shape &rhsMap,
                const Shape &resultMap, const Shape &extents);

/// Axis i of the result is axis permutation[i] of the input.
Tensor transpose(const Tensor &input, const Shape &permutation);
/// Element i along an axis is input element start + i * step.
Tensor slice(const Tensor &input, const Shape &starts, const Shape &sizes, const Shape &steps);
/// Same elements in row-major order; also squeeze and unsqueeze.
Tensor reshape(const Tensor &input, const Shape &shape);
/// Repeats axes of extent 1; same rank.
Tensor broadcast(const Tensor &input, const Shape &shape);
Tensor concat(const std::vector<const Tensor *> &inputs, int64_t axis);
/// Each axis `counts` times, one behind the other.
Tensor tile(const Tensor &input, const Shape &counts);
/// Each element along an axis `counts` times, behind itself.
Tensor repeat(const Tensor &input, const Shape &counts);
/// Element i * n + k along the axis is element i of input k of n, of one shape.
Tensor interleave(const std::vector<const Tensor *> &inputs, int64_t axis);
/// The shape of what it sees: positions instead of the axes, and elements behind all axes.
Shape windowShape(const Shape &input, const Window &window);
Tensor window(const Tensor &input, const Window &window, double outside);
Tensor pad(const Tensor &input, const Shape &low, const Shape &high, double value);

/// What one iteration computes: the next carried values, then what it adds to the stacks,
/// of the carried values and the elements of the sequences.
using LoopBody = std::function<Tensors(const std::vector<const Tensor *> &)>;
/// The last carried values, then the stacks. `trips` is at least 1; every sequence has as many
/// elements along its axis.
Tensors loop(int64_t trips, const std::vector<const Tensor *> &initial,
             const std::vector<const Tensor *> &sequences, const std::vector<LoopAxis> &slices,
             const std::vector<LoopAxis> &stacks, const LoopBody &body);

} // namespace sluice::reference
