#include "tools/cli/plan_json.h"

#include <fmt/format.h>

namespace sluice::cli {
namespace {

using plan::Explanation;

Json causes(const plan::CoreCycles &cycles) {
  Json json = Json::object();
  for (size_t cause = 0; cause < plan::kCauses; ++cause)
    json[std::string(plan::nameOf(static_cast<plan::Cause>(cause)))] = cycles[cause];
  return json;
}

} // namespace

std::string unitName(const Explanation &explanation, uint32_t unit) {
  const uint32_t cores = explanation.cores;
  return unit == 2 * cores ? "host port"
         : unit < cores    ? fmt::format("core {} matrix unit", unit)
                           : fmt::format("core {} vector unit", unit - cores);
}

Json planJson(const pipeline::CompileResult &result, const std::array<std::string, 3> &summary) {
  const Explanation &explanation = *result.explanation;
  Json stages = Json::array();
  for (const plan::ExplainedStage &one : explanation.stages) {
    Json nodes = Json::array();
    for (uint32_t node : one.nodes) {
      const format::SourceNode &source = result.program.nodes[node];
      nodes.push_back({{"index", source.index}, {"name", source.name}, {"op", source.op}});
    }
    stages.push_back({{"nodes", nodes},
                      {"rows", one.rows},
                      {"rows_by_core", one.rowsByCore},
                      {"products_by_core", one.productsByCore},
                      {"ahead", one.ahead},
                      {"reads_by_cores", one.readsByCores},
                      {"derivation", one.derivation},
                      {"start", one.start ? Json(*one.start) : Json(nullptr)},
                      {"end", one.end ? Json(*one.end) : Json(nullptr)},
                      {"idle", causes(one.idle)}});
  }
  Json path = Json::array();
  for (const plan::PathStep &step : explanation.path)
    path.push_back({{"from", step.from},
                    {"cycles", step.cycles},
                    {"what", plan::nameOf(step.delay)},
                    {"unit", unitName(explanation, step.unit)},
                    {"stage", step.stage}});
  Json losers = Json::array();
  for (const plan::Loser &one : explanation.losers)
    losers.push_back({{"choice", one.choice},
                      {"plans", one.plans},
                      {"cycles", one.cycles ? Json(*one.cycles) : Json(nullptr)},
                      {"why", one.why}});
  const plan::Floor &floor = explanation.floor;
  return {{"schema", 1},
          {"ok", true},
          {"summary", summary},
          {"target", result.program.geometry.name},
          {"cores", explanation.cores},
          {"spaced", explanation.cycles},
          {"floor",
           {{"cycles", floor.cycles},
            {"products", floor.products},
            {"work", floor.work},
            {"way", floor.way},
            {"chain", floor.chain}}},
          {"ahead", explanation.ahead},
          {"idle", causes(explanation.idle)},
          {"drain", causes(explanation.drain)},
          {"stages", stages},
          {"critical_path", path},
          {"choice", explanation.choice},
          {"losers", losers}};
}

} // namespace sluice::cli
