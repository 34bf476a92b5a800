// Passes from one dialect to the next; Passes.td says what each does.
#pragma once

#include "compiler/conversion/plan/plan.h"
#include "compiler/dialect/core/dialect.h"
#include "compiler/dialect/rows/dialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace sluice::conversion {

#define GEN_PASS_DECL
#include "compiler/conversion/model/passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "compiler/conversion/model/passes.h.inc"

} // namespace sluice::conversion
