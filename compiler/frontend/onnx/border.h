// What the host makes of the inputs of a model before the accelerator reads them, and of its
// results.
#pragma once

#include <vector>

#include "compiler/frontend/onnx/import.h"
#include "compiler/reference/tensor.h"

namespace sluice::frontend {

/// Returns the arguments of the imported function from the inputs of the model: what the host looks
/// up is looked up, and what it quantises is quantised. Looked-up values are those of the table,
/// not rounded.
reference::Tensors argumentsOf(const ImportedModel &model, const reference::Tensors &inputs);
reference::Tensors argumentsOf(const std::vector<ImportedTensor> &arguments,
                               const reference::Tensors &inputs);

/// Returns an output of the model from a result of the function.
reference::Tensor outputOf(const ImportedTensor &output, reference::Tensor result);

} // namespace sluice::frontend
