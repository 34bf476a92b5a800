// The phases that work on MLIR: import, layout, and the lowering to rows.
#pragma once

#include <vector>

#include "compiler/conversion/rows/program.h"
#include "compiler/pipeline/compilation.h"
#include "compiler/pipeline/import_once.h"

namespace sluice::pipeline {

class Repairs;

/// Runs the phases up to options.stage: the forms of the model that are worth a plan
/// (conversion::formsOf). None if the problems say why, or if an earlier stage was asked for, whose
/// text is then in the result. `repairs` measures the changes that messages offer; without it, they
/// are offered unchecked.
std::vector<rows::Program> runFront(const CompileOptions &options, ImportOnce &imported,
                                    const format::Geometry &geometry, Compilation &made,
                                    Repairs *repairs);

} // namespace sluice::pipeline
