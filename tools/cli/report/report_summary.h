// The sentences with which a report begins.
#pragma once

#include <string>
#include <vector>

#include "tools/cli/layer_difference.h"
#include "tools/cli/report/report_data.h"

namespace sluice::cli {

/// The latency, where the cycles go, the slowest layer, how the work divides among the cores, and
/// what would help most. Without a model, the last one is missing. `uses` lists the layers.
std::vector<std::string> reportSummary(const ReportSubject &subject, const Listing &listing,
                                       const std::vector<LayerUse> &uses);

} // namespace sluice::cli
