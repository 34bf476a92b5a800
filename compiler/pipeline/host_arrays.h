// What the host makes the inputs of a program from, and the outputs of a model from the program's.
#pragma once

#include "compiler/frontend/onnx/import.h"
#include "compiler/pipeline/pipeline.h"

namespace sluice::pipeline {

/// Returns an input or output with its name, shape, type and limits.
format::HostTensor hostTensor(const frontend::ImportedTensor &imported);

/// Returns the table of a lookup as the host has it: of integers that wrap around, only those from
/// 0 on.
format::Lookup lookupOf(const frontend::ArrayLookup &from);

/// Sets lookups, quantisation and arrays of `model`, whose inputs and outputs are those of
/// `result`; nothing if `result` does not say what they are made from, as a changed model that is
/// only measured does not.
void setArrays(const CompileResult &result, format::Model &model);

} // namespace sluice::pipeline
