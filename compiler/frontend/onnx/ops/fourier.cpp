// DFT and STFT: products with the constant matrix of the transform.
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "compiler/frontend/onnx/ops/common.h"
#include "compiler/frontend/onnx/ops/families.h"
#include "compiler/frontend/onnx/ops/window.h"

namespace sluice::frontend::ops {
namespace {

/// A transform of `length` points, of which the first `taken` are not zero, to `lines` lines.
struct Transform {
  int64_t length = 1, taken = 1, lines = 1;
  int64_t parts = 1; ///< of an input: real, or real and imaginary
  bool inverse = false;

  bool isTooLarge() const { return elementCount({lines, 2, taken, parts}, kMostWeights) < 0; }
};

/// [lines, 2, taken, parts]: what a part of a point adds to the two parts of a line. A window,
/// if there is one, is a factor of each point.
Tensor matrixOf(const Transform &transform, const std::vector<float> *window) {
  const auto [length, taken, lines, parts, inverse] = transform;
  std::vector<float> values;
  values.reserve(lines * 2 * taken * parts);
  for (int64_t line = 0; line < lines; ++line)
    for (int64_t to = 0; to < 2; ++to)
      for (int64_t point = 0; point < taken; ++point)
        for (int64_t from = 0; from < parts; ++from) {
          // The angle's remainder keeps its digits however long the transform is.
          const double turn =
              static_cast<double>(line * point % length) / static_cast<double>(length);
          const double angle = (inverse ? 2 : -2) * M_PI * turn;
          const double real = std::cos(angle), imaginary = std::sin(angle);
          double value = to == from ? real : to == 1 ? imaginary : -imaginary;
          if (inverse)
            value /= static_cast<double>(length);
          if (window)
            value *= (*window)[point];
          values.push_back(static_cast<float>(value));
        }
  return Tensor::ofKnown(HostTensor::ofFloats({lines, 2, taken, parts}, std::move(values)));
}

/// The sums of `x`, whose axis `points` has the points and whose last axis the parts, which is
/// gone where there is one only: lines in place of the points, then behind all the two parts.
Tensor transformed(Emitter &emit, const Tensor &x, size_t points, const Transform &transform,
                   const std::vector<float> *window) {
  Tensor matrix = matrixOf(transform, window);
  const bool complex = transform.parts == 2;
  if (!complex)
    matrix = emit.squeeze(matrix, {3});
  // Loops: the axes of the result, then points, then parts.
  const size_t rank = x.shape.size() - (complex ? 1 : 0);
  std::vector<size_t> lhs(rank), result(rank + 1);
  std::iota(lhs.begin(), lhs.end(), 0);
  std::iota(result.begin(), result.end(), 0);
  std::vector<size_t> rhs = {points, rank, rank + 1};
  lhs[points] = rank + 1;
  if (complex) {
    lhs.push_back(rank + 2);
    rhs.push_back(rank + 2);
  }
  return emit.contract(rank + 2 + (complex ? 1 : 0), {lhs, rhs, result}, x, matrix);
}

//===-- DFT -----------------------------------------------------------------------------------===//

/// The axis as given, from opset 20 on an input.
int64_t givenAxis(const NodeView &node) {
  if (node.given("axis"))
    return node.integer("axis");
  return node.has(2) ? node.knownInts(2)[0] : -2;
}

int64_t transformedAxis(const NodeView &node) {
  return node.axis(givenAxis(node), node.in(0).rank());
}

Transform transformOf(const NodeView &node) {
  const Shape &shape = node.in(0).shape;
  const int64_t extent = shape[transformedAxis(node)];
  const int64_t length = node.has(1) ? node.knownInts(1)[0] : extent;
  const bool half = node.integer("onesided") != 0;
  return {length, std::min(length, extent), half ? length / 2 + 1 : length, shape.back(),
          node.integer("inverse") != 0};
}

void buildDft(NodeBuilder &node) {
  const Transform transform = transformOf(node);
  const int64_t axis = transformedAxis(node);
  Tensor x = sliceAlong(node.emit, node.in(0), axis, 0, transform.taken);
  if (transform.parts == 1)
    x = node.emit.squeeze(x, {x.rank() - 1});
  node.result(transformed(node.emit, x, static_cast<size_t>(axis), transform, nullptr));
}

Requirement isComplexOrReal() {
  return {"input 'input' must have rank 2 or more and last extent 1 (real) or 2 (complex)",
          [](const NodeView &node) -> std::string {
            const Shape &shape = node.in(0).shape;
            const bool fits = shape.size() >= 2 && (shape.back() == 1 || shape.back() == 2);
            return fits ? "" : shapeText(shape);
          },
          kShapes};
}

Operator dft(bool axisIsInput) {
  Operator entry;
  entry.name = "DFT";
  entry.form = "contract with the transform matrix";
  entry.inputs = {{"input"}, {"dft_length", Types::Integer, Presence::Optional, true}};
  entry.outputs = {{"output"}};
  if (axisIsInput)
    entry.inputs.push_back({"axis", Types::Integer, Presence::Optional, true});
  else
    entry.attributes = {{"axis", AttributeKind::Int, int64_t{1}}};
  entry.attributes.push_back({"inverse", AttributeKind::Int, int64_t{0}, false, {0, 1}});
  entry.attributes.push_back({"onesided", AttributeKind::Int, int64_t{0}, false, {0, 1}});
  entry.requirements = {
      isComplexOrReal(),
      {"inputs 'dft_length' and 'axis', if given, must have one element each",
       [](const NodeView &node) -> std::string {
         for (size_t i = 1; i < node.inputCount(); ++i)
           if (node.has(i) && node.in(i).known->size() != 1)
             return shapeText(node.in(i).shape);
         return "";
       },
       kShapes},
      {"'axis' must be an axis of 'input' other than the last",
       [](const NodeView &node) -> std::string {
         const int64_t axis = givenAxis(node), rank = node.in(0).rank();
         const bool fits = axis >= -rank && axis < rank && node.axis(axis, rank) != rank - 1;
         return fits ? "" : fmt::format("axis {} for rank {}", axis, rank);
       },
       kShapes},
      {fmt::format("'dft_length' must be at least 1, and the transform matrix at most {} elements",
                   kMostWeights),
       [](const NodeView &node) -> std::string {
         const int64_t length = node.has(1) ? node.knownInts(1)[0] : 1;
         return length >= 1 && !transformOf(node).isTooLarge()
                    ? ""
                    : fmt::format("{} for {}", length, shapeText(node.in(0).shape));
       }},
      {"with 'onesided' 1, 'inverse' must be 0 and the last extent of 'input' 1",
       [](const NodeView &node) -> std::string {
         if (node.integer("onesided") == 0 ||
             (node.integer("inverse") == 0 && node.in(0).shape.back() == 1))
           return "";
         return fmt::format("'inverse' {} and {}", node.integer("inverse"),
                            shapeText(node.in(0).shape));
       },
       kShapes}};
  entry.build = buildDft;
  return entry;
}

//===-- STFT ----------------------------------------------------------------------------------===//

enum StftInput : size_t { kSignal, kStep, kWindow, kLength };

int64_t frameLength(const NodeView &node) {
  return node.has(kLength) ? node.knownInts(kLength)[0] : node.in(kWindow).shape[0];
}

/// Numbers of an element: 2 if the signal is complex. A signal of rank 2 is real, as onnxruntime
/// reads it.
int64_t signalParts(const NodeView &node) {
  const Shape &shape = node.in(kSignal).shape;
  return shape.size() == 2 ? 1 : shape.back();
}

Transform transformOfFrames(const NodeView &node) {
  const int64_t length = frameLength(node);
  const bool half = node.integer("onesided") != 0;
  return {length, length, half ? length / 2 + 1 : length, signalParts(node), false};
}

/// What a window sees of the signal, then the transform of each position.
void buildStft(NodeBuilder &node) {
  const Tensor &signal = node.in(kSignal); // [batch, points] or [batch, points, parts]
  const Transform transform = transformOfFrames(node);
  WindowAxis frames;
  frames.extent = signal.shape[1];
  frames.size = transform.length;
  frames.stride = node.knownInts(kStep)[0];
  frames.count = (frames.extent - frames.size) / frames.stride + 1;
  const Tensor rows = transform.parts == 1
                          ? node.emit.reshape(signal, {signal.shape[0], 1, signal.shape[1]})
                          : node.emit.transpose(signal, {0, 2, 1});
  Tensor view = seen(node.emit, rows, {frames}, 0); // [batch, parts, frames, points]
  if (frames.size == 1)
    view = node.emit.unsqueeze(view, {3});
  view =
      transform.parts == 1 ? node.emit.squeeze(view, {1}) : node.emit.transpose(view, {0, 2, 3, 1});
  const std::vector<float> *window = node.has(kWindow) ? &node.in(kWindow).known->floats : nullptr;
  node.result(transformed(node.emit, view, 2, transform, window));
}

Operator stft() {
  Operator entry;
  entry.name = "STFT";
  entry.form = "window, then contract with the transform matrix times 'window'";
  entry.inputs = {{"signal"},
                  {"frame_step", Types::Integer, Presence::Required, true},
                  {"window", Types::Float, Presence::Optional, true},
                  {"frame_length", Types::Integer, Presence::Optional, true}};
  entry.outputs = {{"output"}};
  entry.attributes = {{"onesided", AttributeKind::Int, int64_t{1}, false, {0, 1}}};
  entry.requirements = {
      {"input 'signal' must have rank 2, or rank 3 and last extent 1 (real) or 2 (complex)",
       [](const NodeView &node) {
         const Shape &shape = node.in(kSignal).shape;
         const bool isRight =
             shape.size() == 2 || (shape.size() == 3 && (shape.back() == 1 || shape.back() == 2));
         return isRight ? std::string() : shapeText(shape);
       },
       kShapes},
      {"inputs 'frame_step' and 'frame_length' must have one element each, at least 1",
       [](const NodeView &node) -> std::string {
         for (const size_t i : {kStep, kLength})
           if (node.has(i) && (node.in(i).known->size() != 1 || node.knownInts(i)[0] < 1))
             return fmt::format("{}", shapeText(node.knownInts(i)));
         return "";
       },
       kShapes},
      {"'window' must be a vector of one frame's length; it or 'frame_length' must be given",
       [](const NodeView &node) -> std::string {
         if (!node.has(kWindow))
           return node.has(kLength) ? "" : "neither";
         const Shape &shape = node.in(kWindow).shape;
         return shape.size() == 1 && shape[0] == frameLength(node) ? "" : shapeText(shape);
       },
       kShapes},
      {"the signal must be at least as long as a frame",
       [](const NodeView &node) -> std::string {
         const int64_t length = frameLength(node);
         return length >= 1 && length <= node.in(kSignal).shape[1]
                    ? ""
                    : fmt::format("frame length {} for {}", length,
                                  shapeText(node.in(kSignal).shape));
       },
       kShapes},
      {fmt::format("the transform matrix must have at most {} elements", kMostWeights),
       [](const NodeView &node) -> std::string {
         return transformOfFrames(node).isTooLarge() ? fmt::format("{} points", frameLength(node))
                                                     : "";
       }},
      {"with 'onesided' 1, the last extent of 'signal' must be 1",
       [](const NodeView &node) -> std::string {
         return node.integer("onesided") == 0 || signalParts(node) == 1
                    ? ""
                    : shapeText(node.in(kSignal).shape);
       },
       kShapes}};
  entry.build = buildStft;
  return entry;
}

} // namespace

void addFourier(OperatorTable &table) {
  table.add({17}, dft(false));
  table.add({20}, dft(true));
  table.add({17}, stft());
}

} // namespace sluice::frontend::ops
