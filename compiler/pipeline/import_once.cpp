#include "compiler/pipeline/import_once.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/IRMapping.h"

#include "compiler/check/check_program.h"
#include "compiler/dialect/sluice/folding.h"
#include "compiler/frontend/onnx/border.h"
#include "compiler/pipeline/host_attributes.h"
#include "compiler/pipeline/textual_model.h"

namespace sluice::pipeline {

frontend::ImportOptions importOptions(const CompileOptions &options) {
  frontend::ImportOptions import;
  import.path = options.modelPath;
  import.externalData = options.externalDataDir;
  import.cut = options.cut;
  for (const auto &[name, shape] : options.inputShapes)
    import.inputShapes[name] = shape;
  for (const Binding &one : options.bindings)
    import.bindings[one.name] = one.value;
  import.states = options.states;
  import.fixedRandom = options.fixedRandom;
  import.isStreamed = !options.streaming.inputs.empty();
  return import;
}

ImportOnce::ImportOnce(const CompileOptions &options)
    : options(options),
      ownContext(std::make_shared<mlir::MLIRContext>(mlir::MLIRContext::Threading::DISABLED)) {
  ownContext->printOpOnDiagnostic(false);
}

ImportOnce::Copy ImportOnce::copy(Problems &problems) {
  if (!isRead)
    read();
  llvm::append_range(problems, found);
  Copy copy{nullptr, info};
  if (!found.empty() || !module)
    return copy;
  mlir::IRMapping mapping;
  copy.module = llvm::cast<mlir::ModuleOp>((*module)->clone(mapping));
  for (frontend::GraphTensor &tensor : copy.info.tensors)
    if (tensor.value)
      tensor.value = mapping.lookupOrNull(tensor.value);
  return copy;
}

void ImportOnce::setOracle(CompileResult &result, Problems &problems) {
  if (!oracle) {
    oracle = std::make_shared<const check::Oracle>(ownContext, *module, info);
    if (options.calibration)
      for (const reference::Tensors &arrays : options.calibration(oracle->arrays(), problems))
        calibration.push_back(frontend::argumentsOf(oracle->inputs(), arrays));
  }
  result.oracle = oracle;
  result.calibration = calibration;
}

void ImportOnce::read() {
  isRead = true;
  if (options.progress)
    options.progress->stage("importing");
  const mlir::ScopedDiagnosticHandler handler(
      ownContext.get(), [this](mlir::Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error)
          mlirErrors.push_back(diagnostic.str());
      });
  module = import();
  if (module)
    if (auto main = module->lookupSymbol<mlir::func::FuncOp>("main")) {
      llvm::append_range(found, ir::foldingProblems(main));
      setHostAttributes(main, info);
    }
}

mlir::OwningOpRef<mlir::ModuleOp> ImportOnce::import() {
  const frontend::ImportOptions import = importOptions(options);
  const bool textual = llvm::StringRef(options.modelPath).ends_with(".mlir");
  if (!textual)
    return frontend::importModel(*ownContext, import, info, found);
  return isAsItIs() ? readTextualModel(*ownContext, options.modelPath, info, found) : nullptr;
}

/// Whether nothing is said of the inputs: textual IR says everything itself.
bool ImportOnce::isAsItIs() {
  const auto refuse = [&](const char *code, const char *message) {
    Problem &problem = found.emplace_back();
    problem.code = code;
    problem.message = message;
  };
  if (!options.cut.isEmpty())
    refuse("E0121", "--inputs and --outputs need an ONNX model; textual IR is compiled as a whole");
  if (!options.inputShapes.empty())
    refuse("E0112", "--input-shape needs an ONNX model; in textual IR the types give the shapes");
  if (!options.states.empty())
    refuse("E0119", "--state needs an ONNX model; in textual IR use sluice.state and sluice.keep");
  if (!options.bindings.empty())
    refuse("E0117", "--bind needs an ONNX model; in textual IR use sluice.constant");
  return found.empty();
}

} // namespace sluice::pipeline
