// The forms of a model that are worth a plan: they compute the same, row by row, with
// factors behind the products, with shorter ways through the cell of a state, or as loops
// over positions.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "mlir/IR/BuiltinOps.h"

#include "compiler/conversion/model/fastest_plan.h"
#include "compiler/conversion/rows/lower.h"
#include "compiler/support/problem.h"

namespace sluice::conversion {

/// The forms of a model.
struct ModelForms {
  /// Verified programs, the plain one first, loops last; the variants of each with reduction trees
  /// of other shapes or its rows in another order follow it. None if the machine cannot compute the
  /// model.
  std::vector<Form> forms;
  std::vector<std::string> notes; ///< of rows::LoweringOptions
  Problems problems;              ///< at least one if there is no form
  /// The nodes that round to the integers of ONNX in all programs, by their index.
  std::set<int64_t> exactNodes;
  /// Forms are left out if no plan of theirs fits: the problems of the one that comes closest.
  Problems lacking = {};
};

/// Which forms are made.
struct FormOptions {
  bool onlyLoops = false; ///< if there are loops, no other form
  /// Without loops, rows that certainly lack memory are not made to find out how much they lack.
  bool onlyFitting = false;
};

/// Returns the forms of the function `main` of a module. The module must live until no more
/// variants are made.
ModelForms formsOf(mlir::ModuleOp module, const format::Geometry &geometry,
                   const rows::ModelInfo &model, const FormOptions &options);

} // namespace sluice::conversion
