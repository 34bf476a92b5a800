// NonMaxSuppression of boxes and scores known at import: how many boxes are left depends on them.
#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "compiler/frontend/onnx/ops/common.h"
#include "compiler/frontend/onnx/ops/families.h"

namespace sluice::frontend::ops {
namespace {

enum Input : size_t { kBoxes, kScores, kMost, kOverlap, kScore };

/// Most pairs of boxes that are compared.
constexpr int64_t kMostPairs = int64_t{1} << 28;

struct Box {
  float top, left, bottom, right;
  float area() const { return (bottom - top) * (right - left); }
};

/// Given as two corners in any order, or as centre and size.
Box boxOf(const NodeView &node, int64_t batch, int64_t index) {
  const float *v =
      node.in(kBoxes).known->floats.data() + (batch * node.in(kBoxes).shape[1] + index) * 4;
  if (node.integer("center_point_box") != 0)
    return {v[1] - v[3] / 2, v[0] - v[2] / 2, v[1] + v[3] / 2, v[0] + v[2] / 2};
  return {std::min(v[0], v[2]), std::min(v[1], v[3]), std::max(v[0], v[2]), std::max(v[1], v[3])};
}

/// The share of the union that two boxes have in common.
float overlap(const Box &a, const Box &b) {
  const float height = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
  const float width = std::min(a.right, b.right) - std::max(a.left, b.left);
  if (height <= 0 || width <= 0 || a.area() <= 0 || b.area() <= 0)
    return 0;
  const float common = height * width;
  return common / (a.area() + b.area() - common);
}

float threshold(const NodeView &node, size_t input) { return node.in(input).known->floats[0]; }

int64_t mostBoxes(const NodeView &node) { return node.has(kMost) ? node.knownInts(kMost)[0] : 0; }

/// The boxes of a class that are left, best first.
std::vector<int64_t> kept(const NodeView &node, int64_t batch, const float *scores) {
  std::vector<int64_t> order(node.in(kBoxes).shape[1]), out;
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return scores[a] != scores[b] ? scores[a] > scores[b] : a < b;
  });
  for (const int64_t index : order) {
    if (static_cast<int64_t>(out.size()) >= mostBoxes(node))
      break;
    if (node.has(kScore) && scores[index] <= threshold(node, kScore))
      continue;
    const Box box = boxOf(node, batch, index);
    const float limit = node.has(kOverlap) ? threshold(node, kOverlap) : 0;
    if (std::none_of(out.begin(), out.end(), [&](int64_t other) {
          return overlap(box, boxOf(node, batch, other)) > limit;
        }))
      out.push_back(index);
  }
  return out;
}

void buildNonMaxSuppression(NodeBuilder &node) {
  const Shape &shape = node.in(kScores).shape; // batches, classes, boxes
  std::vector<int64_t> selected;
  for (int64_t batch = 0; batch < shape[0]; ++batch)
    for (int64_t category = 0; category < shape[1]; ++category) {
      const float *scores =
          node.in(kScores).known->floats.data() + (batch * shape[1] + category) * shape[2];
      for (const int64_t box : kept(node, batch, scores))
        selected.insert(selected.end(), {batch, category, box});
    }
  const auto count = static_cast<int64_t>(selected.size()) / 3;
  node.result(Tensor::ofKnown(HostTensor::ofInts({count, 3}, std::move(selected))));
}

} // namespace

void addNonMaxSuppression(OperatorTable &table) {
  Operator entry;
  entry.name = "NonMaxSuppression";
  entry.form = "known at compile time";
  entry.inputs = {{"boxes", Types::Float, Presence::Required, true},
                  {"scores", Types::Float, Presence::Required, true},
                  {"max_output_boxes_per_class", Types::Integer, Presence::Optional, true},
                  {"iou_threshold", Types::Float, Presence::Optional, true},
                  {"score_threshold", Types::Float, Presence::Optional, true}};
  entry.outputs = {{"selected_indices"}};
  entry.attributes = {{"center_point_box", AttributeKind::Int, int64_t{0}, false, {0, 1}}};
  entry.requirements = {
      {"input 'boxes' must be [batch boxes 4], and 'scores' [batch classes boxes]",
       [](const NodeView &node) -> std::string {
         const Shape &boxes = node.in(kBoxes).shape, &scores = node.in(kScores).shape;
         const bool fits = boxes.size() == 3 && boxes[2] == 4 && scores.size() == 3 &&
                           scores[0] == boxes[0] && scores[2] == boxes[1];
         return fits ? "" : shapeText(boxes) + " and " + shapeText(scores);
       },
       kShapes},
      {"the other inputs must have one element each, and no value may be NaN",
       [](const NodeView &node) -> std::string {
         for (size_t i = 0; i < node.inputCount(); ++i) {
           if (!node.has(i))
             continue;
           const HostTensor &known = *node.in(i).known;
           if (i >= kMost && known.size() != 1)
             return shapeText(known.shape);
           if (std::any_of(known.floats.begin(), known.floats.end(),
                           [](float value) { return std::isnan(value); }))
             return "NaN";
         }
         return "";
       },
       kShapes},
      {"input 'iou_threshold' must be in [0, 1]",
       [](const NodeView &node) -> std::string {
         if (!node.has(kOverlap))
           return "";
         const float limit = threshold(node, kOverlap);
         return limit >= 0 && limit <= 1 ? "" : fmt::format("{}", limit);
       },
       kShapes},
      {fmt::format("there must be at most {} pairs of boxes", kMostPairs),
       [](const NodeView &node) -> std::string {
         const Shape &scores = node.in(kScores).shape;
         return elementCount({scores[0], scores[1], scores[2], scores[2]}, kMostPairs) >= 0
                    ? ""
                    : shapeText(scores);
       }}};
  entry.build = buildNonMaxSuppression;
  table.add({10, 11}, entry);
}

} // namespace sluice::frontend::ops
