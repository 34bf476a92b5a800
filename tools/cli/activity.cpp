#include "tools/cli/activity.h"

#include <algorithm>

#include <fmt/format.h>

namespace sluice::cli {
namespace {

/// Column heads by activity.
constexpr const char *kHeads[] = {"busy",    "token",    "result", "taker",
                                  "network", "pipeline", "host",   "idle"};

/// Inferences before the one looked at: from rest, one that may find a machine
/// that starts up; back to back, those that fill the pipeline.
constexpr unsigned kBeforeSpaced = 1, kBeforeContiguous = 4;

void addHeads(std::vector<std::string> &columns, bool idle) {
  columns.insert(columns.end(), std::begin(kHeads), std::end(kHeads) - (idle ? 0 : 1));
}

double share(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

} // namespace

std::string activityText(sluice_rt_activity activity) {
  switch (activity) {
  case SLUICE_RT_BUSY:
    return "busy";
  case SLUICE_RT_WAITS_TOKEN:
    return "waits for a token";
  case SLUICE_RT_WAITS_RESULT:
    return "waits for a result";
  case SLUICE_RT_WAITS_TAKER:
    return "waits for its result to be taken";
  case SLUICE_RT_WAITS_NETWORK:
    return "waits for the network";
  case SLUICE_RT_WAITS_PIPELINE:
    return "waits for its pipeline";
  case SLUICE_RT_WAITS_HOST:
    return "waits for the host";
  case SLUICE_RT_IDLE:
  case SLUICE_RT_WAITS_QUEUE: // of the sequencer and the network, which are not recorded
  case SLUICE_RT_WAITS_TURN:
  case SLUICE_RT_WAITS_OUTPUT:
    break;
  }
  return "idle";
}

Activity cut(std::span<const sluice_rt_span> recording, uint64_t first, uint64_t last) {
  Activity result{first, last, {}};
  for (sluice_rt_span span : recording) {
    span.first = std::max(span.first, first);
    span.last = std::min(span.last, last);
    if (span.first <= span.last)
      result.spans.push_back(span);
  }
  return result;
}

std::variant<Activity, Problem> recordInference(const ModelHandle &model, const std::string &engine,
                                                bool spaced) {
  auto opened = EngineHandle::open(engine, model);
  if (const auto *wrong = std::get_if<Problem>(&opened))
    return *wrong;
  auto &device = std::get<EngineHandle>(opened);
  device.record();
  const unsigned before = spaced ? kBeforeSpaced : kBeforeContiguous;
  auto done =
      device.inferPaced(model.someInputs(), spaced ? SLUICE_RT_SPACED : SLUICE_RT_CONTIGUOUS,
                        before + 1, "profiling");
  if (const auto *wrong = std::get_if<Problem>(&done))
    return *wrong;
  const auto &results = std::get<std::vector<Inference>>(done);
  const uint64_t first =
      spaced ? results[before].cycles.first_input : results[before - 1].cycles.last_output + 1;
  return cut(device.recorded(), first, results[before].cycles.last_output);
}

std::string difference(const Activity &a, const Activity &b) {
  // Spans are in one order and cover every cycle, so the first that differs does so
  // from its start or where the shorter one ends.
  const size_t count = std::min(a.spans.size(), b.spans.size());
  for (size_t i = 0; i < count; ++i) {
    const sluice_rt_span &x = a.spans[i], &y = b.spans[i];
    const bool same = x.activity == y.activity && x.instruction == y.instruction;
    if (same && x.first == y.first && x.last == y.last && x.core == y.core && x.unit == y.unit)
      continue;
    const auto state = [](const sluice_rt_span &span) {
      return span.activity == SLUICE_RT_IDLE
                 ? activityText(span.activity)
                 : fmt::format("{} in instruction {}", activityText(span.activity),
                               span.instruction);
    };
    if (!same || x.first != y.first)
      return fmt::format("cycle {}, {} unit of core {}: {} / {}", x.first, unitName(x.unit), x.core,
                         state(x), state(y));
    return fmt::format("cycle {}, {} unit of core {}: {} to cycle {} / {}", x.first,
                       unitName(x.unit), x.core, state(x), x.last, y.last);
  }
  return a.spans.size() == b.spans.size() && a.first == b.first && a.last == b.last
             ? ""
             : fmt::format("cycles {} to {} / {} to {}", a.first, a.last, b.first, b.last);
}

void ActivityTables::Sums::add(const Sums &other) {
  if (other.by[SLUICE_RT_BUSY] != 0) {
    const bool none = by[SLUICE_RT_BUSY] == 0;
    first = none ? other.first : std::min(first, other.first);
    last = none ? other.last : std::max(last, other.last);
  }
  for (size_t i = 0; i < std::size(by); ++i)
    by[i] += other.by[i];
  rows += other.rows;
  blocks += other.blocks;
}

ActivityTables::ActivityTables(const Activity &activity, const Listing &listing,
                               const sluice_rt_machine &machine)
    : activity(activity), listing(listing), machine(machine) {
  for (const auto &core : listing.cores)
    instructions.emplace_back(core.size());
  for (const sluice_rt_span &span : activity.spans) {
    const uint64_t length = span.last - span.first + 1;
    Sums sums;
    sums.by[span.activity] = length;
    sums.first = span.first;
    sums.last = span.last;
    if (span.activity == SLUICE_RT_BUSY) {
      sums.rows = span.unit == SLUICE_RT_VECTOR ? length : 0;
      sums.blocks = listing.cores[span.core][span.instruction].multiplies ? length : 0;
    }
    if (units.empty() || units.back().core != span.core || units.back().unit != span.unit)
      units.push_back({span.core, span.unit, {}});
    units.back().sums.add(sums);
    if (span.activity != SLUICE_RT_IDLE)
      instructions[span.core][span.instruction].add(sums);
  }
}

Json ActivityTables::core(uint32_t number) const {
  return number >= machine.cores ? Json("host port") : Json(number);
}

void ActivityTables::addTimes(std::vector<Json> &row, const Sums &sums) const {
  const bool none = sums.by[SLUICE_RT_BUSY] == 0;
  row.push_back(none ? Json(nullptr) : Json(sums.first - activity.first));
  row.push_back(none ? Json(nullptr) : Json(sums.last - activity.first));
}

Table ActivityTables::byUnit() const {
  Table table{{"core", "unit", "utilisation"}, {}};
  addHeads(table.columns, true);
  table.columns.emplace_back("cycles");
  for (const UnitSums &unit : units) {
    std::vector<Json> row{core(unit.core), unitName(unit.unit),
                          share(unit.sums.by[SLUICE_RT_BUSY], activity.cycles())};
    row.insert(row.end(), std::begin(unit.sums.by), std::end(unit.sums.by));
    row.emplace_back(activity.cycles());
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table ActivityTables::byCore() const {
  Table table{{"core", "blocks", "rows", "utilisation"}, {}};
  addHeads(table.columns, true);
  table.columns.emplace_back("cycles");
  for (size_t i = 0; i < units.size();) {
    const uint32_t number = units[i].core;
    Sums sums;
    uint64_t cycles = 0;
    for (; i < units.size() && units[i].core == number; ++i) {
      sums.add(units[i].sums);
      cycles += activity.cycles();
    }
    std::vector<Json> row{core(number), sums.blocks, sums.rows,
                          number < machine.cores ? Json(share(sums.blocks, activity.cycles()))
                                                 : Json(nullptr)};
    row.insert(row.end(), std::begin(sums.by), std::end(sums.by));
    row.emplace_back(cycles);
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table ActivityTables::byLayer() const {
  Table table{
      {"nodes", "names", "operators", "rows", "blocks", "macs", "first", "last", "utilisation"},
      {}};
  addHeads(table.columns, false);
  std::vector<Sums> layers(listing.layers.size());
  for (size_t c = 0; c < instructions.size(); ++c)
    for (size_t i = 0; i < instructions[c].size(); ++i)
      layers[listing.cores[c][i].layer].add(instructions[c][i]);
  for (size_t l = 0; l < layers.size(); ++l) {
    const Layer &layer = listing.layers[l];
    const Sums &sums = layers[l];
    const uint64_t possible = sums.blocks == 0 ? 0 : machine.cores * (sums.last - sums.first + 1);
    std::vector<Json> row{layer.nodes, layer.names, layer.operators,
                          sums.rows,   sums.blocks, sums.blocks * machine.lanes * machine.lanes};
    addTimes(row, sums);
    row.push_back(possible == 0 ? Json(nullptr) : Json(share(sums.blocks, possible)));
    row.insert(row.end(), std::begin(sums.by), std::end(sums.by) - 1);
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table ActivityTables::byInstruction() const {
  Table table{{"core", "instruction", "unit", "first", "last"}, {}};
  addHeads(table.columns, false);
  table.columns.insert(table.columns.end(), {"names", "text"});
  for (uint32_t c = 0; c < instructions.size(); ++c)
    for (uint32_t i = 0; i < instructions[c].size(); ++i) {
      const ListedInstruction &listed = listing.cores[c][i];
      if (listed.unit == SLUICE_RT_SEQUENCER)
        continue;
      const Sums &sums = instructions[c][i];
      std::vector<Json> row{core(c), i, unitName(listed.unit)};
      addTimes(row, sums);
      row.insert(row.end(), std::begin(sums.by), std::end(sums.by) - 1);
      row.emplace_back(listing.layers[listed.layer].names);
      row.emplace_back(listed.text);
      table.rows.push_back(std::move(row));
    }
  return table;
}

} // namespace sluice::cli
