// A timed run of a plan: when every beat issued, and what it had waited for.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/conversion/plan/beats/build.h"
#include "compiler/conversion/plan/report/facts.h"
#include "hw/numerics/vector_pipeline.h"
#include "sim/vm/watch.h"

namespace sluice::format {
struct Geometry;
struct Program;
} // namespace sluice::format

namespace sluice::plan {

/// Cycles from..to-1 passed for one reason.
struct Passed {
  Delay delay = Delay::Products;
  uint32_t unit = 0; ///< that caused it: matrix units, vector units, host port
  rows::RowId row = rows::kNoRow;
  uint64_t from = 0, to = 0;

  uint64_t cycles() const { return to - from; }
};

/// The second inference from rest of a plan on the timing-only machine. Units
/// are numbered: matrix units by core, vector units by core, host port.
class Timeline final : private vm::Watch {
public:
  /// Beat `index` of a unit, counted from the start of the run.
  struct Event {
    uint32_t unit = 0;
    size_t index = 0;
  };

  /// Nothing if the program stalls.
  static std::optional<Timeline> run(const rows::Graph &graph, const MachineBeats &beats,
                                     const format::Program &program);

  uint64_t start() const { return first; }  ///< cycle in which the first input row was taken
  uint64_t end() const { return last + 1; } ///< cycle after the one that took the last output row
  uint64_t latency() const { return end() - start(); }
  uint32_t units() const { return static_cast<uint32_t>(issues.size()); }

  const std::vector<uint64_t> &issuesOf(uint32_t unit) const { return issues[unit]; }
  const BeatOrigin &originOf(const Event &event) const;
  /// A beat that does nothing but wait.
  bool pauses(const Event &event) const;

  /// Why `event` issued no earlier than it did, back to the cycle `until`:
  /// consecutive stretches, latest first, that cover until..issue-1. The first
  /// input row ends the search; what is before it is not covered.
  std::vector<Passed> before(Event event, uint64_t until) const;
  /// The same for the last output row, to which the cycle it is taken in belongs.
  std::vector<Passed> beforeEnd(uint64_t until) const;

private:
  struct Gift {
    uint64_t visible = 0; ///< first cycle in which the counter shows it
    Event giver;
  };
  /// What a beat waited for longest: the event before, and how the time passed.
  struct Step {
    std::optional<Event> event;
    std::vector<Passed> passed; ///< latest first
  };

  Timeline(const MachineBeats &beats, const format::Geometry &geometry);

  void issued(Unit unit, uint32_t core, uint64_t first, uint64_t count) override;
  void granted(uint32_t source, uint64_t cycle) override;

  const UnitBeats &plan(uint32_t unit) const;
  const Beat &beatOf(const Event &event) const;
  bool makesPacket(const Event &event) const;
  isa::VectorEntries entriesOf(const Event &event) const;
  /// Returns the beat behind which a beat of a vector unit came into a unit or to its destination,
  /// if it could not issue earlier for that.
  std::optional<Event> heldBy(const Event &event) const;
  /// Issue to the cycle from which on the outbox, or a reader, sees the row.
  uint64_t vectorDepth(const Event &event) const;
  void derive();
  void deriveGifts();
  void give(uint32_t unit, uint32_t token, const Gift &gift);
  Step step(const Event &event) const;
  /// From `event`'s issue over its packet to the cycle in which that is seen.
  void addPacket(const Event &event, uint64_t visible, std::vector<Passed> &passed) const;
  std::vector<Passed> follow(Step step, uint64_t until) const;

  const MachineBeats *beats;
  const format::Geometry *geometry;
  uint32_t cores;
  uint64_t first = 0, last = 0;
  std::vector<std::vector<uint64_t>> issues; ///< by unit and beat
  std::vector<std::vector<uint64_t>> grants; ///< by source, cores and host
  std::vector<std::vector<Event>> senders;   ///< beat of every packet, by source
  std::vector<std::vector<size_t>> packetOf; ///< by unit and beat: index of its packet
  std::vector<std::vector<size_t>> resultOf; ///< by core and vector beat: the matrix beat it takes
  std::vector<std::vector<std::optional<Gift>>> awaited;          ///< by unit and beat
  std::vector<std::array<std::vector<Gift>, isa::kTokens>> gifts; ///< by unit, ascending visible
};

} // namespace sluice::plan
