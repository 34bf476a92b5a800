#include "compiler/pipeline/room_trials.h"

#include <nlohmann/json.hpp>

#include "compiler/pipeline/copy_trials.h"
#include "compiler/pipeline/one_way.h"
#include "compiler/pipeline/repairs.h"

namespace sluice::pipeline {
namespace {

using Json = nlohmann::json;

/// The outcome of a compilation as a text, which the child sends.
std::string textOf(const CompileResult &result, const Problems &problems, bool compiled) {
  Json json = Json::object();
  if (compiled && result.cycles)
    json["cycles"] = result.cycles->spaced;
  if (!compiled && doesNotFit(problems))
    for (const Problem &problem : problems) {
      const auto &lack = std::get<LacksMemory>(problem.reason);
      json["lacks"].push_back({lack.memory, lack.needed, lack.available});
    }
  return json.dump();
}

/// The outcome that `textOf` wrote.
RoomTrial trialOf(const std::string &text) {
  const Json json = Json::parse(text);
  if (json.contains("cycles"))
    return Compiles{json["cycles"].get<uint64_t>()};
  if (!json.contains("lacks"))
    return Rejected();
  Lacks lacks;
  for (const Json &one : json["lacks"])
    lacks.memories.push_back(
        {one[0].get<std::string>(), one[1].get<uint64_t>(), one[2].get<uint64_t>()});
  return lacks;
}

} // namespace

RoomTrials::RoomTrials(const CompileOptions &options, ImportOnce &imported)
    : options(trialOptions(options)), imported(imported) {
  this->options.limits.reset(); // the process ends in time
  this->options.progress = nullptr;
}

RoomTrial RoomTrials::operator()(const format::Geometry &geometry, Effort effort,
                                 Clock::time_point until) const {
  const auto text = runInChild(
      [&] {
        CompileOptions trial = options;
        trial.geometry = geometry;
        trial.effort = effort;
        CompileResult result;
        Problems problems;
        const bool compiled = compileRepaired(trial, imported, result, problems);
        return textOf(result, problems, compiled);
      },
      until);
  return text ? trialOf(*text) : RoomTrial(Unfinished());
}

} // namespace sluice::pipeline
