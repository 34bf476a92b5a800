// The words of a `step` attribute: what a vector beat does besides passing its operand on.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "mlir/IR/BuiltinAttributes.h"

namespace sluice::rows {

/// An entry of a step.
struct StepField {
  llvm::StringLiteral name;
  std::string_view enumName; ///< of the instruction set; empty: an fp32 immediate, or a flag
  bool isFlag = false;
};

/// All of them, in the order of the datapath.
llvm::ArrayRef<StepField> stepFields();

/// What is wrong with a step; `b` and `c` say which operands there are.
std::optional<std::string> stepProblem(mlir::DictionaryAttr step, bool b, bool c);

} // namespace sluice::rows
