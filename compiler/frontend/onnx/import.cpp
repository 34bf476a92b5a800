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

/// Runs `body`, which fills an import; what it throws becomes a problem.
template <typename Body> Import guarded(Body body) {
  Import import;
  Report report(import.problems);
  try {
    body(import);
    return import;
  } catch (const std::bad_alloc &) {
    report.add("E0103", "the model needs more memory than this machine has");
  } catch (const std::length_error &) {
    report.add("E0103", "the model needs more memory than this machine has");
  } catch (const std::exception &error) {
    report.add(kInternalError, fmt::format("internal error in the importer: {}", error.what()));
  }
  import.module = nullptr;
  return import;
}

} // namespace

Import importProto(mlir::MLIRContext &context, const onnx::ModelProto &model,
                   const ImportOptions &options) {
  context.loadDialect<ir::SluiceDialect, mlir::func::FuncDialect>();
  return guarded([&](Import &import) {
    // The tables of a model say which integers its inputs may have, once they are known.
    constexpr int kMostImports = 4;
    std::map<std::string, IntegerRange> ranges;
    for (int imports = 1;; ++imports) {
      Problems found;
      import.info = {};
      Importer importer(context, options, import.info, found, ranges);
      mlir::OwningOpRef<mlir::ModuleOp> module = importer.run(model);
      const auto wanted = importer.wantedRanges();
      if (wanted == ranges || imports == kMostImports) {
        import.module = std::move(module);
        import.problems = std::move(found);
        return;
      }
      ranges = wanted;
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

Import importModel(mlir::MLIRContext &context, const ImportOptions &options) {
  return guarded([&](Import &import) {
    Report report(import.problems);
    const std::unique_ptr<onnx::ModelProto> model = readModelFile(options.path, report);
    if (!model)
      return;
    ImportOptions resolved = withDataFolder(options);
    std::vector<std::string> &notes = import.info.notes;
    if (!resolved.cut.isEmpty() && !cutModel(*model, resolved, notes, report))
      return;
    Import made = importProto(context, *model, resolved);
    made.info.notes.insert(made.info.notes.begin(), notes.begin(), notes.end());
    import = std::move(made);
  });
}

} // namespace sluice::frontend
