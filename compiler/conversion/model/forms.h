// The forms of a model that are worth a plan: they compute the same, row by row, with
// factors behind the products, with shorter ways through the cell of a state, or as loops
// over positions.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include "compiler/conversion/rows/lower.h"
#include "compiler/conversion/rows/program.h"
#include "compiler/dialect/rows/dialect.h"
#include "compiler/support/problem.h"

namespace sluice::conversion {

/// The forms of a model.
struct ModelForms {
  /// Verified programs, the plain one first, loops last; the variants of each with reduction trees
  /// of other shapes follow it. None if the machine cannot compute the model.
  std::vector<mlir::OwningOpRef<rows::ProgramOp>> forms;
  std::vector<std::string> notes; ///< of rows::LoweringOptions
  Problems problems;              ///< at least one if there is no form
  /// The nodes that round to the integers of ONNX in all programs, by their index.
  std::set<int64_t> exactNodes;
  /// Forms are left out if no plan of theirs fits: the problems of the one that comes closest.
  Problems lacking = {};
};

/// Returns the forms of the function `main` of a module. With `onlyLoops` there is none but loops,
/// if it has any.
ModelForms formsOf(mlir::ModuleOp module, const format::Geometry &geometry,
                   const rows::ModelInfo &model, bool onlyLoops);

/// The programs of verified forms.
std::vector<rows::Program> programsOf(const std::vector<mlir::OwningOpRef<rows::ProgramOp>> &forms);

} // namespace sluice::conversion
