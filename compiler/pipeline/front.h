// The phases that know MLIR's sluice dialect: import, layout, rows.
#pragma once

#include <optional>

#include "compiler/conversion/row_graph.h"
#include "compiler/pipeline/pipeline.h"

namespace sluice::pipeline {

/// From the model file to the row graph. Stops earlier, with text in `result`,
/// if options.stage says so. Nothing is left of the model but the graph.
std::optional<rows::Graph> runFront(const CompileOptions &options, const format::Geometry &geometry,
                                    CompileResult &result, Problems &problems);

} // namespace sluice::pipeline
