// Operators that the table lacks: what is missing of them, as far as ONNX's own
// description of the operator says it, and what could be done.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/frontend/onnx/model_graph.h"

namespace sluice::frontend {

/// Reports a node that the table has no entry for: E0201, or E0202 if its version or
/// domain is at fault.
void reportUnsupported(const GraphNode &node, Report &report);

/// E0201 of an operator of ONNX that the table lacks, in any case of its name; nothing
/// if ONNX has none of that name, or the table has it.
std::optional<Problem> whyUnsupported(const std::string &op);

/// Returns the names of the operators of ONNX and of those in the operator table.
std::vector<std::string> operatorNames();

} // namespace sluice::frontend
