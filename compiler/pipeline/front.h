// The phases that know MLIR's sluice dialect: import, layout, rows.
#pragma once

#include <vector>

#include "compiler/conversion/row_graph.h"
#include "compiler/pipeline/pipeline.h"

namespace sluice::pipeline {

/// From the model file to row graphs that compute the same, the plainest first: which
/// of them is fastest, only plans can say. Stops earlier, without a graph but with
/// text in `result`, if options.stage says so. Nothing else is left of the model.
std::vector<rows::Graph> runFront(const CompileOptions &options, const format::Geometry &geometry,
                                  CompileResult &result, Problems &problems);

} // namespace sluice::pipeline
