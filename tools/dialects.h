// The dialects that the tools for textual IR know.
#pragma once

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/DialectRegistry.h"

#include "compiler/dialect/core/dialect.h"
#include "compiler/dialect/rows/dialect.h"
#include "compiler/dialect/sluice/dialect.h"

namespace sluice {

inline void registerDialects(mlir::DialectRegistry &registry) {
  registry.insert<mlir::arith::ArithDialect, mlir::func::FuncDialect, mlir::math::MathDialect,
                  core::CoreDialect, rows::RowsDialect, ir::SluiceDialect>();
}

} // namespace sluice
