// sluice ops: the support table.
#include <strings.h>

#include <fmt/format.h>

#include "compiler/frontend/onnx/support_table.h"
#include "compiler/frontend/onnx/unsupported.h"
#include "compiler/support/suggestion.h"
#include "tools/cli/commands.h"

namespace sluice::cli {
namespace {

/// The operator whose name this is but for upper and lower case.
std::string anyCase(const std::string &op) {
  for (const frontend::SupportRow &row : frontend::supportTable(""))
    if (strcasecmp(row.op.c_str(), op.c_str()) == 0)
      return row.op;
  return op;
}

int printOperators(const std::string &op, bool markdown, const Common &common) {
  const Report report(common);
  if (markdown && report.wantsJson())
    return report.fail("E0601", "--markdown cannot be used with --json");
  const auto rows = frontend::supportTable(anyCase(op));
  if (rows.empty()) {
    if (const auto why = frontend::whyUnsupported(op))
      return report.fail({*why}, "");
    Problem unknown =
        problem("E0602", fmt::format("operator '{}' is not in the support table", op));
    unknown.fixes = suggestion(op, frontend::operatorNames());
    return report.fail({unknown}, "");
  }
  if (markdown) {
    report.text(frontend::supportMarkdown(rows));
  } else {
    for (const frontend::SupportRow &row : rows) {
      report.text(fmt::format("{}{}{} (opset {} to {}): {}\n", row.domain,
                              row.domain.empty() ? "" : ".", row.op, row.firstOpset, row.lastOpset,
                              row.form));
      if (!op.empty())
        for (const std::string &requirement : row.requirements)
          report.text(fmt::format("  {}\n", requirement));
    }
  }
  return report.json(Json::parse(frontend::supportJson(rows))) ? Ok : Usage;
}

} // namespace

void addOps(CLI::App &app, const Common &common, int &exitCode) {
  auto *command = app.add_subcommand("ops", "list the supported operators and what they require");
  auto op = std::make_shared<std::string>();
  auto markdown = std::make_shared<bool>(false);
  command->add_option("--op", *op, "print what one operator requires, or why it is not supported")
      ->type_name("NAME");
  command->add_flag("--markdown", *markdown, "print a Markdown table");
  command->callback(
      [op, markdown, &common, &exitCode] { exitCode = printOperators(*op, *markdown, common); });
}

} // namespace sluice::cli
