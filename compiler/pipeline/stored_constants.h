// The constants of a model that lie in the local memories of cores.
#pragma once

#include "compiler/pipeline/stored_constant.h"
#include "compiler/support/problem.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "runtime/format/geometry.h"

namespace sluice::pipeline {

/// Returns the constants that the maps of a function read, those with most rows first. Constants of
/// less than an eighth of a local memory are left out.
std::vector<StoredConstant> storedConstants(mlir::func::FuncOp main,
                                            const format::Geometry &geometry);

/// Adds the largest constants to the notes of problems about too few local rows.
void nameConstants(const std::vector<StoredConstant> &constants, Problems &problems);

} // namespace sluice::pipeline
