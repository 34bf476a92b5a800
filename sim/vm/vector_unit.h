// The timing of the vector unit, and the writes of its beats at the end of the pipeline.
#pragma once

#include <functional>

#include "sim/vm/matrix_unit.h"
#include "sim/vm/packet.h"
#include "sim/vm/vector_data.h"

namespace sluice::vm {

class VectorUnit {
public:
  VectorUnit(const format::Geometry &geometry, const format::CoreImage &image);

  UnitFront<VectorInstruction> front;
  /// Receives every row for a tensor RAM or the network, in the order of the beats.
  using RowWatch = std::function<void(std::span<const uint16_t>)>;
  RowWatch watch;
  Ring<Packet> outbox; ///< outstanding packets, including those in the pipeline

  /// Resets everything except the tables.
  void restart();

  /// Returns the reason why the unit cannot issue. `matrix` is the matrix unit whose results it
  /// reads.
  Block block(const MatrixUnit &matrix, Cycle now) const;
  /// Decides cycle `now` and returns whether a beat issues. The beat reads `ram` as it is at the
  /// start of the cycle.
  bool tick(const TensorRam &ram, MatrixUnit &matrix, Cycle now);

  /// Makes the writes that are due at the end of cycle `now`. Calls `give` for every token that
  /// goes to a unit of this core.
  template <class Give> void retire(TensorRam &ram, MatrixUnit &matrix, Cycle now, Give &&give) {
    while (!writes.empty() && writes.front().due <= now) {
      const Write &write = writes.front();
      if (!write.row.empty())
        store(write, ram, matrix, now);
      if (write.signals)
        give(write.units, write.token);
      writes.pop();
    }
  }

  /// Returns the cycle of the next write; kNever if there is none.
  Cycle nextWrite() const { return writes.empty() ? kNever : writes.front().due; }

private:
  /// The effect of a beat at the end of the pipeline, if its destination is not the network.
  struct Write {
    Cycle due = 0;
    isa::Dst kind = isa::Dst::None;
    uint32_t address = 0;
    std::span<const uint16_t> row; ///< empty: nothing to store
    bool signals = false;
    uint8_t token = 0;
    uint8_t units = 0;
  };

  void issue(const TensorRam &ram, MatrixUnit &matrix, Cycle now);
  void store(const Write &write, TensorRam &ram, MatrixUnit &matrix, Cycle now);

  VectorData data;
  Ring<Write> writes; ///< in the pipeline, ascending due

  isa::VectorPipeline pipeline;

  RowStore pipelineRows, packetRows; ///< rows under way
};

} // namespace sluice::vm
