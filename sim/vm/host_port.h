// The host port: `input` instructions send the rows of the host to the cores, and the host takes
// output rows in the order of their arrival.
#pragma once

#include <optional>

#include "sim/vm/packet.h"
#include "sim/vm/sequencer.h"

namespace sluice::vm {

/// An entry of the output FIFO: its first visible cycle, its address and its row.
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

  /// Resets everything except the instructions. `entry` is the first instruction.
  void restart(uint32_t entry);

  struct Issue {
    bool issued = false; ///< a beat issued
    bool taken = false;  ///< the beat took the offered row
  };
  /// Decides the input side in cycle `now`. `row` points to the lanes of the row that the host
  /// offers; null if it offers none.
  Issue decide(Cycle now, const uint16_t *row);

  /// Returns the row that the host can take in cycle `now`, or null. takeHead removes it.
  const OutputHead *head(Cycle now) const {
    return output.empty() || output.front().from > now ? nullptr : &output.front();
  }
  void takeHead() {
    output.pop();
    --outstandingRows;
  }

  // Functions for the network.
  Ring<Packet> &inputFifo() { return input; }
  void inputGranted(Cycle now) { front.wakeAt(now + 1); }
  bool acceptsRow() const { return outstandingRows < isa::kHostOutDepth; }
  void reserveRow() { ++outstandingRows; }
  /// Receives a packet at the end of cycle `now`.
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
  uint32_t outstandingRows = 0; ///< rows that the network granted and the host has not taken
};

} // namespace sluice::vm
