#include "compiler/pipeline/offered_cut.h"

#include <algorithm>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/dialect/sluice/interfaces.h"
#include "compiler/dialect/sluice/operations.h"
#include "compiler/frontend/onnx/cut_levels.h"
#include "compiler/index_space/index_space.h"
#include "compiler/pipeline/import_once.h"
#include "compiler/pipeline/repairs.h"

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
  CompileOptions options; ///< with its cut
  std::unique_ptr<ImportOnce> imported;
  std::optional<double> work;
};

std::vector<Part> workOf(const CompileOptions &options,
                         const std::vector<frontend::Level> &levels) {
  std::vector<Part> parts;
  for (const frontend::Level &level : levels) {
    Part &part = parts.emplace_back();
    part.options = options;
    part.options.cut = level.cut;
    part.imported = std::make_unique<ImportOnce>(part.options);
    if (const frontend::Import &import = part.imported->original(); import.module)
      part.work = multiplications(*import.module);
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

bool hasLayout(const Part &part) {
  const Compilation made = compileRepaired(part.options, *part.imported);
  return made.compiles() && !made.result.constant;
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
  const auto levels = frontend::levelsAround(importOptions(options), missing);
  if (!levels)
    return;
  CompileOptions how = options;
  how.stage = Stage::Layout;
  how.check.reset();
  how.calibration = nullptr;
  how.progress = nullptr;
  how.advise = false;
  std::vector<Part> parts = workOf(how, levels->fromInputs);
  double total = 0;
  for (const Part &part : parts) {
    if (!part.work)
      return;
    total += *part.work;
  }
  for (Part &part : workOf(how, levels->fromOutputs))
    parts.push_back(std::move(part));
  const auto best =
      std::ranges::max_element(parts, {}, [](const Part &part) { return part.work.value_or(0); });
  if (best == parts.end() || best->work.value_or(0) == 0 || !isPlain(best->options.cut.inputs) ||
      !isPlain(best->options.cut.outputs) || !hasLayout(*best))
    return;
  Fix fix;
  fix.flag = fmt::format("--inputs {} --outputs {}", fmt::join(best->options.cut.inputs, ","),
                         fmt::join(best->options.cut.outputs, ","));
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
