// What is rewritten between layout and rows, and what of it can be left out.
#pragma once

#include <string>
#include <vector>

#include "compiler/support/problem.h"
#include "mlir/Pass/PassManager.h"

namespace sluice::pipeline {

/// The passes, without the rewrites of these names.
void addRewrites(mlir::OpPassManager &perFunction, const std::vector<std::string> &without);

/// Names that no rewrite has: E0601 for each.
Problems unknownRewrites(mlir::MLIRContext &context, const std::vector<std::string> &without);

} // namespace sluice::pipeline
