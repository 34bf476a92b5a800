#include "tools/cli/report/report_summary.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/support/problem_text.h"
#include "tools/cli/clock.h"
#include "tools/cli/plan_summary.h"

namespace sluice::cli {
namespace {

class ProgramSentences {
public:
  ProgramSentences(const ReportSubject &subject, const Listing &listing,
                   const std::vector<LayerUse> &uses)
      : subject(subject), activity(subject.activity), model(subject.model), listing(listing),
        uses(uses), machine(subject.model.program().machine()) {}

  [[nodiscard]] std::string latency() const {
    return fmt::format("An inference of {} takes {} cycles on {} ({}).",
                       printable(model.info().name), activity.cycles(), machine.target,
                       Clock(machine).time(activity.cycles()));
  }

  /// Of a program that runs several times for an inference, which has the plan of one run.
  [[nodiscard]] std::string runs() const {
    const plan::Explanation &plan = *subject.compiled->explanation;
    return fmt::format("The program runs {} times for this; one run alone takes {} cycles, and its "
                       "rows need at least {}.",
                       runsOf(subject), plan.cycles, plan.floor.cycles);
  }

  /// What the matrix units do, as the program alone tells.
  [[nodiscard]] std::string shares() const {
    std::array<uint64_t, SLUICE_RT_IDLE + 1> sums{};
    for (const sluice_rt_span &span : activity.spans)
      if (span.unit == SLUICE_RT_MATRIX)
        sums.at(span.activity) += span.last - span.first + 1;
    std::vector<std::string> parts = {fmt::format("is busy for {} of that time", percent(sums[0]))};
    for (size_t i = SLUICE_RT_BUSY + 1; i < sums.size(); ++i)
      if (sums.at(i) != 0)
        parts.push_back(fmt::format("{} for {}",
                                    i == SLUICE_RT_IDLE
                                        ? "has no instruction"
                                        : activityText(static_cast<sluice_rt_activity>(i)),
                                    percent(sums.at(i))));
    return fmt::format("{} {}.",
                       machine.cores == 1
                           ? "The matrix unit"
                           : fmt::format("On average, each of the {} matrix units", machine.cores),
                       fmt::join(parts, ", "));
  }

  /// Nothing where no layer of the model is in the program.
  [[nodiscard]] std::optional<std::string> slowest() const {
    std::optional<size_t> most;
    for (size_t i = 0; i < uses.size(); ++i)
      if (!listing.layers[i].operators.empty() && (!most || uses[i].cycles > uses[*most].cycles))
        most = i;
    if (!most)
      return std::nullopt;
    const uint64_t cycles = uses[*most].cycles;
    return fmt::format("The slowest layer is {}: {} of the {} cycles ({:.0f} %).",
                       titleOf(listing.layers[*most]), cycles, activity.cycles(),
                       100.0 * static_cast<double>(cycles) /
                           static_cast<double>(activity.cycles()));
  }

  /// How the products divide among the cores.
  [[nodiscard]] std::optional<std::string> balance() const {
    if (machine.cores == 1)
      return std::nullopt;
    std::vector<uint64_t> products(machine.cores);
    for (const LayerUse &use : uses)
      for (size_t core = 0; core < products.size() && core < use.blocksByCore.size(); ++core)
        products[core] += use.blocksByCore[core];
    const auto [least, most] = std::ranges::minmax_element(products);
    if (*most == 0)
      return "No core computes products.";
    if (*least == *most)
      return fmt::format("The work is balanced: each of the {} cores computes {} block products.",
                         machine.cores, *most);
    const double average =
        static_cast<double>(std::accumulate(products.begin(), products.end(), uint64_t{0})) /
        static_cast<double>(products.size());
    constexpr double kNearly = 1.05;
    return fmt::format(
        "The work is {} balanced: core {} computes {} block products, core {} computes {}, and the "
        "average is {:.1f}.",
        static_cast<double>(*most) <= kNearly * average ? "nearly" : "not", most - products.begin(),
        *most, least - products.begin(), *least, average);
  }

private:
  const ReportSubject &subject;
  const Activity &activity;
  const ModelHandle &model;
  const Listing &listing;
  const std::vector<LayerUse> &uses;
  const sluice_rt_machine machine;

  /// Of the cycles of all matrix units.
  [[nodiscard]] std::string percent(uint64_t cycles) const {
    const double all = static_cast<double>(activity.cycles()) * machine.cores;
    const double share = 100.0 * static_cast<double>(cycles) / all;
    return cycles != 0 && share < 1 ? "below 1 %" : fmt::format("{:.0f} %", share);
  }

  /// The first nodes of a layer; the others are counted.
  static std::string titleOf(Layer layer) {
    constexpr size_t kShown = 2;
    const size_t more = layer.names.size() - std::min(layer.names.size(), kShown);
    if (more < 2)
      return printable(layer.title());
    layer.names.resize(kShown);
    return fmt::format("{} and {} more", printable(layer.title()), more);
  }
};

} // namespace

std::vector<std::string> reportSummary(const ReportSubject &subject, const Listing &listing,
                                       const std::vector<LayerUse> &uses) {
  const ProgramSentences sentences(subject, listing, uses);
  std::vector<std::string> summary = {sentences.latency(), sentences.shares()};
  std::string help = "What would help most is not known: this needs the model.";
  if (subject.compiled) {
    const auto plan = planSummary(*subject.compiled->explanation, subject.compiled->program);
    help = plan[2];
    if (runsOf(subject) == 1)
      summary = {plan[0], plan[1]};
    else
      summary = {sentences.latency(), sentences.runs(), plan[1]};
  }
  for (const std::optional<std::string> &one : {sentences.slowest(), sentences.balance()})
    if (one)
      summary.push_back(*one);
  summary.push_back(help);
  return summary;
}

} // namespace sluice::cli
