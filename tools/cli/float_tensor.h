// Tensors of the golden evaluator as files have them.
#pragma once

#include <string>

#include "compiler/reference/tensor.h"
#include "tools/cli/io/tensor.h"

namespace sluice::cli {

/// Returns the tensor with elements of type float, rounded to the nearest.
io::Tensor floatTensor(const std::string &name, const reference::Tensor &tensor);

} // namespace sluice::cli
