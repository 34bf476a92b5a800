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

const frontend::Import &ImportOnce::original() {
  if (!own)
    read();
  return *own;
}

frontend::Import ImportOnce::copy() {
  const frontend::Import &original = this->original();
  frontend::Import copy{nullptr, original.info, original.problems};
  if (!copy.problems.empty() || !original.module)
    return copy;
  mlir::IRMapping mapping;
  copy.module = llvm::cast<mlir::ModuleOp>((*original.module)->clone(mapping));
  for (frontend::GraphTensor &tensor : copy.info.tensors)
    if (tensor.value)
      tensor.value = mapping.lookupOrNull(tensor.value);
  return copy;
}

void ImportOnce::setOracle(CompileResult &result, Problems &problems) {
  if (!oracle) {
    oracle = std::make_shared<const check::Oracle>(ownContext, *own->module, own->info);
    if (options.calibration)
      for (const reference::Tensors &arrays : options.calibration(oracle->arrays(), problems))
        calibration.push_back(frontend::argumentsOf(oracle->inputs(), arrays));
  }
  result.oracle = oracle;
  result.calibration = calibration;
}

void ImportOnce::read() {
  if (options.progress)
    options.progress->stage("importing");
  const mlir::ScopedDiagnosticHandler handler(
      ownContext.get(), [this](mlir::Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error)
          mlirErrors.push_back(diagnostic.str());
      });
  own = import();
  if (own->module)
    if (auto main = own->module->lookupSymbol<mlir::func::FuncOp>("main")) {
      llvm::append_range(own->problems, ir::foldingProblems(main));
      setHostAttributes(main, own->info);
    }
}

frontend::Import ImportOnce::import() {
  if (!llvm::StringRef(options.modelPath).ends_with(".mlir"))
    return frontend::importModel(*ownContext, importOptions(options));
  frontend::Import text{nullptr, {}, optionsOfOnnx()};
  if (text.problems.empty())
    text.module = readTextualModel(*ownContext, options.modelPath, text.info, text.problems);
  return text;
}

/// The options that say something of the inputs: textual IR says everything itself.
Problems ImportOnce::optionsOfOnnx() const {
  Problems found;
  const auto refuse = [&](const char *code, const char *message) {
    Problem &problem = found.emplace_back();
    problem.code = code;
    problem.reason = WrongOption();
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
  return found;
}

} // namespace sluice::pipeline
