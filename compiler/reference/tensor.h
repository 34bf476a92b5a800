// The plain tensor of the golden evaluator: row-major doubles, nothing else.
#pragma once

#include <cstdint>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include "compiler/reference/shape.h"

namespace sluice::reference {

/// Number of elements of a shape; 1 for rank 0.
inline int64_t elements(const Shape &shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

/// A tensor of real numbers in row-major order. values.size() == elements(shape).
/// Evaluators compute in double; whoever stores a result rounds it.
struct Tensor {
  Shape shape;
  std::vector<double> values;

  Tensor() = default;
  explicit Tensor(Shape extents) : shape(std::move(extents)), values(elements(shape)) {}
  Tensor(Shape extents, std::vector<double> data)
      : shape(std::move(extents)), values(std::move(data)) {}

  [[nodiscard]] int64_t rank() const { return static_cast<int64_t>(shape.size()); }
  bool operator==(const Tensor &) const = default;
};

using Tensors = std::vector<Tensor>;

/// Strides in elements of a row-major tensor.
inline std::vector<int64_t> strides(const Shape &shape) {
  std::vector<int64_t> result(shape.size(), 1);
  for (size_t axis = shape.size(); axis-- > 1;)
    result[axis - 1] = result[axis] * shape[axis];
  return result;
}

} // namespace sluice::reference
