// What the host makes the inputs of a program from, and the outputs of a model from the program's.
#pragma once

#include "compiler/pipeline/pipeline.h"

namespace sluice::pipeline {

/// Sets lookups, quantisation and arrays of `model`, whose inputs and outputs are those of
/// `result`.
void setArrays(const CompileResult &result, format::Model &model);

} // namespace sluice::pipeline
