// What is rewritten between layout and rows, and what of it can be left out.
#pragma once

#include <string>
#include <vector>

#include "compiler/support/problem.h"
#include "mlir/IR/BuiltinOps.h"
#include "runtime/format/geometry.h"

namespace sluice::pipeline {

/// The name of the rewrite of selects by known conditions.
inline constexpr const char *kSplitChoices = "split-choices";

/// Whether the passes for a target, without the rewrites of these names, have
/// changed the functions of a module to others that are right: found out once, behind the last of
/// them.
bool rewrite(mlir::ModuleOp module, const format::Geometry &geometry,
             const std::vector<std::string> &without);

/// Names that no rewrite has: E0601 for each.
Problems unknownRewrites(mlir::MLIRContext &context, const std::vector<std::string> &without);

} // namespace sluice::pipeline
