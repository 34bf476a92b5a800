// The forms of a model that are worth a plan: they compute the same, row by row, with
// factors behind the products, with shorter ways through the cell of a state, or as loops
// over positions.
#pragma once

#include <set>
#include <vector>

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include "compiler/conversion/rows/lower.h"
#include "compiler/conversion/rows/program.h"
#include "compiler/dialect/rows/dialect.h"
#include "compiler/support/problem_fwd.h"

namespace sluice::conversion {

/// Verified programs, the plain one first, loops last, each followed by what it is with trees of
/// other shapes. None, and at least one problem, if
/// the function, `main` of the module, cannot be computed by the machine. With `onlyLoops`
/// there is none but loops, if it has any. `notes` gets what was done in another way than asked
/// for (rows::LoweringOptions). `exactNodes` gets the nodes that round to the integers of ONNX in
/// all programs, by their index; may be null.
std::vector<mlir::OwningOpRef<rows::ProgramOp>>
formsOf(mlir::ModuleOp module, const format::Geometry &geometry, const rows::ModelInfo &model,
        bool onlyLoops, std::vector<std::string> &notes, Problems &problems,
        std::set<int64_t> *exactNodes = nullptr);

/// The programs of verified forms.
std::vector<rows::Program> programsOf(const std::vector<mlir::OwningOpRef<rows::ProgramOp>> &forms);

} // namespace sluice::conversion
