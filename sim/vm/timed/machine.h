// The machine without its data: when everything happens, not what is computed.
// Cores run ahead of the clock; only packets, tokens and rows for the host are gone
// through in the order of cycles.
#pragma once

#include "sim/vm/timed/core.h"
#include "sim/vm/timed/offers.h"

namespace sluice::vm::timed {

class Machine {
public:
  /// `watch` may be null. A unit's beats are told in order, but ahead of other units'.
  Machine(const format::Program &program, Offers &offers, Watch *watch);
  // Cores and sequencers point into this object.
  Machine(const Machine &) = delete;
  Machine &operator=(const Machine &) = delete;

  /// Goes on until the offers are complete, nothing happens before cycle `end`, or
  /// nothing ever will.
  void run(Cycle end);

  std::vector<device::UnitStatus> status() const;

private:
  void step(Cycle now);
  void arbitrate(Cycle now);
  void deliver(const Packet &packet, Cycle now);
  void runCore(uint32_t core);
  void runHost();
  /// The next cycle in which something happens, as far as that is known.
  Cycle nextEvent() const;
  /// First cycle of a unit that has reached the limit.
  Cycle parked() const;
  void resume(Cycle from);
  Cycle restFrom() const;

  const uint32_t hostSource; ///< number of cores
  const uint32_t hop;        ///< cycles from a grant to the first that shows the packet
  Offers &offers;
  Watch *watch;
  Cycle limit; ///< beats that issue before it are known
  Cycle end = 0;
  Cycle latest = 0; ///< cycle gone through last

  std::vector<Code> codes; ///< cores, host port
  std::vector<Core> cores;
  Sequencer hostSequencer;
  Front input;
  Ring<Packet> inputFifo{isa::kHostInDepth};

  uint32_t last;               ///< source granted last
  std::vector<Cycle> headFrom; ///< by source: when its FIFO shows a packet
  std::vector<Cycle> tokenDue; ///< by core: its next own token
  Cycle nextToken = kNever;    ///< earliest of them
  struct Flight {
    Cycle due = 0;
    Packet packet;
  };
  Ring<Flight> flights{4};
  Ring<Cycle> outputs{4}; ///< rows for the host: first cycle it may take them
};

} // namespace sluice::vm::timed
