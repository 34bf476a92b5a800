#include "tools/cli/compare_report.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "compiler/support/problem_text.h"
#include "hw/numerics/bf16.h"
#include "tools/cli/table.h"
#include "tools/cli/tensor_error.h"

namespace sluice::cli {
namespace {

using check::TensorError;

Json numberJson(double value) { return std::isfinite(value) ? Json(value) : Json("inf"); }

/// A number, or the text "inf", "-inf" or "nan".
Json valueJson(double value) {
  return std::isfinite(value) ? Json(value) : Json(fmt::format("{}", value));
}

Json nodeJson(const NodeRef &node) {
  if (node.index < 0)
    return nullptr;
  return {{"index", node.index}, {"name", node.name}, {"op", node.op}};
}

/// How often the largest element can be doubled; nothing of zeros.
std::optional<double> doublings(const TensorError &tensor) {
  if (tensor.magnitude == 0)
    return std::nullopt;
  return std::log2(numerics::kLargestBf16 / tensor.magnitude);
}

std::string snrText(const std::optional<double> &snr) {
  return snr && std::isfinite(*snr) ? fmt::format("{:.1f} dB", *snr) : "";
}

Json snrJson(const std::optional<double> &snr) {
  return snr && std::isfinite(*snr) ? Json(*snr) : Json(nullptr);
}

std::string uncheckedText(const TensorError &layer) {
  if (layer.checked == layer.elements)
    return "";
  return fmt::format("{:.3g} %", 100 * static_cast<double>(layer.elements - layer.checked) /
                                     static_cast<double>(layer.elements));
}

Json worstJson(const TensorError &layer) {
  if (!layer.worst)
    return nullptr;
  const auto &worst = *layer.worst;
  return {{"index", placeOf(worst.element, layer.shape)},
          {"sample", layer.worstAt.sample},
          {"step", layer.worstAt.step},
          {"found", valueJson(worst.found)},
          {"expected", valueJson(worst.wanted)},
          {"bound", numberJson(worst.bound)}};
}

Json layerJson(const TensorError &layer) {
  const auto room = doublings(layer);
  return {{"node", nodeJson(layer.node)},
          {"tensor", layer.tensor},
          {"shape", layer.shape},
          {"elements", layer.elements},
          {"unchecked", layer.elements - layer.checked},
          {"beyond", layer.beyond},
          {"max_abs_error", layer.largest ? numberJson(layer.largest->error) : Json(nullptr)},
          {"mean_abs_error", numberJson(layer.meanError)},
          {"bound", layer.largest ? numberJson(layer.largest->bound) : Json(nullptr)},
          {"share_of_bound", numberJson(shareOfBound(layer))},
          {"snr_db", snrJson(layer.snr)},
          {"range", numberJson(layer.range)},
          {"magnitude", numberJson(layer.magnitude)},
          {"doublings_to_overflow", room ? Json(*room) : Json(nullptr)},
          {"worst", worstJson(layer)},
          {"ok", !layer.isWrong()}};
}

Json outputJson(const TensorError &output) {
  return {{"name", output.tensor},
          {"max_abs_error", numberJson(output.largestError)},
          {"mean_abs_error", numberJson(output.meanError)},
          {"snr_db", snrJson(output.snr)},
          {"range", numberJson(output.range)}};
}

} // namespace

double percentOfRange(double error, double range) { return range > 0 ? 100 * error / range : 0; }

std::string shareOfRange(double error, double range) {
  return fmt::format("{:.3g} %", percentOfRange(error, range));
}

double shareOfBound(const TensorError &layer) {
  return layer.worst ? layer.worst->shareOfBound() : 0;
}

void Accuracy::add(const std::vector<double> &scores, size_t label) {
  constexpr size_t kTop = 5;
  classes = scores.size();
  // Of equal scores the first class counts as larger.
  size_t larger = 0;
  for (size_t i = 0; i < scores.size(); ++i)
    larger += scores[i] > scores[label] || (scores[i] == scores[label] && i < label) ? 1 : 0;
  ++labels;
  top1 += larger == 0 ? 1 : 0;
  top5 += larger < kTop ? 1 : 0;
}

Json Accuracy::json() const {
  return {{"top1_percent", percent(top1)}, {"top5_percent", percent(top5)}};
}

std::string Accuracy::text() const {
  return fmt::format("top 1 {:.4g} %, top 5 {:.4g} %", percent(top1), percent(top5));
}

std::string layersText(const check::LayerErrors &errors) {
  Table table{{"node", "tensor", "max error", "of range", "of bound", "SNR", "range", "to overflow",
               "unchecked"},
              {}};
  for (const TensorError &layer : errors.layers) {
    const auto room = doublings(layer);
    const double error = layer.largest ? layer.largest->error : 0;
    table.rows.push_back(
        {layer.node.index < 0 ? "" : nodeText(layer.node), layer.tensor,
         layer.largest ? fmt::format("{:.3g}", error) : "unchecked",
         shareOfRange(error, layer.range), fmt::format("{:.3g} %", 100 * shareOfBound(layer)),
         snrText(layer.snr), fmt::format("{:.4g}", layer.range),
         room ? fmt::format("2^{:.0f}", std::floor(*room)) : "", uncheckedText(layer)});
  }
  std::string text = table.text();
  for (const TensorError &output : errors.outputs) {
    text += fmt::format("output {} {}: max error {:.6g}, {} of the range {:.6g}; mean {:.6g}",
                        printable(output.tensor), shapeText(output.shape), output.largestError,
                        shareOfRange(output.largestError, output.range), output.range,
                        output.meanError);
    const std::string snr = snrText(output.snr);
    text += snr.empty() ? "\n" : fmt::format("; SNR {}\n", snr);
  }
  return text;
}

Json layersJson(const check::LayerErrors &errors) {
  Json layers = Json::array(), unseen = Json::array(), outputs = Json::array();
  for (const TensorError &layer : errors.layers)
    layers.push_back(layerJson(layer));
  for (const auto &[tensor, node] : errors.unseen)
    unseen.push_back({{"node", nodeJson(node)}, {"tensor", tensor}});
  for (const TensorError &output : errors.outputs)
    outputs.push_back(outputJson(output));
  return {{"layers", layers},
          {"unseen", unseen},
          {"first_wrong",
           errors.firstWrong ? nodeJson(errors.layers[*errors.firstWrong].node) : Json(nullptr)},
          {"outputs", outputs}};
}

std::vector<Quantity> quantitiesOf(const check::LayerErrors *errors, const Accuracy *accuracy) {
  Quantity error{"error", "%"}, snr{"snr", "dB"}, bound{"bound", "%"};
  if (errors) {
    for (const TensorError &output : errors->outputs) {
      const double share = output.largestError == 0
                               ? 0
                               : 100 * output.largestError / output.range; // may be infinite
      error.value = std::max(error.value.value_or(0), share);
      constexpr double kNoError = std::numeric_limits<double>::infinity();
      snr.value = std::min(snr.value.value_or(kNoError), output.snr.value_or(kNoError));
    }
    for (const TensorError &layer : errors->layers)
      if (layer.checked > 0)
        bound.value = std::max(bound.value.value_or(0), 100 * shareOfBound(layer));
  }
  std::vector<Quantity> quantities{error, snr, bound};
  if (accuracy) {
    Quantity top1{"top1", "%"}, top5{"top5", "%"};
    if (accuracy->labels > 0) {
      top1.value = accuracy->percent(accuracy->top1);
      top5.value = accuracy->percent(accuracy->top5);
    }
    quantities.insert(quantities.end(), {top1, top5});
  }
  return quantities;
}

Problem wrongLayer(const check::LayerErrors &errors, std::string_view reference, uint64_t steps) {
  const TensorError &layer = errors.layers[*errors.firstWrong];
  const check::CheckedElement &worst = *layer.worst;
  Problem wrong =
      problem("E0619", fmt::format("'{}' is {:.6g} at {}, {} gives {:.6g}, allowed error {:.3g}",
                                   layer.tensor, worst.found, placeText(worst.element, layer.shape),
                                   reference, worst.wanted, worst.bound));
  if (layer.node.index >= 0)
    wrong.node = layer.node;
  const auto in = [&](check::Moment at) {
    return steps > 1 ? fmt::format("sample {}, step {}", at.sample, at.step)
                     : fmt::format("sample {}", at.sample);
  };
  wrong.notes.push_back(fmt::format("{} of {} elements are beyond their bounds, the first in {}",
                                    layer.beyond, layer.elements, in(layer.firstBeyond)));
  wrong.notes.push_back(fmt::format("the values above are of {}", in(layer.worstAt)));
  std::vector<std::string> fused;
  for (const NodeRef &node : errors.before)
    fused.push_back(nodeText(node));
  if (!fused.empty())
    wrong.notes.push_back(
        fmt::format("the fault may also be in a node fused with it: {}", fmt::join(fused, ", ")));
  return wrong;
}

} // namespace sluice::cli
