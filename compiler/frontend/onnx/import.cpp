#include "compiler/frontend/onnx/import.h"

#include <filesystem>
#include <new>
#include <stdexcept>

#include <fmt/format.h>

#include "compiler/dialect/sluice/dialect.h"
#include "compiler/frontend/onnx/cut.h"
#include "compiler/frontend/onnx/import_proto.h"
#include "compiler/frontend/onnx/importer.h"
#include "compiler/frontend/onnx/model_file.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace sluice::frontend {
namespace {

/// Runs `body`; what it throws becomes a problem.
template <typename Body> mlir::OwningOpRef<mlir::ModuleOp> guarded(Problems &problems, Body body) {
  Report report(problems);
  try {
    return body();
  } catch (const std::bad_alloc &) {
    report.add("E0103", "the model needs more memory than this machine has");
  } catch (const std::length_error &) {
    report.add("E0103", "the model needs more memory than this machine has");
  } catch (const std::exception &error) {
    report.add(kInternalError, fmt::format("internal error in the importer: {}", error.what()));
  }
  return nullptr;
}

} // namespace

mlir::OwningOpRef<mlir::ModuleOp> importProto(mlir::MLIRContext &context,
                                              const onnx::ModelProto &model,
                                              const ImportOptions &options, ImportedModel &info,
                                              Problems &problems) {
  context.loadDialect<ir::SluiceDialect, mlir::func::FuncDialect>();
  return guarded(problems, [&] {
    // The tables of a model say which integers its inputs may have, once they are known.
    constexpr int kMostImports = 4;
    const ImportedModel empty = info;
    std::map<std::string, IntegerRange> ranges;
    for (int imports = 1;; ++imports) {
      Problems found;
      Importer importer(context, options, info, found, ranges);
      mlir::OwningOpRef<mlir::ModuleOp> module = importer.run(model);
      const auto wanted = importer.wantedRanges();
      if (wanted == ranges || imports == kMostImports) {
        problems.insert(problems.end(), found.begin(), found.end());
        return module;
      }
      ranges = wanted;
      info = empty;
    }
  });
}

ImportOptions withDataFolder(ImportOptions options) {
  if (options.externalData.empty() && options.path != "-") {
    const std::filesystem::path folder = std::filesystem::path(options.path).parent_path();
    options.externalData = folder.empty() ? "." : folder.string();
  }
  return options;
}

mlir::OwningOpRef<mlir::ModuleOp> importModel(mlir::MLIRContext &context,
                                              const ImportOptions &options, ImportedModel &info,
                                              Problems &problems) {
  return guarded(problems, [&]() -> mlir::OwningOpRef<mlir::ModuleOp> {
    Report report(problems);
    std::unique_ptr<onnx::ModelProto> model = readModelFile(options.path, report);
    if (!model)
      return nullptr;
    ImportOptions resolved = withDataFolder(options);
    if (!resolved.cut.isEmpty() && !cutModel(*model, resolved, info.notes, report))
      return nullptr;
    return importProto(context, *model, resolved, info, problems);
  });
}

} // namespace sluice::frontend
