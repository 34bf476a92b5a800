// The import of a model, which all ways to compile it share.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

#include "compiler/frontend/onnx/import.h"
#include "compiler/pipeline/pipeline.h"

namespace sluice::pipeline {

/// Returns what `options` say to the importer.
frontend::ImportOptions importOptions(const CompileOptions &options);

/// A model that is read when it is first needed, and copied for each way to compile it.
class ImportOnce {
public:
  /// What `options` say of the inputs holds for all ways.
  explicit ImportOnce(const CompileOptions &options);

  /// The import itself, which no way to compile it changes.
  const frontend::Import &original();

  /// A module of its own for one way; null if the problems say why. The tensors of its `info` are
  /// values of it.
  frontend::Import copy();

  /// Sets what the check of a program needs: the graph, and the arrays that
  /// CompileOptions::calibration reads.
  void setOracle(CompileResult &result, Problems &problems);

  [[nodiscard]] const std::shared_ptr<mlir::MLIRContext> &context() const { return ownContext; }
  /// Errors of MLIR, in case the import fails without a problem.
  [[nodiscard]] const std::vector<std::string> &errors() const { return mlirErrors; }

private:
  void read();
  frontend::Import import();
  [[nodiscard]] Problems optionsOfOnnx() const;

  const CompileOptions options;
  std::shared_ptr<mlir::MLIRContext> ownContext; ///< shared with the oracle
  std::optional<frontend::Import> own;
  std::vector<std::string> mlirErrors;
  std::shared_ptr<const check::Oracle> oracle;
  std::vector<reference::Tensors> calibration;
};

} // namespace sluice::pipeline
