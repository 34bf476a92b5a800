#include "compiler/pipeline/offered_cut.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "mlir/IR/MLIRContext.h"

#include "compiler/dialect/sluice/interfaces.h"
#include "compiler/dialect/sluice/operations.h"
#include "compiler/frontend/onnx/cut_levels.h"
#include "compiler/index_space/index_space.h"
#include "compiler/pipeline/import_once.h"

namespace sluice::pipeline {
namespace {

/// The multiplications of the matrix products of a model, those of loops in every iteration.
double multiplications(mlir::ModuleOp module) {
  double total = 0;
  module.walk([&](ir::IndexSpaceInterface op) {
    const space::IndexSpace space = op.indexSpace();
    if (space.work != space::Work::Product)
      return;
    double count = 1;
    for (const space::Loop &loop : space.loops)
      count *= static_cast<double>(loop.extent);
    for (auto loop = op->getParentOfType<ir::LoopOp>(); loop;
         loop = loop->getParentOfType<ir::LoopOp>())
      count *= static_cast<double>(loop.getTrips());
    total += count;
  });
  return total;
}

/// A part, and its work if it can be imported.
struct Part {
  frontend::Cut cut;
  std::optional<double> work;
};

std::vector<Part> workOf(const CompileOptions &options,
                         const std::vector<frontend::Level> &levels) {
  std::vector<Part> parts;
  for (const frontend::Level &level : levels) {
    frontend::ImportOptions import = importOptions(options);
    import.cut = level.cut;
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    frontend::ImportedModel info;
    Problems problems;
    const auto module = frontend::importModel(context, import, info, problems);
    Part &part = parts.emplace_back(level.cut);
    if (module)
      part.work = multiplications(*module);
    else if (!level.hasProducts)
      part.work = 0;
  }
  return parts;
}

bool isPlain(const std::vector<std::string> &names) {
  return std::ranges::all_of(names, [](const std::string &name) {
    return name.find_first_of(", '\"\\$`") == std::string::npos;
  });
}

bool hasLayout(CompileOptions options, const frontend::Cut &cut) {
  options.cut = cut;
  options.stage = Stage::Layout;
  options.check.reset();
  options.calibration = nullptr;
  options.progress = nullptr;
  CompileResult result;
  Problems problems;
  return compileModel(options, result, problems) && !result.constant;
}

} // namespace

void offerCut(const CompileOptions &options, Problems &problems) {
  const auto problem = std::ranges::find_if(problems, &Problem::isFor<NotSupported>);
  if (problem == problems.end() || !options.cut.isEmpty())
    return;
  std::set<int64_t> missing;
  for (const Problem &one : problems)
    if (one.node && one.node->index >= 0)
      missing.insert(one.node->index);
  if (missing.empty())
    return;
  const frontend::Levels levels = frontend::levelsAround(importOptions(options), missing);
  std::vector<Part> parts = workOf(options, levels.fromInputs);
  double total = 0;
  for (const Part &part : parts) {
    if (!part.work)
      return;
    total += *part.work;
  }
  for (Part &part : workOf(options, levels.fromOutputs))
    parts.push_back(std::move(part));
  const auto best =
      std::ranges::max_element(parts, {}, [](const Part &part) { return part.work.value_or(0); });
  if (best == parts.end() || best->work.value_or(0) == 0 || !isPlain(best->cut.inputs) ||
      !isPlain(best->cut.outputs) || !hasLayout(options, best->cut))
    return;
  Fix fix;
  fix.flag = fmt::format("--inputs {} --outputs {}", fmt::join(best->cut.inputs, ","),
                         fmt::join(best->cut.outputs, ","));
  fix.text = fmt::format("compile with {}: {:.0f} % of the multiply-accumulates stay on the "
                         "accelerator",
                         *fix.flag, 100 * *best->work / total);
  fix.verified = true;
  // The report prints equal problems with equal fixes as one message.
  const std::string message = problem->message;
  for (Problem &one : problems)
    if (one.isFor<NotSupported>() && one.message == message)
      one.fixes.push_back(fix);
}

} // namespace sluice::pipeline
