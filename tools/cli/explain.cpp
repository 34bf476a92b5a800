// sluice explain: the page of an error code, or the plan of a model.
#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "tools/cli/commands.h"
#ifdef SLUICE_HAVE_COMPILER
#include "tools/cli/model_options.h"
#endif

namespace sluice::cli {

/// The pages of docs/errors (generated): code and text.
const std::vector<std::pair<std::string_view, std::string_view>> &explainPages();

namespace {

/// "E0504: the program file is truncated", the page's first line without its mark.
std::string_view title(std::string_view page) {
  page = page.substr(0, page.find('\n'));
  return page.substr(page.find_first_not_of("# "));
}

/// A page as it is read: without the marks of the test that runs its examples.
std::string readable(std::string_view page) {
  std::string out;
  while (!page.empty()) {
    const std::string_view line = page.substr(0, page.find('\n'));
    if (!line.starts_with("<!--"))
      out.append(line).append("\n");
    page.remove_prefix(std::min(line.size() + 1, page.size()));
  }
  return out;
}

} // namespace

std::string_view errorTitle(std::string_view code) {
  for (const auto &[name, page] : explainPages())
    if (name == code)
      return title(page).substr(code.size() + 2);
  return {};
}

namespace {

int printPage(std::string code, const Common &common) {
  const Report report(common);
  const auto &pages = explainPages();
  Json list = Json::array();
  if (code.empty()) {
    for (const auto &[name, page] : pages) {
      report.text(fmt::format("{}\n", title(page)));
      list.push_back({{"code", name}, {"title", title(page)}});
    }
    return report.json({{"schema", 1}, {"codes", list}}) ? Ok : Usage;
  }
  std::transform(code.begin(), code.end(), code.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  const std::string full = fmt::format("E{:0>4}", code.substr(code.starts_with('E') ? 1 : 0));
  for (const auto &[name, page] : pages)
    if (name == full) {
      const std::string text = readable(page);
      report.text(text);
      return report.json({{"schema", 1}, {"code", name}, {"text", text}}) ? Ok : Usage;
    }
  return report.fail(
      "E0601",
      fmt::format("unknown error code '{}', allowed: {} to {}; 'sluice explain' lists them", code,
                  pages.front().first, pages.back().first));
}

} // namespace

void addExplain(CLI::App &app, const Common &common, int &exitCode) {
  auto *command = app.add_subcommand("explain", "explain an error code, or how a model is planned");
  auto code = std::make_shared<std::string>();
  command->add_option("code", *code, "error code, such as E0504; without it, all codes are listed")
      ->type_name("CODE");
#ifdef SLUICE_HAVE_COMPILER
  auto model = std::make_shared<ModelOptions>();
  auto *plan = command->add_option(
      "--plan", model->compile.modelPath,
      "explain the plan of this model: what each core computes when, and where cycles go");
  plan->type_name("MODEL")->excludes("code");
  auto spacesOf = std::make_shared<std::string>();
  auto node = std::make_shared<std::string>();
  auto *spaces = command->add_option(
      "--index-space", *spacesOf,
      "explain the loops of this model: what each step reads, writes, reuses and costs");
  spaces->type_name("MODEL")->excludes("code")->excludes(plan);
  command
      ->add_option("--node", *node, "with --index-space: explain only this node, by number or name")
      ->type_name("NODE")
      ->needs(spaces);
  auto *flags =
      command->add_option_group("options of --plan and --index-space", "the same as for compile");
  model->addFlags(*flags);
  command->callback([=, &common, &exitCode] {
    const bool wantsModel = plan->count() + spaces->count() != 0;
    for (const CLI::Option *flag : flags->get_options())
      if (!wantsModel && flag->count() != 0)
        throw CLI::RequiresError(flag->get_name(), "--plan or --index-space");
    if (spaces->count() != 0)
      model->compile.modelPath = *spacesOf;
    exitCode = spaces->count() != 0 ? explainSpaces(*model, *node, common)
               : wantsModel         ? explainPlan(*model, common)
                                    : printPage(*code, common);
  });
#else
  command->callback([code, &common, &exitCode] { exitCode = printPage(*code, common); });
#endif
}

} // namespace sluice::cli
