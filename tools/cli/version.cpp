// sluice version.
#include <sstream>

#include <fmt/format.h>

#include "hw/isa/isa.h"
#include "runtime/api/sluice_rt.h"
#include "runtime/format/layout.h"
#include "tools/cli/commands.h"

namespace sluice::cli {
namespace {

int printVersion(const Common &common) {
  const Report report(common);
  report.text(versionText());
  Json rtl = Json::array();
  std::istringstream targets(SLUICE_RTL_MODELS);
  for (std::string name; std::getline(targets, name, ',');)
    rtl.push_back(name);
  return report.json({{"schema", 1},
                      {"version", SLUICE_VERSION},
                      {"format", format::kFormatVersion},
                      {"isa", isa::kVersion},
                      {"api", sluice_rt_api_version()},
                      {"engines", {{"vm", true}, {"rtl", rtl}}}})
             ? Ok
             : Usage;
}

} // namespace

std::string versionText() {
  return fmt::format("sluice {}\nprogram format {}, instruction set {}, C API {}\n"
                     "engines: vm (every target), rtl ({})\n",
                     SLUICE_VERSION, format::kFormatVersion, isa::kVersion, sluice_rt_api_version(),
                     SLUICE_RTL_MODELS);
}

void addVersion(CLI::App &app, const Common &common, int &exitCode) {
  auto *command = app.add_subcommand("version", "print the versions and the engines of this build");
  command->callback([&common, &exitCode] { exitCode = printVersion(common); });
}

} // namespace sluice::cli
