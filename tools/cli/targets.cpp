// sluice targets: what machines there are.
#include <fmt/format.h>

#include "compiler/support/suggestion.h"
#include "runtime/format/area.h"
#include "runtime/format/targets.h"
#include "tools/cli/area.h"
#include "tools/cli/commands.h"

namespace sluice::cli {
namespace {

uint64_t peak(const format::Geometry &g) { return uint64_t{g.cores} * g.lanes * g.lanes; }

int printTargets(const std::string &show, const Common &common) {
  const Report report(common);
  if (!show.empty()) {
    auto loaded = format::loadTarget(show);
    if (const auto *wrong = std::get_if<format::FileProblem>(&loaded)) {
      Problem refused = problem(wrong->code, wrong->message);
      refused.fixes = suggestion(show, wrong->names);
      return report.fail({refused}, "");
    }
    const auto &geometry = std::get<format::Geometry>(loaded);
    const std::string json = format::targetJson(geometry);
    const format::Area area = format::estimateArea(geometry);
    report.text(json + "\n");
    if (report.wantsText()) // not with the JSON object of a target file
      Report::say(fmt::format("area: {}\n", format::areaText(area)));
    return report.json({{"schema", 1}, {"target", Json::parse(json)}, {"area", areaJson(area)}})
               ? Ok
               : Usage;
  }
  std::string text = fmt::format("{:<12} {:>5} {:>5} {:>14} {:>10} {:>9}  {}\n", "target", "cores",
                                 "lanes", "weights", "MAC/cycle", "hardware", "clock");
  Json list = Json::array();
  for (const format::Geometry &g : format::targetPresets()) {
    const uint64_t weights = uint64_t{g.cores} * g.weightBlocks * g.lanes * g.lanes;
    text += fmt::format("{:<12} {:>5} {:>5} {:>14} {:>10} {:>9}  {} MHz, {}\n", g.name, g.cores,
                        g.lanes, weights, peak(g), g.rtl, g.clockMhz, g.clockSource);
    list.push_back(Json::parse(format::targetJson(g)));
  }
  report.text(text);
  return report.json({{"schema", 1}, {"targets", list}}) ? Ok : Usage;
}

} // namespace

void addTargets(CLI::App &app, const Common &common, int &exitCode) {
  auto *command = app.add_subcommand("targets", "list the targets that models can be compiled for");
  auto show = std::make_shared<std::string>();
  command->add_option("--show", *show, "print one target: a preset or a .json file")
      ->type_name("TARGET");
  command->callback([show, &common, &exitCode] { exitCode = printTargets(*show, common); });
}

} // namespace sluice::cli
