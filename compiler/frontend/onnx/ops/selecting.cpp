#include "compiler/frontend/onnx/ops/selecting.h"

#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "compiler/frontend/onnx/ops/common.h"

namespace sluice::frontend::ops {
namespace {

namespace arith = mlir::arith;

/// Most elements of a table of what is chosen, more than any target keeps.
constexpr int64_t kMostChoices = int64_t{1} << 22;

/// How often every index is repeated behind itself, if all are equally often.
int64_t repetition(const std::vector<int64_t> &indices) {
  size_t count = 1;
  while (count < indices.size() && indices[count] == indices[0])
    ++count;
  if (indices.size() % count != 0)
    return 1;
  for (size_t i = 0; i < indices.size(); ++i)
    if (indices[i] != indices[i / count * count])
      return 1;
  return static_cast<int64_t>(count);
}

/// The distance of neighbours, if it is the same for all; of one element 0.
std::optional<int64_t> distanceOf(const std::vector<int64_t> &values) {
  const auto before = [&](size_t i) { // wraps around
    return static_cast<uint64_t>(values[i]) - static_cast<uint64_t>(values[i - 1]);
  };
  const uint64_t distance = values.size() > 1 ? before(1) : 0;
  for (size_t i = 1; i < values.size(); ++i)
    if (before(i) != distance)
      return std::nullopt;
  return static_cast<int64_t>(distance);
}

} // namespace

Tensor mask(const Shape &shape, const std::function<bool(int64_t flat)> &test) {
  const int64_t count = elementCount(shape, kMostChoices);
  if (count < 0)
    throw NodeError{kNotSupported,
                    fmt::format("the selection mask {} would have more than {} elements",
                                shapeText(shape), kMostChoices)};
  std::vector<float> values(count);
  for (int64_t i = 0; i < count; ++i)
    values[i] = test(i) ? 1.0F : 0.0F;
  return Tensor::ofKnown(HostTensor::ofFloats(shape, std::move(values)));
}

Tensor countAlong(int64_t axis, int64_t rank, int64_t extent) {
  Shape shape(rank, 1);
  shape[axis] = extent;
  std::vector<float> values(extent);
  std::iota(values.begin(), values.end(), 0.0F);
  return Tensor::ofKnown(HostTensor::ofFloats(std::move(shape), std::move(values)));
}

Tensor chosenAlong(Emitter &emit, const Tensor &chosen, const Tensor &x, int64_t axis) {
  const Tensor kept = emit.pointwise({x, chosen}, [](const Scalars &s, mlir::ValueRange v) {
    const mlir::Value test = s.make<arith::CmpFOp>(arith::CmpFPredicate::UNE, v[1], s.constant(0));
    return s.make<arith::SelectOp>(test, v[0], s.constant(-INFINITY));
  });
  return emit.reduce(ir::Monoid::Max, kept, {axis}, false);
}

Tensor lookedUp(Emitter &emit, const Tensor &vector, const Tensor &indices) {
  const std::optional<int64_t> distance =
      isFloatType(vector.type) ? std::nullopt : distanceOf(vector.known->ints);
  Tensor found;
  if (distance) {
    const auto first = static_cast<float>(vector.known->ints[0]);
    const auto step = static_cast<float>(*distance);
    found = first == 0 && step == 1
                ? indices
                : emit.pointwise({indices}, [&](const Scalars &s, mlir::ValueRange v) {
                    return s.add(s.scale(v[0], step), s.constant(first));
                  });
    found.range = rangeOf(indices) * IntegerRange{step, step} + IntegerRange{first, first};
  } else {
    const int64_t axis = indices.rank(), count = vector.shape[0];
    Shape shape(axis + 1, 1);
    shape[axis] = count;
    const Tensor kept =
        emit.pointwise({emit.reshape(vector, shape), countAlong(axis, axis + 1, count),
                        emit.unsqueeze(indices, {axis})},
                       [](const Scalars &s, mlir::ValueRange v) {
                         const mlir::Value test =
                             s.make<arith::CmpFOp>(arith::CmpFPredicate::OEQ, v[1], v[2]);
                         return s.make<arith::SelectOp>(test, v[0], s.constant(0));
                       });
    found = emit.reduce(ir::Monoid::Sum, kept, {axis}, false);
  }
  found.type = vector.type;
  if (!isFloatType(vector.type) && !distance)
    found.range = joined(rangeOf(vector), {0, 0});
  return found;
}

Tensor gathered(Emitter &emit, const Tensor &x, const std::vector<int64_t> &indices, int64_t axis) {
  const int64_t each = repetition(indices);
  std::vector<int64_t> once;
  for (size_t i = 0; i < indices.size(); i += each)
    once.push_back(indices[i]);
  std::vector<Tensor> parts;
  for (size_t i = 0; i < once.size();) {
    const int64_t step = i + 1 < once.size() ? once[i + 1] - once[i] : 1;
    size_t end = i + 1;
    while (step != 0 && end < once.size() && once[end] - once[end - 1] == step)
      ++end;
    parts.push_back(sliceAlong(emit, x, axis, once[i], static_cast<int64_t>(end - i), step));
    i = end;
  }
  return emit.repeat(emit.concat(parts, axis), axis, each);
}

} // namespace sluice::frontend::ops
