// Runs any pass on any textual IR of the project.
#include "mlir/Debug/CLOptionsSetup.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/Timing.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/CommandLine.h"

#include "compiler/conversion/model/passes.h"
#include "compiler/transforms/passes.h"
#include "tools/dialects.h"

namespace {

constexpr const char *kOverview =
    R"(runs passes on textual IR of Sluice, in the order of their flags

Example: sluice compile model.onnx --target c2b8 --emit layout -o layout.mlir
         sluice-opt layout.mlir --sluice-fuse-maps --convert-sluice-to-rows

Below, the options of a pass follow its flag. Type them after '=', separated by
spaces: --convert-sluice-to-rows='target=c6b32 loops'. --help-hidden also lists
the options of the LLVM libraries.
)";

/// The options of LLVM's and MLIR's libraries that --help lists.
constexpr const char *kUsefulOptions[] = {"help",
                                          "mlir-print-debuginfo",
                                          "mlir-print-ir-after-all",
                                          "mlir-print-ir-after-change",
                                          "mlir-print-ir-before-all",
                                          "mlir-timing",
                                          "version"};

/// Leaves the options of LLVM's and MLIR's libraries to --help-hidden, except the useful ones.
/// Options that are registered later, like those of the passes, stay in --help.
void hideOptionsOfLibraries() {
  mlir::registerAsmPrinterCLOptions();
  mlir::registerMLIRContextCLOptions();
  mlir::registerPassManagerCLOptions();
  mlir::registerDefaultTimingManagerCLOptions();
  mlir::tracing::DebugConfig::registerCLOptions();
  for (const auto &entry : llvm::cl::getRegisteredOptions())
    if (entry.second->getOptionHiddenFlag() == llvm::cl::NotHidden &&
        !llvm::is_contained(kUsefulOptions, entry.first()))
      entry.second->setHiddenFlag(llvm::cl::Hidden);
}

} // namespace

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  sluice::registerDialects(registry);
  sluice::ir::registerSluicePasses();
  sluice::conversion::registerSluiceConversionPasses();
  mlir::registerCanonicalizerPass();
  mlir::registerCSEPass();
  hideOptionsOfLibraries();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, kOverview, registry));
}
