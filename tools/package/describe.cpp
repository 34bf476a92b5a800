// The commands of the driver as JSON, from its own option tables: what manual pages and completions
// are made of. Runs when building, and is not installed.
#include <exception>
#include <iostream>

#include <nlohmann/json.hpp>

#include "tools/cli/commands.h"

namespace {

using nlohmann::ordered_json;

ordered_json described(const CLI::Option &option) {
  ordered_json flags = ordered_json::array();
  for (const std::string &name : option.get_snames())
    flags.push_back("-" + name);
  for (const std::string &name : option.get_lnames())
    flags.push_back("--" + name);
  return {{"flags", flags},
          {"name", option.get_single_name()},
          {"value", option.get_type_size() == 0 ? "" : option.get_type_name()},
          {"repeats", option.get_expected_max() > 1},
          {"required", option.get_required()},
          {"text", option.get_description()}};
}

/// Groups of options are parts of their command.
void addOptions(ordered_json &list, const CLI::App &app) {
  for (const CLI::Option *option : app.get_options())
    list.push_back(described(*option));
  for (const CLI::App *group : app.get_subcommands([](const CLI::App *) { return true; }))
    if (group->get_name().empty())
      addOptions(list, *group);
}

ordered_json described(const CLI::App &app) {
  ordered_json options = ordered_json::array();
  ordered_json commands = ordered_json::array();
  addOptions(options, app);
  for (const CLI::App *command : app.get_subcommands([](const CLI::App *) { return true; }))
    if (!command->get_name().empty())
      commands.push_back(described(*command));
  return {{"name", app.get_name()},
          {"text", app.get_description()},
          {"footer", app.get_footer()},
          {"options", options},
          {"commands", commands}};
}

} // namespace

int main() {
  try {
    int exitCode = 0;
    sluice::cli::Common common;
    CLI::App app(sluice::cli::kDriverText, "sluice");
    sluice::cli::addCommands(app, common, exitCode);
    std::cout << described(app).dump(1) << '\n';
    return 0;
  } catch (const std::exception &error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
