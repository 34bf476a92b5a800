// sluice check: would the model compile, and why is its layout what it is.
#include <fmt/format.h>

#include "compiler/support/problem_sarif.h"
#include "compiler/support/problem_text.h"
#include "tools/cli/commands.h"
#include "tools/cli/model_options.h"

namespace sluice::cli {
namespace {

struct Options {
  ModelOptions model;
  std::string format = "text";
  std::string explain; ///< "", "all" or the name of a tensor
};

std::string tensorsText(const std::vector<pipeline::TensorLayout> &tensors) {
  std::string text;
  for (const pipeline::TensorLayout &tensor : tensors)
    text +=
        fmt::format("{} {}: {}{}{}\n", printable(tensor.name), shapeText(tensor.shape),
                    tensor.dataDim ? fmt::format("data dimension {}", *tensor.dataDim) : "constant",
                    tensor.why.empty() ? "" : ", ", printable(tensor.why));
  return text;
}

/// "2 fixes, 57 cycles".
std::string repairText(const Repair &repair) {
  const size_t fixes = repair.changes.size();
  return fmt::format("{} fix{}, {}", fixes, fixes == 1 ? "" : "es", priceText(repair, repair));
}

int run(Options options, const Common &outer) {
  // --format json is --json; SARIF goes the same way.
  Common common = outer;
  if (options.format != "text" && !common.json)
    common.json = "-";
  const Report report(common);
  if (const auto wrong = report.checkFiles({{"the model", options.model.compile.modelPath}}, {}))
    return report.fail({*wrong}, "");
  Problems problems;
  options.model.finish(problems);
  if (!problems.empty())
    return report.fail(problems, "");
  pipeline::CompileOptions &compile = options.model.compile;
  compile.measure = false;
  compile.allowConstant = true;
  const pipeline::CompileResult result = options.model.run("checking", problems).result;
  std::vector<pipeline::TensorLayout> tensors;
  for (const pipeline::TensorLayout &tensor : result.tensors)
    if (options.explain == "all" || options.explain == tensor.name)
      tensors.push_back(tensor);
  if (problems.empty() && !options.explain.empty() && tensors.empty())
    return report.fail("E0602", fmt::format("the model has no tensor '{}'", options.explain),
                       compile.modelPath);

  report.log(problems, compile.modelPath);
  if (problems.empty())
    Report::notes(result.notes);
  report.text(tensorsText(tensors));
  for (const pipeline::Rewrite &one : result.rewrites)
    report.text(fmt::format("rewritten: {}\n", rewriteText(one)));
  if (problems.empty())
    report.text(fmt::format("{}: {} operators, all supported; {}\n", compile.modelPath,
                            result.operators,
                            result.constant ? "nothing to compile: all outputs are constants"
                                            : "fits " + result.program.geometry.name));
  else if (!result.repairs.empty())
    report.text(
        fmt::format("compiles with --apply-fixes: {}\n", repairText(result.repairs.front())));
  const Json json =
      options.format == "sarif"
          ? problemsSarif(problems, compile.modelPath, SLUICE_VERSION, errorTitle)
          : Json{{"schema", 1},
                 {"ok", problems.empty()},
                 {"errors", errorsJson(problems)},
                 {"tensors", tensorsJson(tensors)},
                 {"rewrites", rewritesJson(result.rewrites)},
                 {"fixes", repairsJson(result.repairs, problems.empty())},
                 {"notes", problems.empty() ? result.notes : std::vector<std::string>{}}};
  return report.json(json) ? exitCodeOf(problems) : Usage;
}

} // namespace

void addCheck(CLI::App &app, const Common &common, int &exitCode) {
  auto *command = app.add_subcommand("check", "check whether a model compiles, and say why not");
  auto options = std::make_shared<Options>();
  options->model.add(*command);
  command->add_option("--format", options->format, "output format: text, json or sarif (text)")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"text", "json", "sarif"}));
  command
      ->add_option("--explain-layout", options->explain,
                   "explain the data dimension of every tensor, or of NAME")
      ->type_name("[=NAME]");
  command->callback([options, &common, &exitCode] { exitCode = run(*options, common); });
}

} // namespace sluice::cli
