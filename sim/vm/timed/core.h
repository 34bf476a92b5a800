// A core of the timing-only machine.
#pragma once

#include "sim/vm/ring.h"
#include "sim/vm/timed/sequencer.h"

namespace sluice::vm::timed {

/// What travels on the network: a row, a token, or both.
struct Packet {
  Cycle from = 0; ///< first cycle in which the sending FIFO shows it
  uint16_t mask = 0;
  bool hasRow = false;
  bool signals = false;
  uint8_t token = 0;
  uint8_t units = 0;
};

/// Its units run ahead of the clock, each until it needs a token, a row of room or a
/// result that does not exist yet; tokens and grants are told in the order of cycles.
class Core {
public:
  /// Calls of `watch`, which may be null, name this core by `index`.
  Core(const format::Geometry &geometry, const Code &code, uint32_t index, Watch *watch);

  /// The units go on, with beats that issue before `limit`. Afterwards everything
  /// that happens here without anything from outside is known up to that cycle.
  void run(Cycle limit);

  // Of what happens at the end of cycle `now`; if true, `run` is to be called.
  bool give(uint8_t units, uint8_t token, Cycle now);
  bool outboxGranted(Cycle now);
  /// The core's own tokens that are due in cycle `now`.
  void settle(Cycle now);
  /// The limit has been raised.
  void resume();

  /// Packets not yet granted.
  Ring<Packet> &outbox() { return packets; }

  /// Cycle of the next `settle`.
  Cycle nextToken() const;
  /// The cycle in which a unit goes on that has reached the limit.
  Cycle parked() const;
  /// Nothing of what has been done shows in this cycle or later ones.
  Cycle restFrom() const;

  void addStatus(std::vector<device::UnitStatus> &to) const;

private:
  enum Part : uint8_t { Matrix = 0, Vector = 1, Sequencing = 2 };
  static constexpr uint8_t bit(Part part) { return static_cast<uint8_t>(1U << part); }

  struct Token {
    Cycle due = 0;
    uint8_t token = 0;
    uint8_t units = 0;
  };

  void runMatrix(Cycle limit);
  void runVector(Cycle limit);
  void sequencerHasRoom(Part unit) {
    if (sequencer.waitsFor(unit))
      due |= bit(Sequencing);
  }

  uint32_t index;
  Watch *watch;
  uint8_t due = bit(Sequencing); ///< parts that may be able to go on
  Sequencer sequencer;
  Front matrix, vector;

  uint32_t matrixDelay; ///< issue to accumulate
  uint32_t resultDelay; ///< issue to the first cycle that shows the result
  /// Results by number: made, popped, and by place in the FIFO since when they
  /// can be popped, and from when on the place is free again.
  uint64_t resultsMade = 0, resultsPopped = 0;
  std::array<Cycle, isa::kResultFifoDepth> resultFrom{}, resultRoomFrom{};

  isa::VectorPipeline pipeline;
  Ring<Packet> packets{isa::kOutboxDepth};
  Cycle outboxRoomFrom = 0; ///< first cycle after the last grant

  Ring<Token> matrixTokens, vectorTokens; ///< to give, each ascending
};

} // namespace sluice::vm::timed
