// Runs any pass on any textual IR of the project.
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

#include "compiler/conversion/model/passes.h"
#include "compiler/transforms/passes.h"
#include "tools/dialects.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  sluice::registerDialects(registry);
  sluice::ir::registerSluicePasses();
  sluice::conversion::registerSluiceConversionPasses();
  mlir::registerCanonicalizerPass();
  mlir::registerCSEPass();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "sluice IR optimiser driver\n", registry));
}
