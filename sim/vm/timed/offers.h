// When the host offers the rows of inferences, and what became of them.
#pragma once

#include "sim/vm/timed/front.h"
#include "sim/vm/timing.h"

namespace sluice::vm::timed {

class Offers {
public:
  /// An inference without output rows never completes.
  Offers(Arrival arrival, unsigned inferences, uint64_t rowsIn, uint64_t rowsOut)
      : arrival(arrival), wanted(inferences), rowsIn(rowsIn),
        rowsOut(rowsOut == 0 ? kNone : rowsOut), openFrom(fromRest() ? kNever : 0) {}

  /// First cycle in which the next row is offered, by what is known; kNever: it
  /// depends on what happens yet.
  Cycle from() const {
    if (taken % rowsIn != 0 || arrival == Arrival::Streaming ||
        (arrival == Arrival::Burst && taken > 0)) // beyond the last inference too
      return 0;
    return mayStart() ? openFrom : kNever;
  }

  /// The next row was taken. Rows may be taken ahead of the clock.
  void takeRow(Cycle now) {
    if (taken++ % rowsIn != 0)
      return;
    starts.push_back(now);
    if (arrival == Arrival::Spaced)
      openFrom = kNever;
  }

  /// The host took an output row. Whether that completes an inference.
  bool deliverRow(Cycle now) {
    if (++delivered % rowsOut != 0 || done.size() == starts.size() || starts[done.size()] > now)
      return false;
    done.push_back({starts[done.size()], now});
    if (arrival == Arrival::Contiguous)
      openFrom = now + 1;
    return true;
  }

  /// The machine is at rest from cycle `from` on. Whether a row is offered then.
  bool rest(Cycle from) {
    if (!fromRest() || taken % rowsIn != 0 || !mayStart())
      return false;
    openFrom = from;
    return true;
  }

  bool complete() const { return done.size() >= wanted; }
  std::vector<InferenceTimes> &inferences() { return done; }

private:
  bool fromRest() const { return arrival == Arrival::Spaced || arrival == Arrival::Burst; }
  bool mayStart() const { return starts.size() < wanted && done.size() == starts.size(); }

  const Arrival arrival;
  unsigned wanted;
  uint64_t rowsIn, rowsOut; ///< of one inference
  Cycle openFrom;           ///< of the first row of the next inference, once it may start
  uint64_t taken = 0, delivered = 0;
  std::vector<Cycle> starts; ///< first row of each inference begun
  std::vector<InferenceTimes> done;
};

} // namespace sluice::vm::timed
