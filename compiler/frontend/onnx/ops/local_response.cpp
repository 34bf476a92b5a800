// LRN: a sum over neighbouring channels and a map.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "compiler/frontend/onnx/ops/common.h"
#include "compiler/frontend/onnx/ops/families.h"
#include "compiler/frontend/onnx/ops/power.h"

namespace sluice::frontend::ops {
namespace {

/// Far beyond any target.
constexpr int64_t kMostChannels = 8192;

/// [channels, channels]: 1 where a channel is among the `size` around another.
Tensor neighbours(int64_t channels, int64_t size) {
  std::vector<float> band(channels * channels, 0.0F);
  for (int64_t c = 0; c < channels; ++c)
    for (int64_t other = std::max<int64_t>(0, c - (size - 1) / 2);
         other <= std::min(channels - 1, c + size / 2); ++other)
      band[c * channels + other] = 1;
  return Tensor::ofKnown(HostTensor::ofFloats({channels, channels}, std::move(band)));
}

void buildLrn(NodeBuilder &node) {
  const Tensor &x = node.in(0);
  const int64_t size = std::min(node.integer("size"), 2 * x.shape[1]);
  const Tensor squares = node.emit.pointwise(
      {x}, [](const Scalars &s, mlir::ValueRange v) { return s.mul(v[0], v[0]); });
  std::vector<size_t> lhs, result;
  const auto loops = static_cast<size_t>(x.rank()) + 1;
  for (size_t i = 0; i + 1 < loops; ++i)
    result.push_back(i);
  lhs = result;
  lhs[1] = loops - 1;
  const Tensor sum = node.emit.contract(loops, {lhs, {1, loops - 1}, result}, squares,
                                        neighbours(x.shape[1], size));
  const float scale = node.real("alpha") / static_cast<float>(node.integer("size"));
  node.result(node.emit.pointwise({x, sum}, [&](const Scalars &s, mlir::ValueRange v) {
    const mlir::Value base = s.add(s.constant(node.real("bias")), s.scale(v[1], scale));
    return s.mul(v[0], power(s, base, -node.real("beta")));
  }));
}

} // namespace

void addLocalResponse(OperatorTable &table) {
  Operator entry;
  entry.name = "LRN";
  entry.form = "map x * x, contract with a band of ones over the channels, map x * (bias + alpha / "
               "size * sum)^-beta";
  entry.inputs = {{"X"}};
  entry.outputs = {{"Y"}};
  entry.attributes = {{"alpha", AttributeKind::Float, 0.0001F},
                      {"beta", AttributeKind::Float, 0.75F},
                      {"bias", AttributeKind::Float, 1.0F},
                      {"size", AttributeKind::Int, std::nullopt, true}};
  entry.requirements = {{"input 'X' must have rank 2 or more",
                         [](const NodeView &node) -> std::string {
                           return node.in(0).rank() >= 2 ? "" : shapeText(node.in(0).shape);
                         },
                         kShapes},
                        {fmt::format("there must be at most {} channels (axis 1)", kMostChannels),
                         [](const NodeView &node) -> std::string {
                           const int64_t channels = node.in(0).shape[1];
                           return channels <= kMostChannels ? "" : fmt::format("{}", channels);
                         }},
                        {"attribute 'beta' must not be NaN",
                         [](const NodeView &node) -> std::string {
                           return std::isnan(node.real("beta")) ? "NaN" : "";
                         },
                         kShapes},
                        {"attribute 'size' must be at least 1",
                         [](const NodeView &node) -> std::string {
                           return node.integer("size") >= 1
                                      ? ""
                                      : fmt::format("{}", node.integer("size"));
                         },
                         kShapes}};
  entry.build = buildLrn;
  table.add({1, 13}, entry);
}

} // namespace sluice::frontend::ops
