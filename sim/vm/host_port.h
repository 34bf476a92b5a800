// The host port: rows in through `input` instructions, rows out in the order
// they arrive.
#pragma once

#include <optional>

#include "sim/vm/packet.h"
#include "sim/vm/sequencer.h"

namespace sluice::vm {

/// A row at the head of the output FIFO.
struct OutputHead {
  Cycle from = 0;
  uint32_t address = 0;
  std::span<const uint16_t> row;
};

class HostPort {
public:
  HostPort(const format::Geometry &geometry, const std::vector<format::InstructionWords> &words);
  HostPort(const HostPort &) = delete;
  HostPort &operator=(const HostPort &) = delete;

  /// Resets everything but the instructions.
  void restart(uint32_t entry);

  struct Issue {
    bool issued = false; ///< a beat issued
    bool taken = false;  ///< and took the row
  };
  /// Input side of cycle `now`. `row` holds the lanes of the row offered; null: none.
  Issue decide(Cycle now, const uint16_t *row);

  /// Output side: the row the host may take in cycle `now`, and taking it.
  const OutputHead *head(Cycle now) const {
    return output.empty() || output.front().from > now ? nullptr : &output.front();
  }
  void takeHead() {
    output.pop();
    --outstandingRows;
  }

  // The network's side.
  Ring<Packet> &inputFifo() { return input; }
  void inputGranted(Cycle now) { front.wakeAt(now + 1); }
  bool acceptsRow() const { return outstandingRows < isa::kHostOutDepth; }
  void reserveRow() { ++outstandingRows; }
  /// A packet arrives at the end of cycle `now`.
  void receive(const Packet &packet, Cycle now);

  device::UnitStatus status(uint32_t core) const {
    return front.status("input", core, block(false));
  }
  const ActivityCounter &inputCounter() const { return front.counter(); }
  const ActivityCounter &sequencerCounter() const { return sequencer.counter(); }
  bool tokenFault() const { return front.tokens().fault(); }

private:
  Block block(bool offered) const;

  uint32_t lanes;
  Code code;
  Sequencer sequencer;
  UnitFront<InputInstruction> front;
  Ring<Packet> input;
  RowStore inputRows;
  Ring<OutputHead> output;
  RowStore outputRows;
  uint32_t outstandingRows = 0; ///< granted and not yet taken by the host
};

} // namespace sluice::vm
