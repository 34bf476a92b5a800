#include "compiler/conversion/loops/trial.h"

#include <algorithm>

#include <fmt/format.h>

namespace sluice::loops {

std::string runsText(const Choice &choice) {
  return choice.lines == 0 ? fmt::format("{} runs of lines", choice.runs)
                           : fmt::format("{} runs of {} lines", choice.runs, choice.lines);
}

std::string textOf(const rows::Program &program, const Choice &choice) {
  uint32_t trips = 1;
  for (const rows::Body &body : program.bodies)
    trips = std::max(trips, body.trips);
  return fmt::format("{} positions {}round the cores{}", trips,
                     choice.lines == 0 ? fmt::format("in groups of {}, ", choice.group) : "",
                     choice.runs == 1 ? "" : ", " + runsText(choice));
}

plan::Loser loserOf(const rows::Program &program, const Trial &trial) {
  std::string why = plan::excessText(trial.use);
  if (why.empty())
    why = !trial.cycles ? "stalls"
          : trial.wrong ? "not proved sound: " + *trial.wrong
                        : fmt::format("{:.1f} cycles a position", *trial.cycles);
  return {textOf(program, trial.choice), std::nullopt, std::move(why)};
}

} // namespace sluice::loops
