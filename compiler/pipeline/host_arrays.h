// What the host makes the inputs of a program from, and the outputs of a model from the program's.
#pragma once

#include "compiler/pipeline/pipeline.h"

namespace sluice::pipeline {

/// Sets lookups, quantisation and arrays of `model`, whose inputs and outputs are those of
/// `result`; nothing if `result` does not say what they are made from, as a changed model that is
/// only measured does not.
void setArrays(const CompileResult &result, format::Model &model);

} // namespace sluice::pipeline
