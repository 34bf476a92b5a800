#include "tools/cli/report/report_timeline.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

namespace sluice::cli {
namespace {

/// Spans of a page, which are then about 10 MB.
constexpr size_t kMostSpans = 500'000;

/// The first cycle that the timeline leaves out.
uint64_t endOf(const Activity &activity) {
  if (activity.spans.size() <= kMostSpans)
    return activity.last + 1;
  std::vector<uint64_t> starts;
  for (const sluice_rt_span &span : activity.spans)
    starts.push_back(span.first);
  std::ranges::nth_element(starts, starts.begin() + kMostSpans);
  return starts[kMostSpans];
}

Json instructionsJson(const Listing &listing) {
  Json cores = Json::array();
  for (const auto &core : listing.cores) {
    Json list = Json::array();
    for (const ListedInstruction &one : core)
      list.push_back(
          {{"text", one.text},
           {"layer", one.unit == SLUICE_RT_SEQUENCER ? Json(nullptr) : Json(one.layer)}});
    cores.push_back(std::move(list));
  }
  return cores;
}

} // namespace

Json timelineJson(const Activity &activity, const Listing &listing,
                  const sluice_rt_machine &machine) {
  const uint64_t end = endOf(activity);
  Json activities = Json::array();
  for (int i = SLUICE_RT_BUSY; i <= SLUICE_RT_IDLE; ++i)
    activities.push_back(activityText(static_cast<sluice_rt_activity>(i)));
  Json units = Json::array();
  for (size_t i = 0; i < activity.spans.size();) {
    const sluice_rt_span &head = activity.spans[i];
    const bool isHost = head.core >= machine.cores;
    Json spans = Json::array();
    for (; i < activity.spans.size() && activity.spans[i].core == head.core &&
           activity.spans[i].unit == head.unit;
         ++i) {
      const sluice_rt_span &span = activity.spans[i];
      if (span.activity != SLUICE_RT_IDLE && span.first < end)
        spans.push_back({span.first - activity.first, std::min(span.last + 1, end) - span.first,
                         static_cast<int>(span.activity), span.instruction});
    }
    units.push_back({{"core", isHost ? Json("host port") : Json(head.core)},
                     {"unit", unitName(head.unit)},
                     {"name", isHost ? coreName(head.core, machine.cores)
                                     : fmt::format("{} {} unit", coreName(head.core, machine.cores),
                                                   unitName(head.unit))},
                     {"spans", std::move(spans)}});
  }
  return {{"cycles", end - activity.first},
          {"activities", activities},
          {"units", units},
          {"instructions", instructionsJson(listing)}};
}

} // namespace sluice::cli
