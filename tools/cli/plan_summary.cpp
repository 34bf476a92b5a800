#include "tools/cli/plan_summary.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/conversion/plan/order/pins.h"
#include "compiler/support/problem_text.h"
#include "tools/cli/clock.h"

namespace sluice::cli {
namespace {

using plan::Cause;
using plan::Explanation;

std::string nodeName(const format::SourceNode &node) { return printable(plan::nodeName(node)); }

/// What matrix units wait for, and what makes that shorter.
struct Wait {
  std::string_view forWhat, remedy;
};

Wait waitOf(Cause cause) {
  switch (cause) {
  case Cause::Pipeline:
    return {"results in the pipelines", "fewer operations that wait for each other"};
  case Cause::Network:
    return {"the network", "fewer operations that read rows of other cores"};
  case Cause::Imbalance:
    return {"another core with more products", "rows that divide evenly among the cores"};
  case Cause::Vector:
    return {"vector units", "fewer rows and functions on the vector units"};
  case Cause::Stalls:
    return {"full queues and instructions", "fewer rows at a time"};
  case Cause::Host:
    return {"the host port", "fewer rows of inputs and outputs"};
  }
  return {};
}

class Summary {
public:
  Summary(const Explanation &explanation, const format::Program &program)
      : explanation(explanation), program(program) {
    for (size_t i = 0; i < plan::kCauses; ++i)
      if (explanation.idle[i] != 0)
        causes.push_back(static_cast<Cause>(i));
    std::ranges::sort(causes, [&](Cause left, Cause right) {
      return std::pair(idle(right), left) < std::pair(idle(left), right);
    });
  }

  [[nodiscard]] std::string latency() const {
    const format::Geometry &machine = program.geometry;
    const uint64_t floor = explanation.floor.cycles;
    return fmt::format("An inference of {} takes {} cycles on {} ({}); its rows "
                       "need at least {}.",
                       printable(program.models[0].name), explanation.cycles, machine.name,
                       Clock(machine).time(explanation.cycles), floor);
  }

  [[nodiscard]] std::string shares() const {
    std::vector<std::string> waits;
    for (const Cause cause : causes)
      if (100 * idle(cause) >= coreCycles())
        waits.push_back(fmt::format("{} for {}", percent(idle(cause)), waitOf(cause).forWhat));
    const uint32_t cores = explanation.cores;
    return fmt::format("{} computes products for {} of that time{}.",
                       cores == 1 ? "The matrix unit"
                                  : fmt::format("On average, each of the {} matrix units", cores),
                       percent(products()),
                       waits.empty() ? "" : fmt::format(" and waits {}", fmt::join(waits, ", ")));
  }

  [[nodiscard]] std::string help() const {
    if (causes.empty() || products() >= idle(causes.front()))
      return fmt::format("What would help most: more lanes or cores, or fewer products; most are "
                         "in {}.",
                         placeName(mostProducts()));
    const Cause cause = causes.front();
    const std::optional<uint32_t> stage = mostIdle(cause);
    return fmt::format("What would help most: {}; the longest waits are {}.", waitOf(cause).remedy,
                       stage ? "before " + placeName(*stage) : "after the last product");
  }

private:
  const Explanation &explanation;
  const format::Program &program;
  std::vector<Cause> causes; ///< of waiting, the longest first

  [[nodiscard]] uint64_t idle(Cause cause) const {
    return explanation.idle[static_cast<size_t>(cause)];
  }

  /// Those of products and of all causes of waiting.
  [[nodiscard]] uint64_t coreCycles() const { return explanation.cycles * explanation.cores; }

  [[nodiscard]] uint64_t products() const { return explanation.floor.products + explanation.ahead; }

  [[nodiscard]] std::string percent(uint64_t cycles) const {
    const double share = 100.0 * static_cast<double>(cycles) / static_cast<double>(coreCycles());
    return cycles != 0 && share < 1 ? "below 1 %" : fmt::format("{:.0f} %", share);
  }

  /// The first nodes of a stage; the others are counted.
  [[nodiscard]] std::string placeName(uint32_t stage) const {
    constexpr size_t kShown = 2;
    const std::vector<uint32_t> &nodes = explanation.stages[stage].nodes;
    if (nodes.size() <= kShown)
      return stageName(explanation, program, stage);
    return fmt::format("{}, {} and {} more", nodeName(program.nodes[nodes[0]]),
                       nodeName(program.nodes[nodes[1]]), nodes.size() - kShown);
  }

  [[nodiscard]] uint32_t mostProducts() const {
    const auto of = [](const plan::ExplainedStage &stage) {
      return std::accumulate(stage.productsByCore.begin(), stage.productsByCore.end(), uint64_t{0});
    };
    return static_cast<uint32_t>(std::ranges::max_element(explanation.stages, {}, of) -
                                 explanation.stages.begin());
  }

  /// The stage before which matrix units wait longest for a cause; nothing if they do behind all.
  [[nodiscard]] std::optional<uint32_t> mostIdle(Cause cause) const {
    const auto at = static_cast<size_t>(cause);
    const auto most = std::ranges::max_element(explanation.stages, {},
                                               [&](const auto &stage) { return stage.idle[at]; });
    return most == explanation.stages.end() || most->idle[at] < explanation.drain[at]
               ? std::nullopt
               : std::optional(static_cast<uint32_t>(most - explanation.stages.begin()));
  }
};

} // namespace

std::array<std::string, 3> planSummary(const Explanation &explanation,
                                       const format::Program &program) {
  const Summary summary(explanation, program);
  return {summary.latency(), summary.shares(), summary.help()};
}

std::string stageName(const Explanation &explanation, const format::Program &program,
                      uint32_t stage) {
  if (stage == 0)
    return "inputs";
  std::vector<std::string> names;
  for (const uint32_t node : explanation.stages[stage].nodes)
    names.push_back(nodeName(program.nodes[node]));
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string readsText(const std::vector<uint32_t> &byCores) {
  std::vector<std::string> counts;
  uint64_t all = 0;
  for (size_t cores = 1; cores <= byCores.size(); ++cores)
    if (const uint32_t rows = byCores[cores - 1]; rows != 0) {
      all += rows;
      counts.push_back(fmt::format("{} on {}{}", rows, cores,
                                   !counts.empty() ? ""
                                   : cores == 1    ? " core"
                                                   : " cores"));
    }
  return fmt::format("{} row{}{}{}", all, all == 1 ? "" : "s", counts.empty() ? "" : ": ",
                     fmt::join(counts, ", "));
}

} // namespace sluice::cli
