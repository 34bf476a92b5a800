#include "compiler/frontend/onnx/ops/attention.h"

#include <fmt/format.h>

#include "compiler/frontend/onnx/ops/common.h"
#include "compiler/frontend/onnx/ops/selecting.h"
#include "compiler/frontend/onnx/ops/softmax.h"

namespace sluice::frontend::ops {
namespace {

/// Most elements of a mask, more than any target keeps.
constexpr int64_t kMostMasked = int64_t{1} << 22;

/// Every head of `x` as often as makes `heads`, one behind the other.
Tensor repeatedHeads(Emitter &emit, const Tensor &x, int64_t heads) {
  return emit.repeat(x, 1, heads / x.shape[1]);
}

Tensor scaled(Emitter &emit, const Tensor &x, float factor) {
  return factor == 1 ? x : emit.pointwise({x}, [factor](const Scalars &s, mlir::ValueRange v) {
    return s.scale(v[0], factor);
  });
}

/// What is added to scores that are seen or not, in the one form that models write masks in.
Tensor lowestWhereHidden(const Tensor &visible) {
  std::vector<float> added;
  for (const float sees : visible.known->floats)
    added.push_back(sees != 0 ? 0 : kLowest); // of which exp is 0
  return Tensor::ofKnown(HostTensor::ofFloats(visible.shape, added));
}

} // namespace

void AttentionMask::keep(const Shape &varies, const Test &test) {
  Shape wide(4);
  for (size_t i = 0; i < wide.size(); ++i)
    wide[i] = shape[i] == 1 && varies[i] == 1 ? 1 : full[i];
  const int64_t count = elementCount(wide, kMostMasked);
  if (count < 0)
    throw NodeError{kNotSupported,
                    fmt::format("the attention mask {} would have more than {} elements",
                                shapeText(wide), kMostMasked)};
  std::vector<float> next(count);
  for (int64_t flat = 0; flat < count; ++flat) {
    const int64_t t = flat % wide[3], s = flat / wide[3] % wide[2],
                  n = flat / (wide[3] * wide[2]) % wide[1],
                  b = flat / (wide[3] * wide[2] * wide[1]);
    next[flat] = kept[broadcastIndex(shape, wide, flat)] != 0 && test(b, n, s, t) ? 1.0F : 0.0F;
  }
  shape = std::move(wide);
  kept = std::move(next);
}

std::optional<Tensor> AttentionMask::known() const {
  const int64_t keys = shape[3];
  bool all = true;
  for (size_t row = 0; row * keys < kept.size(); ++row) {
    bool none = true;
    for (int64_t t = 0; t < keys; ++t) {
      all &= kept[row * keys + t] != 0;
      none &= kept[row * keys + t] == 0;
    }
    if (none)
      throw NodeError{
          kNotSupported,
          fmt::format("query {} of sample {} has no visible key, so its softmax is undefined",
                      row % shape[2], row / (shape[2] * shape[1]))};
  }
  if (all)
    return std::nullopt;
  return Tensor::ofKnown(HostTensor::ofFloats(shape, kept));
}

Tensor attend(Emitter &emit, const AttentionOperands &operands) {
  const int64_t heads = operands.q.shape[1];
  const Tensor keys = emit.transpose(repeatedHeads(emit, operands.k, heads), {0, 1, 3, 2});
  Tensor scores = scaled(emit, emit.matmul(operands.q, keys), operands.scale);
  if (operands.softcap != 0)
    scores = emit.pointwise({scores}, [&](const Scalars &s, mlir::ValueRange v) {
      return s.scale(s.make<mlir::math::TanhOp>(s.scale(v[0], 1 / operands.softcap)),
                     operands.softcap);
    });
  for (const Tensor &one : operands.added)
    scores = emit.pointwise({scores, one},
                            [](const Scalars &s, mlir::ValueRange v) { return s.add(v[0], v[1]); });
  if (operands.visible)
    scores = emit.pointwise({scores, lowestWhereHidden(*operands.visible)},
                            [](const Scalars &s, mlir::ValueRange v) { return s.add(v[0], v[1]); });
  const Tensor weights = softmax(emit, scores, {3}, false);
  return emit.matmul(weights, repeatedHeads(emit, operands.v, heads));
}

Tensor splitHeads(Emitter &emit, const Tensor &x, int64_t heads) {
  const Shape apart = {x.shape[0], x.shape[1], heads, x.shape[2] / heads};
  return emit.transpose(emit.reshape(x, apart), {0, 2, 1, 3});
}

Tensor mergeHeads(Emitter &emit, const Tensor &x) {
  const Shape together = {x.shape[0], x.shape[2], x.shape[1] * x.shape[3]};
  return emit.reshape(emit.transpose(x, {0, 2, 1, 3}), together);
}

} // namespace sluice::frontend::ops
