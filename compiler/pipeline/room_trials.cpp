#include "compiler/pipeline/room_trials.h"

#include <nlohmann/json.hpp>

#include "compiler/pipeline/copy_trials.h"
#include "compiler/pipeline/repairs.h"

namespace sluice::pipeline {
namespace {

using Json = nlohmann::json;

/// A verdict as a text, which the child sends.
std::string textOf(const Verdict &verdict) {
  Json json = Json::object();
  if (const auto *compiles = std::get_if<Compiles>(&verdict); compiles && compiles->cycles != 0)
    json["cycles"] = compiles->cycles;
  if (const auto *lacks = std::get_if<Lacks>(&verdict))
    for (const LacksMemory &lack : lacks->memories)
      json["lacks"].push_back({lack.memory, lack.needed, lack.available});
  return json.dump();
}

/// The verdict that `textOf` wrote.
Verdict verdictIn(const std::string &text) {
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

Verdict RoomTrials::operator()(const format::Geometry &geometry, Effort effort,
                               Clock::time_point until) const {
  const auto text = runInChild(
      [&] {
        CompileOptions trial = options;
        trial.geometry = geometry;
        trial.effort = effort;
        return textOf(compileRepaired(trial, imported).verdict);
      },
      until);
  return text ? verdictIn(*text) : Unfinished();
}

} // namespace sluice::pipeline
