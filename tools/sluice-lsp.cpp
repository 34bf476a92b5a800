// The language server of the project's textual IR, for editors.
#include <cstdlib>

#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "llvm/Support/LogicalResult.h"

#include "tools/dialects.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  sluice::registerDialects(registry);
  return llvm::succeeded(mlir::MlirLspServerMain(argc, argv, registry)) ? EXIT_SUCCESS
                                                                        : EXIT_FAILURE;
}
