// The phases that work on MLIR: import, layout, and the lowering to rows.
#pragma once

#include <vector>

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include "compiler/conversion/model/fastest_plan.h"
#include "compiler/pipeline/compilation.h"
#include "compiler/pipeline/import_once.h"

namespace sluice::pipeline {

class Repairs;

/// The forms of a model that are worth a plan (conversion::formsOf).
struct FrontForms {
  mlir::OwningOpRef<mlir::ModuleOp> module; ///< that variants are lowered from
  std::vector<conversion::Form> forms;
};

/// Runs the phases up to options.stage and returns the forms of the model. None if the problems say
/// why, or if an earlier stage was asked for, whose text is then in the result. `repairs` measures
/// the changes that messages offer; without it, they are offered unchecked.
FrontForms runFront(const CompileOptions &options, ImportOnce &imported,
                    const format::Geometry &geometry, Compilation &made, Repairs *repairs);

} // namespace sluice::pipeline
