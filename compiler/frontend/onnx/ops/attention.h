// Scaled dot-product attention as operations, for every operator that is one.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "compiler/frontend/onnx/node_view.h"
#include "compiler/frontend/onnx/operator.h"

namespace sluice::frontend::ops {

/// What is known at import about which keys a query sees.
class AttentionMask {
public:
  /// Whether query `s` of head `n` in sample `b` sees key `t`.
  using Test = std::function<bool(int64_t b, int64_t n, int64_t s, int64_t t)>;

  /// `shape` is [batch, heads, queries, keys]; an extent of 1 stands for all.
  explicit AttentionMask(Shape shape) : full(std::move(shape)) {}

  /// Leaves what `test` says, which depends on the axes of `varies` alone: 1 elsewhere.
  void keep(const Shape &varies, const Test &test);
  /// Of zeros and ones, or nothing where every query sees every key. Throws E0205 where a query
  /// sees none, since a softmax of nothing is no number.
  std::optional<Tensor> known() const;

private:
  Shape full;
  Shape shape = {1, 1, 1, 1};
  std::vector<float> kept = {1};
};

struct AttentionOperands {
  /// [batch, heads, positions, size]; the heads of `k` and `v` divide those of `q`.
  Tensor q, k, v;
  float scale = 1;
  float softcap = 0;                            ///< 0: none
  std::vector<Tensor> added = {};               ///< to the scores, to whose shape they broadcast
  std::optional<Tensor> visible = std::nullopt; ///< known zeros and ones
};

/// softmax(softcap * tanh(scale * q k^T / softcap) + added, where visible) v:
/// [batch, heads, queries, size of v].
Tensor attend(Emitter &emit, const AttentionOperands &operands);

/// [batch, positions, heads * size] to [batch, heads, positions, size].
Tensor splitHeads(Emitter &emit, const Tensor &x, int64_t heads);
/// The inverse of splitHeads.
Tensor mergeHeads(Emitter &emit, const Tensor &x);

} // namespace sluice::frontend::ops
