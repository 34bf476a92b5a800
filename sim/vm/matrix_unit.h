// The matrix unit's timing: when beats issue, results appear and signals count.
#pragma once

#include "sim/vm/matrix_data.h"
#include "sim/vm/unit_front.h"

namespace sluice::vm {

/// A token to be given at the end of a cycle.
struct Signal {
  Cycle due = 0;
  uint8_t token = 0;
  uint8_t units = 0;
};

class MatrixUnit {
public:
  MatrixUnit(const format::Geometry &geometry, const format::CoreImage &image);

  UnitFront<MatrixInstruction> front;
  MatrixData data;
  Ring<Signal> signals; ///< under way, ascending due

  /// Resets everything but weights and preload rows.
  void restart();

  Block block() const;
  /// Decides cycle `now`; whether a beat issues. It reads `ram` as it is at the
  /// start of the cycle.
  bool tick(const TensorRam &ram, Cycle now);

  /// Cycle from which on the oldest result can be popped; kNever if there is none.
  Cycle resultReady() const { return results.empty() ? kNever : results.front(); }
  void popResult(Cycle now);

private:
  uint32_t delay;        ///< issue to accumulate
  Ring<Cycle> results{}; ///< outstanding: first cycle in which the FIFO shows them
};

} // namespace sluice::vm
