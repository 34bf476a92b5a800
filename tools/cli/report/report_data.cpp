#include "tools/cli/report/report_data.h"

#include <optional>

#include "tools/cli/check_summary.h"
#include "tools/cli/layer_difference.h"
#include "tools/cli/memory_fill.h"
#include "tools/cli/model_options.h"
#include "tools/cli/plan_json.h"
#include "tools/cli/plan_summary.h"
#include "tools/cli/report/report_summary.h"
#include "tools/cli/report/report_timeline.h"

namespace sluice::cli {
namespace {

/// The table of `sluice profile`, with the cycles that each layer takes alone.
Json layersJson(const Listing &listing, const std::vector<LayerUse> &uses,
                const ActivityTables &tables) {
  Json list = tables.byLayer().json();
  for (size_t i = 0; i < list.size(); ++i) {
    list[i]["title"] = listing.layers[i].title();
    list[i]["cycles"] = uses[i].cycles;
  }
  return list;
}

/// The plan without the members that the report has anyway.
Json planPart(const pipeline::CompileResult &compiled) {
  Json plan = planJson(compiled, planSummary(*compiled.explanation, compiled.program));
  for (const char *member : {"schema", "ok", "summary", "target", "cores"})
    plan.erase(member);
  return plan;
}

/// What the check of the program found, with the file of its inputs.
Json accuracyJson(const pipeline::CompileResult &compiled, const std::string &data) {
  Json accuracy = checkedJson(compiled.checked);
  if (accuracy.is_null())
    return accuracy;
  accuracy["text"] = checkedText(*compiled.checked);
  accuracy["data"] = data.empty() ? Json(nullptr) : Json(data);
  accuracy["data_inputs"] = compiled.calibration.size();
  return accuracy;
}

} // namespace

uint32_t runsOf(const ReportSubject &subject) {
  return subject.program.models[subject.model.index()].steps;
}

Json reportJson(const ReportSubject &subject) {
  const sluice_rt_machine machine = subject.model.program().machine();
  const Listing listing(subject.model.program());
  const ActivityTables tables(subject.activity, listing, machine);
  const std::vector<LayerUse> uses = layerUses(subject.activity, listing);
  const pipeline::CompileResult *compiled = subject.compiled;
  return {{"schema", 1},
          {"ok", true},
          {"file", subject.file},
          {"model", subject.model.info().name},
          {"target", machine.target},
          {"cores", machine.cores},
          {"lanes", machine.lanes},
          {"clock_mhz", machine.clock_mhz},
          {"clock_source", machine.clock_source},
          {"cycles", subject.activity.cycles()},
          {"runs", runsOf(subject)},
          {"parameters", subject.model.info().parameters},
          {"macs", subject.model.info().macs},
          {"compiler", subject.program.compilerVersion},
          {"options", subject.program.options},
          {"summary", reportSummary(subject, listing, uses)},
          {"memory", memoryJson(subject.program)},
          {"tensors", compiled ? tensorsJson(compiled->tensors) : Json(nullptr)},
          {"timeline", timelineJson(subject.activity, listing, machine)},
          {"plan", compiled ? planPart(*compiled) : Json(nullptr)},
          {"layers", layersJson(listing, uses, tables)},
          {"units", tables.byUnit().json()},
          {"accuracy", compiled ? accuracyJson(*compiled, subject.data) : Json(nullptr)}};
}

} // namespace sluice::cli
