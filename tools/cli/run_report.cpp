#include "tools/cli/run_report.h"

#include <cmath>

#include <fmt/format.h>

namespace sluice::cli {
namespace {

Json numberJson(double value) { return std::isfinite(value) ? Json(value) : Json("inf"); }

Json notFiniteJson(const NotFinite &found, const std::vector<int64_t> &shape) {
  const auto place = [&](size_t count, size_t first) {
    return count > 0 ? Json(placeOf(first, shape)) : Json(nullptr);
  };
  return {{"infinite", found.infinite},
          {"first_infinite", place(found.infinite, found.firstInfinite)},
          {"nan", found.nan},
          {"first_nan", place(found.nan, found.firstNan)}};
}

/// What differs first in an inference; "" if nothing does.
std::string inferenceDifference(const EngineRun &a, const EngineRun &b, size_t i) {
  const Inference &x = a.inferences[i];
  const Inference &y = b.inferences[i];
  for (size_t o = 0; o < x.outputs.size(); ++o)
    if (x.outputs[o].data != y.outputs[o].data)
      return fmt::format("inference {}: output '{}' differs in bits", i, x.outputs[o].name);
  if (x.cycles.first_input == y.cycles.first_input && x.cycles.last_output == y.cycles.last_output)
    return "";
  return fmt::format("inference {}: {} from cycle {} to {}, {} from cycle {} to {}", i, a.name,
                     x.cycles.first_input, x.cycles.last_output, b.name, y.cycles.first_input,
                     y.cycles.last_output);
}

} // namespace

bool equalRuns(const EngineRun &a, const EngineRun &b, std::string &difference) {
  for (size_t i = 0; i < a.inferences.size(); ++i)
    if (difference = inferenceDifference(a, b, i); !difference.empty())
      return false;
  if (a.costs != b.costs || a.state != b.state)
    difference = a.state != b.state ? "the saved state differs in bits"
                                    : fmt::format("{}: {}, {}: {}", a.name, costsText(a.costs),
                                                  b.name, costsText(b.costs));
  else
    difference = counterDifference(a.counters, b.counters);
  return difference.empty();
}

size_t differingInference(const EngineRun &a, const EngineRun &b) {
  for (size_t i = 0; i < a.inferences.size(); ++i)
    if (!inferenceDifference(a, b, i).empty())
      return i;
  return 0;
}

std::string valuesText(const io::Tensor &tensor) {
  std::vector<double> values = io::values(tensor);
  std::string some = notFiniteText(notFinite(tensor), tensor.shape);
  if (!some.empty())
    some.insert(0, "; ");
  if (values.size() <= 16)
    return fmt::format("{:.6g}{}", fmt::join(values, " "), some);
  const size_t all = values.size();
  std::erase_if(values, [](double value) { return !std::isfinite(value); });
  if (values.empty())
    return fmt::format("{} values, none finite{}", all, some);
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  return fmt::format("{} values from {:.6g} to {:.6g}{}", all, *low, *high, some);
}

Json comparisonJson(const Comparison &one) {
  return {{"ok", one.ok},
          {"max_abs_error", numberJson(one.maxError)},
          {"mean_abs_error", numberJson(one.meanError)},
          {"snr_db", one.snr && std::isfinite(*one.snr) ? Json(*one.snr) : Json(nullptr)},
          {"worst", placeOf(one.worst, one.shape)},
          {"reference_range", numberJson(one.range)},
          {"reference_magnitude", numberJson(one.magnitude)},
          {"near_constant", one.nearConstant()},
          {"not_finite", notFiniteJson(one.result, one.shape)},
          {"reference_not_finite", notFiniteJson(one.reference, one.shape)}};
}

Json noComparisonJson(const io::Tensor &result) {
  return {{"ok", nullptr},
          {"max_abs_error", nullptr},
          {"mean_abs_error", nullptr},
          {"snr_db", nullptr},
          {"worst", nullptr},
          {"reference_range", nullptr},
          {"reference_magnitude", nullptr},
          {"near_constant", nullptr},
          {"not_finite", notFiniteJson(notFinite(result), result.shape)},
          {"reference_not_finite", nullptr}};
}

} // namespace sluice::cli
