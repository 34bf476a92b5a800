#include "tools/cli/trace.h"

#include <map>

#include <fmt/format.h>

namespace sluice::cli {
namespace {

class Writer {
public:
  Writer(const Activity &activity, const Listing &listing, const sluice_rt_machine &machine)
      : activity(activity), listing(listing), machine(machine) {}

  std::string run() {
    addNames();
    for (size_t i = 0; i < activity.spans.size();)
      i = addSlices(i);
    addCounter(SLUICE_RT_MATRIX, "matrix units busy");
    addCounter(SLUICE_RT_VECTOR, "vector units busy");
    const Json about{{"target", machine.target},
                     {"clock_mhz", machine.clock_mhz},
                     {"clock_source", machine.clock_source},
                     {"cycle_ns", 1000.0 / machine.clock_mhz},
                     {"first_cycle", activity.first},
                     {"cycles", activity.cycles()}};
    return fmt::format("{{\"displayTimeUnit\":\"ns\",\"otherData\":{},\"traceEvents\":[\n{}\n]}}\n",
                       dump(about), events);
  }

private:
  static std::string dump(const Json &value) {
    return value.dump(-1, ' ', false, Json::error_handler_t::replace);
  }

  void add(const Json &event) { events += (events.empty() ? "" : ",\n") + dump(event); }

  /// Whole nanoseconds from the first cycle to the start of this one, so that
  /// slices that touch or contain each other do so exactly.
  uint64_t nanoseconds(uint64_t cycle) const {
    return (2000 * (cycle - activity.first) / machine.clock_mhz + 1) / 2;
  }
  /// The format counts in microseconds.
  static double microseconds(uint64_t nanoseconds) {
    return static_cast<double>(nanoseconds) / 1000;
  }

  void addNames() {
    for (uint32_t core = 0; core <= machine.cores; ++core) {
      const auto name = [&](const char *what, Json thread, Json args) {
        Json event{{"ph", "M"}, {"name", what}, {"pid", core}};
        if (!thread.is_null())
          event["tid"] = std::move(thread);
        event["args"] = std::move(args);
        add(event);
      };
      name("process_name", nullptr, {{"name", coreName(core, machine.cores)}});
      name("process_sort_index", nullptr, {{"sort_index", core}});
      for (const sluice_rt_unit unit : {SLUICE_RT_MATRIX, SLUICE_RT_VECTOR, SLUICE_RT_INPUT})
        if ((unit == SLUICE_RT_INPUT) == (core == machine.cores))
          name("thread_name", unit, {{"name", unitName(unit)}});
    }
  }

  void slice(const sluice_rt_span &span, const std::string &name, const char *category, Json args) {
    const uint64_t start = nanoseconds(span.first), end = nanoseconds(span.last + 1);
    args["first"] = span.first - activity.first;
    args["last"] = span.last - activity.first;
    add({{"ph", "X"},
         {"name", name},
         {"cat", category},
         {"pid", span.core},
         {"tid", span.unit},
         {"ts", microseconds(start)},
         {"dur", microseconds(end - start)},
         {"args", std::move(args)}});
  }

  /// The slices of one instruction from its first span on; the index behind them.
  size_t addSlices(size_t begin) {
    const auto &spans = activity.spans;
    sluice_rt_span whole = spans[begin];
    if (whole.activity == SLUICE_RT_IDLE)
      return begin + 1;
    uint64_t beats = 0;
    size_t end = begin;
    for (; end < spans.size() && spans[end].core == whole.core && spans[end].unit == whole.unit &&
           spans[end].activity != SLUICE_RT_IDLE && spans[end].instruction == whole.instruction;
         ++end) {
      whole.last = spans[end].last;
      if (spans[end].activity == SLUICE_RT_BUSY)
        beats += spans[end].last - spans[end].first + 1;
    }
    const ListedInstruction &listed = listing.cores[whole.core][whole.instruction];
    Json args{{"instruction", whole.instruction}, {"text", listed.text}, {"beats", beats}};
    if (!listed.moves.empty())
      args["moves"] = listed.moves;
    slice(whole, listing.layers[listed.layer].title(), "instruction", std::move(args));
    for (size_t i = begin; i < end; ++i)
      if (spans[i].activity != SLUICE_RT_BUSY)
        slice(spans[i], activityText(spans[i].activity), "wait", Json::object());
    return end;
  }

  void addCounter(sluice_rt_unit unit, const char *name) {
    std::map<uint64_t, int64_t> changes{{activity.first, 0}};
    for (const sluice_rt_span &span : activity.spans)
      if (span.unit == unit && span.activity == SLUICE_RT_BUSY) {
        ++changes[span.first];
        --changes[span.last + 1];
      }
    int64_t busy = 0;
    for (const auto &[cycle, change] : changes) {
      if (change == 0 && cycle != activity.first)
        continue;
      busy += change;
      add({{"ph", "C"},
           {"name", name},
           {"pid", machine.cores},
           {"ts", microseconds(nanoseconds(cycle))},
           {"args", {{"units", busy}}}});
    }
  }

  const Activity &activity;
  const Listing &listing;
  const sluice_rt_machine &machine;
  std::string events;
};

} // namespace

std::string traceText(const Activity &activity, const Listing &listing,
                      const sluice_rt_machine &machine) {
  return Writer(activity, listing, machine).run();
}

} // namespace sluice::cli
