// What sluice compare says of the layers of a model.
#pragma once

#include <string>

#include "compiler/check/layer_errors.h"
#include "tools/cli/command_output.h"
#include "tools/cli/requirements.h"

namespace sluice::cli {

/// How often a label was the class with the largest output, and among the five largest.
struct Accuracy {
  uint64_t labels = 0, top1 = 0, top5 = 0;
  size_t classes = 0; ///< of the output

  /// Counts one inference; `label` is below the number of scores.
  void add(const std::vector<double> &scores, size_t label);
  [[nodiscard]] double percent(uint64_t count) const {
    return 100 * static_cast<double>(count) / static_cast<double>(labels);
  }
  [[nodiscard]] Json json() const;
  /// "96.1 % (top 5: 99.8 %)"
  [[nodiscard]] std::string text() const;
};

/// An error as a share of the range of its tensor; 0 of a range of 0. "0.31 %" in text.
double percentOfRange(double error, double range);
std::string shareOfRange(double error, double range);

/// The largest share that an element's error has of its bound; 0 without a bound.
double shareOfBound(const check::TensorError &layer);

/// A line for every layer, then one for every output.
std::string layersText(const check::LayerErrors &errors);

/// The members "layers", "unseen", "first_wrong" and "outputs".
Json layersJson(const check::LayerErrors &errors);

/// The quantities of --require. Without `errors` they have no values; `accuracy` is null without
/// labels.
std::vector<Quantity> quantitiesOf(const check::LayerErrors *errors, const Accuracy *accuracy);

/// E0619 of the first wrong layer. `reference`: what it is compared with; `many`: there are several
/// samples or steps.
Problem wrongLayer(const check::LayerErrors &errors, std::string_view reference, uint64_t steps);

} // namespace sluice::cli
