#include "compiler/conversion/loops/trial.h"

#include <algorithm>

#include <fmt/format.h>

namespace sluice::loops {

uint32_t positionsOf(const rows::Program &program) {
  uint32_t positions = 1;
  for (const rows::Body &body : program.bodies)
    positions = std::max(positions, body.trips);
  return positions;
}

std::string runsText(const Choice &choice) {
  return choice.lines == 0 ? fmt::format("{} runs of lines", choice.runs)
                           : fmt::format("{} runs of {} lines", choice.runs, choice.lines);
}

std::string textOf(const rows::Program &program, const Choice &choice) {
  return fmt::format("{} positions {}round-robin over the cores{}{}", positionsOf(program),
                     choice.lines == 0 ? fmt::format("in groups of {}, ", choice.group) : "",
                     choice.runs == 1 ? "" : ", " + runsText(choice),
                     choice.trees == Choice().trees
                         ? ""
                         : fmt::format(", positions reduced in trees of {} {} positions",
                                       choice.trees.arity,
                                       choice.trees.apart ? "evenly spaced" : "adjacent"));
}

plan::Loser loserOf(const rows::Program &program, const Trial &trial) {
  std::string why = plan::excessText(trial.use);
  if (why.empty())
    why = !trial.cycles ? "stalls"
          : trial.wrong ? "failed its proof: " + *trial.wrong
                        : fmt::format("{:.1f} cycles per position", *trial.cycles);
  return {textOf(program, trial.choice), std::nullopt, std::move(why)};
}

} // namespace sluice::loops
