// The parts of inputs that the host sends.
#pragma once

#include <string>
#include <vector>

#include "compiler/frontend/onnx/import.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace sluice::pipeline {

/// Whether each input of the function is made of an array of its own, element by element. What is
/// looked up, or made of the array of another input, is made of the whole array.
bool areOwn(const frontend::ImportedModel &model);

/// Says which input each argument is, so that parts may take its place (`takesParts`), or that none
/// may. Discards what was said before: a function that was printed may have parts.
void numberInputs(mlir::func::FuncOp main, bool takesParts);

/// Makes the inputs of `model` the arguments that the rewrites have left: whole inputs and parts of
/// them. If there are parts, or inputs that nothing reads, the inputs before become its arrays.
/// Returns a note for each input that nothing reads.
std::vector<std::string> takeParts(mlir::func::FuncOp main, frontend::ImportedModel &model);

} // namespace sluice::pipeline
