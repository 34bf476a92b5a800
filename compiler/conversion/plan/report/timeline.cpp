#include "compiler/conversion/plan/report/timeline.h"

#include <algorithm>
#include <tuple>

#include "compiler/conversion/plan/order/order.h"
#include "compiler/conversion/row_graph.h"
#include "hw/numerics/latency.h"
#include "runtime/format/program.h"
#include "sim/vm/timing.h"

namespace sluice::plan {
namespace {

/// The first inference fills the sequencer queues, the second one is measured.
constexpr unsigned kInferences = 2;

} // namespace

Timeline::Timeline(const MachineBeats &beats, const format::Geometry &geometry)
    : beats(&beats), geometry(&geometry), cores(geometry.cores), issues(2 * cores + 1),
      grants(cores + 1) {}

std::optional<Timeline> Timeline::run(const rows::Graph &graph, const MachineBeats &beats,
                                      const format::Program &program) {
  Timeline timeline(beats, graph.geometry);
  const vm::TimingRun run =
      vm::runTiming(program, vm::Arrival::Spaced, kInferences, 0, uint64_t{1} << 32, &timeline);
  if (run.stalled)
    return std::nullopt;
  timeline.first = run.inferences.back().firstInput;
  timeline.last = run.inferences.back().lastOutput;
  timeline.derive();
  return timeline;
}

void Timeline::issued(Unit unit, uint32_t core, uint64_t from, uint64_t count) {
  const uint32_t index = unit == Unit::Matrix   ? core
                         : unit == Unit::Vector ? cores + core
                                                : 2 * cores;
  for (uint64_t i = 0; i < count; ++i)
    issues[index].push_back(from + i);
}

void Timeline::granted(uint32_t source, uint64_t cycle) { grants[source].push_back(cycle); }

const UnitBeats &Timeline::plan(uint32_t unit) const {
  return unit < cores       ? beats->matrix[unit]
         : unit < 2 * cores ? beats->vector[unit - cores]
                            : beats->host;
}

const Beat &Timeline::beatOf(const Event &event) const {
  const UnitBeats &unit = plan(event.unit);
  return unit.beats[event.index % unit.beats.size()];
}

const BeatOrigin &Timeline::originOf(const Event &event) const {
  const UnitBeats &unit = plan(event.unit);
  return unit.origins[event.index % unit.origins.size()];
}

bool Timeline::pauses(const Event &event) const {
  return originOf(event).row == rows::kNoRow && !makesPacket(event);
}

bool Timeline::makesPacket(const Event &event) const {
  const Beat &beat = beatOf(event);
  const isa::Instruction &form = plan(event.unit).forms[beat.form];
  if (const auto *vec = std::get_if<isa::Vec>(&form))
    return vec->dstKind == isa::Dst::Net ? vec->reduce == isa::Reduce::None || beat.last
                                         : vec->dstKind == isa::Dst::Signal && beat.signal.on;
  const auto *input = std::get_if<isa::Input>(&form);
  return input && input->skip == 0;
}

isa::VectorEntries Timeline::entriesOf(const Event &event) const {
  const auto &vec = std::get<isa::Vec>(plan(event.unit).forms[beatOf(event).form]);
  return isa::vectorEntries(vectorPath(vec), geometry->latencies());
}

std::optional<Timeline::Event> Timeline::heldBy(const Event &event) const {
  const std::vector<uint64_t> &times = issues[event.unit];
  const isa::VectorEntries entries = entriesOf(event);
  for (size_t index = event.index; index-- > 0;) {
    isa::VectorPipeline alone;
    alone.issue(entriesOf({event.unit, index}), times[index]);
    if (alone.earliest(entries) == times[event.index])
      return Event{event.unit, index};
    if (alone.emptyFrom() < times[event.index])
      break; // and so are those before it
  }
  return std::nullopt;
}

uint64_t Timeline::vectorDepth(const Event &event) const {
  return uint64_t{entriesOf(event).destination} + 1;
}

void Timeline::give(uint32_t unit, uint32_t token, const Gift &gift) {
  gifts[unit][token].push_back(gift);
}

/// Whose packet is which, and what every counter shows when.
void Timeline::deriveGifts() {
  gifts.resize(issues.size());
  senders.resize(cores + 1);
  packetOf.resize(issues.size());
  const auto giveCore = [&](uint32_t core, uint32_t which, uint32_t token, const Gift &gift) {
    if ((which & kMatrixBit) != 0)
      give(core, token, gift);
    if ((which & kVectorBit) != 0)
      give(cores + core, token, gift);
  };
  for (uint32_t unit = 0; unit < issues.size(); ++unit) {
    packetOf[unit].resize(issues[unit].size());
    for (size_t index = 0; index < issues[unit].size(); ++index) {
      const Event event{unit, index};
      const Beat &beat = beatOf(event);
      if (unit >= cores && makesPacket(event)) {
        const uint32_t source = unit - cores;
        packetOf[unit][index] = senders[source].size();
        senders[source].push_back(event);
        continue;
      }
      if (!beat.signal.on)
        continue;
      const uint64_t depth = unit < cores ? geometry->latencies().chain() + isa::kMmAccumulate + 1
                                          : vectorDepth(event);
      giveCore(unit % cores, beat.signal.units, beat.signal.token,
               {issues[unit][index] + depth, event});
    }
  }
  for (uint32_t source = 0; source <= cores; ++source)
    for (size_t packet = 0; packet < grants[source].size(); ++packet) {
      const Event sender = senders[source][packet];
      const Beat &beat = beatOf(sender);
      if (!beat.signal.on)
        continue;
      const isa::Instruction &form = plan(sender.unit).forms[beat.form];
      const auto *vec = std::get_if<isa::Vec>(&form);
      const uint32_t mask = vec ? vec->mask : std::get<isa::Input>(form).mask;
      const Gift gift{grants[source][packet] + geometry->latencies().hop(), sender};
      for (uint32_t core = 0; core < cores; ++core)
        if ((mask >> core & 1) != 0)
          giveCore(core, beat.signal.units, beat.signal.token, gift);
      if ((mask & kHostMask) != 0)
        give(2 * cores, beat.signal.token, gift);
    }
  for (auto &bank : gifts)
    for (std::vector<Gift> &token : bank)
      std::sort(token.begin(), token.end(), [](const Gift &left, const Gift &right) {
        return std::tie(left.visible, left.giver.unit, left.giver.index) <
               std::tie(right.visible, right.giver.unit, right.giver.index);
      });
}

void Timeline::derive() {
  deriveGifts();
  awaited.resize(issues.size());
  for (uint32_t unit = 0; unit < issues.size(); ++unit) {
    std::array<size_t, isa::kTokens> taken{};
    awaited[unit].resize(issues[unit].size());
    for (size_t index = 0; index < issues[unit].size(); ++index) {
      const Wait &wait = beatOf({unit, index}).wait;
      if (wait.count != 0)
        awaited[unit][index] = gifts[unit][wait.token][(taken[wait.token] += wait.count) - 1];
    }
  }
  resultOf.resize(cores);
  for (uint32_t core = 0; core < cores; ++core) {
    size_t result = 0;
    for (size_t index = 0; index < issues[cores + core].size(); ++index) {
      const Event event{cores + core, index};
      const auto &vec = std::get<isa::Vec>(plan(event.unit).forms[beatOf(event).form]);
      if (isa::takesResult(vec))
        while (!beatOf({core, result}).last)
          ++result;
      resultOf[core].push_back(result);
      if (vec.aSrc == isa::Source::Mxu)
        ++result;
    }
  }
}

void Timeline::addPacket(const Event &event, uint64_t visible, std::vector<Passed> &passed) const {
  const rows::RowId row = originOf(event).row;
  const uint64_t issue = issues[event.unit][event.index];
  if (!makesPacket(event)) { // inside one core
    passed.push_back({event.unit < cores ? Delay::MatrixDepth : Delay::VectorDepth, event.unit, row,
                      issue, visible});
    return;
  }
  const bool host = event.unit == 2 * cores;
  const uint64_t ready = issue + (host ? 1 : vectorDepth(event));
  const uint64_t grant = visible - geometry->latencies().hop();
  passed.push_back({Delay::Network, event.unit, row, grant, visible});
  if (grant > ready)
    passed.push_back({Delay::Arbitration, event.unit, row, ready, grant});
  passed.push_back({host ? Delay::HostRows : Delay::VectorDepth, event.unit, row, issue, ready});
}

Timeline::Step Timeline::step(const Event &event) const {
  const uint64_t now = issues[event.unit][event.index];
  const rows::RowId row = originOf(event).row;
  std::optional<Event> previous;
  uint64_t before = 0;
  if (event.index > 0) {
    previous = {event.unit, event.index - 1};
    before = issues[event.unit][event.index - 1];
  }
  const auto waited = [&](Delay delay) {
    return Step{previous, {{delay, event.unit, row, before, now}}};
  };
  const bool follows = previous && before + 1 == now;
  const auto busy = [&](Delay delay) {
    Step result = waited(pauses(*previous) ? Delay::WaitBeats : delay);
    result.passed[0].row = originOf(*previous).row;
    return result;
  };
  // A matrix unit that goes on working was busy, whatever arrived meanwhile.
  if (follows && event.unit < cores)
    return busy(Delay::Products);
  const std::optional<Gift> &gift = awaited[event.unit][event.index];
  if (gift && gift->visible == now) {
    Step result{gift->giver, {}};
    addPacket(gift->giver, now, result.passed);
    return result;
  }
  const isa::Instruction &form = plan(event.unit).forms[beatOf(event).form];
  if (const auto *vec = std::get_if<isa::Vec>(&form)) {
    if (isa::takesResult(*vec)) {
      const Event result{event.unit - cores, resultOf[event.unit - cores][event.index]};
      const uint64_t issue = issues[result.unit][result.index];
      if (issue + geometry->latencies().result() == now)
        return {result, {{Delay::MatrixDepth, result.unit, row, issue, now}}};
    }
    if (follows)
      return busy(Delay::VectorBeats);
    if (const std::optional<Event> ahead = heldBy(event))
      return {ahead, {{Delay::PathChange, event.unit, row, issues[event.unit][ahead->index], now}}};
    const size_t packet = packetOf[event.unit][event.index];
    if (makesPacket(event) && packet >= isa::kOutboxDepth &&
        grants[event.unit - cores][packet - isa::kOutboxDepth] + 1 == now)
      return waited(Delay::OutboxFull);
    return waited(Delay::Instructions);
  }
  if (event.unit == 2 * cores) // the input FIFO is full
    return follows ? busy(Delay::HostRows) : waited(Delay::Arbitration);
  return waited(beatOf(event).last ? Delay::ResultsFull : Delay::Instructions);
}

std::vector<Passed> Timeline::follow(Step step, uint64_t until) const {
  until = std::max(until, first);
  std::vector<Passed> result;
  while (true) {
    for (Passed &passed : step.passed) {
      if (passed.to <= until)
        return result;
      passed.from = std::max(passed.from, until);
      result.push_back(passed);
    }
    const uint64_t covered = result.empty() ? end() : result.back().from;
    if (covered <= until)
      return result;
    if (!step.event) { // the first beat of the run
      result.push_back({Delay::Instructions, result.empty() ? 0 : result.back().unit, rows::kNoRow,
                        until, covered});
      return result;
    }
    step = this->step(*step.event);
  }
}

std::vector<Passed> Timeline::before(Event event, uint64_t until) const {
  return follow(step(event), until);
}

std::vector<Passed> Timeline::beforeEnd(uint64_t until) const {
  for (uint32_t source = 0; source < cores; ++source)
    for (size_t packet = 0; packet < grants[source].size(); ++packet)
      if (const Event sender = senders[source][packet];
          grants[source][packet] + geometry->latencies().hop() == last && makesPacket(sender)) {
        const auto &vec = std::get<isa::Vec>(plan(sender.unit).forms[beatOf(sender).form]);
        if ((vec.mask & kHostMask) == 0 || vec.dstKind != isa::Dst::Net)
          continue;
        Step step{sender, {{Delay::HostRows, 2 * cores, originOf(sender).row, last, last + 1}}};
        addPacket(sender, last, step.passed);
        return follow(std::move(step), until);
      }
  return {};
}

} // namespace sluice::plan
