// What stays of a model that is cut: the nodes before and behind the compiled part, as models.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compiler/frontend/onnx/import.h"
#include "compiler/support/problem.h"

namespace sluice::frontend {

/// Models as the bytes of ONNX files; empty: there are no such nodes.
struct Rest {
  std::string before, behind;
  std::vector<std::string> inputs, outputs; ///< of the whole model
};

/// Returns the rest of the model at `options.path`, with all weights inside. The outputs of
/// `before` are the inputs of the compiled part, and what `behind` and the outputs of the model
/// need. The inputs of `behind` are `outputs`, which are those of the compiled part, and what it
/// needs of `before` and of the model's inputs. Returns problems (E0121: a tensor inside the part
/// is needed; E0103: more than a file can have) instead.
Rest restOf(const ImportOptions &options, const std::vector<ImportedTensor> &outputs,
            Problems &problems);

} // namespace sluice::frontend
