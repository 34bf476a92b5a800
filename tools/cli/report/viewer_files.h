// Files that show the figures of a program in viewers of models: Model Explorer and Netron.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tools/cli/report/node_figures.h"

namespace sluice::cli {

/// The endings of nodeDataFiles, in their order; the last one is that of the errors.
std::vector<std::string> nodeDataEndings(bool compared);

/// Returns the node data of Model Explorer, the text of a file for each figure. A viewer shows one
/// value of each node for each file.
std::vector<std::string> nodeDataFiles(const std::vector<NodeFigures> &figures, bool compared);

/// Keys of the properties of nodeProperties begin with this.
inline constexpr const char *kPropertyPrefix = "sluice.";

/// Returns the figures as properties of the nodes and of the model, which Netron shows.
frontend::Properties nodeProperties(const ReportSubject &subject,
                                    const std::vector<NodeFigures> &figures);

} // namespace sluice::cli
