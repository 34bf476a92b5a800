// The timing of the matrix unit: when its beats issue, its results appear and its signals count.
#pragma once

#include "sim/vm/matrix_data.h"
#include "sim/vm/unit_front.h"

namespace sluice::vm {

/// A token that becomes visible at the end of cycle `due`.
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
  Ring<Signal> signals; ///< pending signals, in ascending order of `due`

  /// Resets everything except weights and preload rows.
  void restart();

  Block block() const;
  /// Decides cycle `now` and returns whether a beat issues. The beat reads `ram` as it is at the
  /// start of the cycle.
  bool tick(const TensorRam &ram, Cycle now);

  /// Returns the first cycle in which the oldest result can be popped; kNever if there is none.
  Cycle resultReady() const { return results.empty() ? kNever : results.front(); }
  void popResult(Cycle now);

private:
  uint32_t delay;        ///< cycles from issue to accumulation
  uint32_t resultDelay;  ///< cycles from issue to the first that shows the result
  Ring<Cycle> results{}; ///< for each outstanding result, the first cycle in which it is visible
};

} // namespace sluice::vm
