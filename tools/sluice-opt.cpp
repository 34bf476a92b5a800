// Runs any pass on any textual IR of the project.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

#include "compiler/conversion/model/passes.h"
#include "compiler/dialect/core/dialect.h"
#include "compiler/dialect/rows/dialect.h"
#include "compiler/dialect/sluice/dialect.h"
#include "compiler/transforms/passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry
      .insert<mlir::arith::ArithDialect, mlir::func::FuncDialect, mlir::math::MathDialect,
              sluice::core::CoreDialect, sluice::rows::RowsDialect, sluice::ir::SluiceDialect>();
  sluice::ir::registerSluicePasses();
  sluice::conversion::registerSluiceConversionPasses();
  mlir::registerCanonicalizerPass();
  mlir::registerCSEPass();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "sluice IR optimiser driver\n", registry));
}
