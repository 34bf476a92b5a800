// The cut that is offered for a model with nodes that are not supported.
#pragma once

#include "compiler/pipeline/pipeline.h"

namespace sluice::pipeline {

/// Adds the cut that leaves the most multiply-accumulates on the accelerator to the first problem
/// of an operator that is not supported, and to its equals. Adds nothing if the part of the cut has
/// no layout, or if the work of another part is not known.
void offerCut(const CompileOptions &options, Problems &problems);

} // namespace sluice::pipeline
