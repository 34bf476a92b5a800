// HannWindow, HammingWindow, BlackmanWindow, MelWeightMatrix: known at import.
#include <cmath>

#include <fmt/format.h>

#include "compiler/frontend/onnx/ops/common.h"
#include "compiler/frontend/onnx/ops/families.h"

namespace sluice::frontend::ops {
namespace {

using Proto = onnx::TensorProto;

DataType outputType(const NodeView &node) {
  const int64_t type = node.integer("output_datatype");
  return static_cast<DataType>(type >= 0 && type <= 100 ? type : 0);
}

double numberOf(const NodeView &node, size_t input) {
  const HostTensor &known = *node.in(input).known;
  return known.isFloat() ? double{known.floats[0]} : static_cast<double>(known.ints[0]);
}

/// A tensor of the type that the attribute says; integers are cut toward zero.
Tensor ofNumbers(const NodeView &node, Shape shape, const std::vector<double> &values) {
  HostTensor out{outputType(node), std::move(shape), {}, {}};
  for (const double value : values)
    if (out.isFloat())
      out.floats.push_back(roundToType(value, out.type));
    else
      out.ints.push_back(wrapToType(static_cast<int64_t>(value), out.type));
  return Tensor::ofKnown(std::move(out));
}

Requirement outputTypeIsNumeric() {
  return {"attribute 'output_datatype' must be a float or integer type",
          [](const NodeView &node) -> std::string {
            const DataType type = outputType(node);
            return isFloatType(type) || (isIntegerType(type) && type != Proto::BOOL)
                       ? ""
                       : fmt::format("{} ({})", node.integer("output_datatype"),
                                     dataTypeName(type));
          }};
}

Requirement oneElementEach() {
  return {"every input must have one element",
          [](const NodeView &node) -> std::string {
            for (size_t i = 0; i < node.inputCount(); ++i)
              if (node.in(i).known->size() != 1)
                return inputShapes(node);
            return "";
          },
          kShapes};
}

/// A sum of cosines: a0 - a1 cos(t) + a2 cos(2 t), t from 0 to 2 pi over the window.
Operator window(const char *name, double a0, double a1, double a2) {
  Operator entry;
  entry.name = name;
  entry.form = "known at compile time";
  entry.inputs = {{"size", Types::Integer, Presence::Required, true}};
  entry.outputs = {{"output"}};
  entry.attributes = {{"output_datatype", AttributeKind::Int, int64_t{Proto::FLOAT}},
                      {"periodic", AttributeKind::Int, int64_t{1}, false, {0, 1}}};
  entry.requirements = {oneElementEach(),
                        outputTypeIsNumeric(),
                        {fmt::format("input 'size' must be in [0, {}]", kMostFoldedElements),
                         [](const NodeView &node) -> std::string {
                           const int64_t size = node.knownInts(0)[0];
                           return size >= 0 && size <= kMostFoldedElements
                                      ? ""
                                      : fmt::format("{}", size);
                         },
                         kShapes}};
  entry.build = [=](NodeBuilder &node) {
    const int64_t size = node.knownInts(0)[0];
    const int64_t steps = node.integer("periodic") != 0 ? size : size - 1;
    std::vector<double> values;
    for (int64_t i = 0; i < size; ++i) {
      const double t =
          steps == 0 ? 0 : 2 * M_PI * static_cast<double>(i) / static_cast<double>(steps);
      values.push_back(a0 - a1 * std::cos(t) + a2 * std::cos(2 * t));
    }
    node.result(ofNumbers(node, {size}, values));
  };
  return entry;
}

//===-- MelWeightMatrix -----------------------------------------------------------------------===//

enum MelInput : size_t { kBins, kLength, kRate, kLowestFrequency, kHighestFrequency };

double toMel(double hertz) { return 2595 * std::log10(1 + hertz / 700); }
double toHertz(double mel) { return 700 * (std::pow(10, mel / 2595) - 1); }

/// The lines of the spectrum where the triangles of the bins begin, peak and end: whole numbers, of
/// any size.
std::vector<double> corners(const NodeView &node) {
  const int64_t points = node.knownInts(kBins)[0] + 2;
  const double low = toMel(numberOf(node, kLowestFrequency)),
               high = toMel(numberOf(node, kHighestFrequency));
  const double step = (high - low) / static_cast<double>(points);
  std::vector<double> out;
  for (int64_t i = 0; i < points; ++i)
    out.push_back(std::floor(static_cast<double>(node.knownInts(kLength)[0] + 1) *
                             toHertz(static_cast<double>(i) * step + low) /
                             static_cast<double>(node.knownInts(kRate)[0])));
  return out;
}

/// Whether all bins peak at a line of the spectrum, and none reaches beyond its end.
bool isInside(const std::vector<double> &corners, int64_t lines) {
  const auto end = static_cast<double>(lines);
  return corners.front() >= 0 && corners[corners.size() - 2] < end && corners.back() <= end;
}

void buildMelWeights(NodeBuilder &node) {
  const int64_t bins = node.knownInts(kBins)[0], lines = node.knownInts(kLength)[0] / 2 + 1;
  const std::vector<double> lineOf = corners(node);
  const std::vector<int64_t> at(lineOf.begin(), lineOf.end());
  std::vector<double> weights(lines * bins, 0.0);
  for (int64_t bin = 0; bin < bins; ++bin) {
    const int64_t first = at[bin], peak = at[bin + 1], last = at[bin + 2];
    const auto set = [&](int64_t line, int64_t part, int64_t whole) {
      weights[line * bins + bin] = static_cast<double>(part) / static_cast<double>(whole);
    };
    if (first == peak)
      set(peak, 1, 1);
    else
      for (int64_t line = first; line <= peak; ++line)
        set(line, line - first, peak - first);
    for (int64_t line = peak; line < last; ++line)
      set(line, last - line, last - peak);
  }
  node.result(ofNumbers(node, {lines, bins}, weights));
}

Operator melWeightMatrix() {
  Operator entry;
  entry.name = "MelWeightMatrix";
  entry.form = "known at compile time";
  entry.inputs = {{"num_mel_bins", Types::Integer, Presence::Required, true},
                  {"dft_length", Types::Integer, Presence::Required, true},
                  {"sample_rate", Types::Integer, Presence::Required, true},
                  {"lower_edge_hertz", Types::Float, Presence::Required, true},
                  {"upper_edge_hertz", Types::Float, Presence::Required, true}};
  entry.outputs = {{"output"}};
  entry.attributes = {{"output_datatype", AttributeKind::Int, int64_t{Proto::FLOAT}}};
  entry.requirements = {
      oneElementEach(),
      outputTypeIsNumeric(),
      {fmt::format("'num_mel_bins', 'dft_length' and 'sample_rate' must be at least 1, and the "
                   "result at most {} elements",
                   kMostFoldedElements),
       [](const NodeView &node) -> std::string {
         const int64_t bins = node.knownInts(kBins)[0], length = node.knownInts(kLength)[0],
                       rate = node.knownInts(kRate)[0];
         const bool positive = bins >= 1 && length >= 1 && rate >= 1;
         return positive && elementCount({length / 2 + 1, bins}, kMostFoldedElements) >= 0
                    ? ""
                    : fmt::format("{}, {} and {}", bins, length, rate);
       },
       kShapes},
      {"'lower_edge_hertz' must be in [0, 'upper_edge_hertz'], and the last bin peak inside the "
       "spectrum",
       [](const NodeView &node) -> std::string {
         const double low = numberOf(node, kLowestFrequency),
                      high = numberOf(node, kHighestFrequency);
         const bool ordered = low >= 0 && high >= low && std::isfinite(high);
         return ordered && isInside(corners(node), node.knownInts(kLength)[0] / 2 + 1)
                    ? ""
                    : fmt::format("{} and {}", low, high);
       },
       kShapes}};
  entry.build = buildMelWeights;
  return entry;
}

} // namespace

void addSignalWindows(OperatorTable &table) {
  table.add({17}, window("HannWindow", 0.5, 0.5, 0));
  table.add({17}, window("HammingWindow", 25.0 / 46, 21.0 / 46, 0));
  table.add({17}, window("BlackmanWindow", 0.42, 0.5, 0.08));
  table.add({17}, melWeightMatrix());
}

} // namespace sluice::frontend::ops
