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

int printArea(const std::vector<format::Geometry> &targets, bool one, const Report &report) {
  report.text(one ? areaPage(targets.front()) : areaTable(targets));
  Json list = Json::array();
  for (const format::Geometry &target : targets)
    list.push_back(areaReportJson(target));
  return report.json({{"schema", 1}, {"areas", list}}) ? Ok : Usage;
}

int printTarget(const format::Geometry &geometry, const Report &report) {
  const std::string json = format::targetJson(geometry);
  const format::Area area = format::estimateArea(geometry);
  report.text(json + "\n");
  if (report.wantsText()) // not with the JSON object of a target file
    Report::say(fmt::format("area: {}\n", format::areaText(area)));
  return report.json({{"schema", 1}, {"target", Json::parse(json)}, {"area", areaJson(area)}})
             ? Ok
             : Usage;
}

int printTargets(const Report &report) {
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

int runTargets(const std::string &show, bool area, const Common &common) {
  const Report report(common);
  if (show.empty())
    return area ? printArea(format::targetPresets(), false, report) : printTargets(report);
  auto loaded = format::loadTarget(show);
  if (const auto *wrong = std::get_if<format::FileProblem>(&loaded)) {
    Problem refused = problem(wrong->code, wrong->message);
    refused.fixes = suggestion(show, wrong->names);
    return report.fail({refused}, "");
  }
  const auto &geometry = std::get<format::Geometry>(loaded);
  return area ? printArea({geometry}, true, report) : printTarget(geometry, report);
}

} // namespace

void addTargets(CLI::App &app, const Common &common, int &exitCode) {
  auto *command = app.add_subcommand("targets", "list the targets that models can be compiled for");
  auto show = std::make_shared<std::string>();
  command->add_option("--show", *show, "print one target: a preset or a .json file")
      ->type_name("TARGET");
  auto area = std::make_shared<bool>(false);
  command->add_flag("--area", *area,
                    "estimate the LUTs, DSP blocks and memories, and name the parts that fit");
  command->callback(
      [show, area, &common, &exitCode] { exitCode = runTargets(*show, *area, common); });
}

} // namespace sluice::cli
