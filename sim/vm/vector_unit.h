// The vector unit's timing, and what its beats write where at the end of the
// pipeline.
#pragma once

#include "sim/vm/matrix_unit.h"
#include "sim/vm/packet.h"
#include "sim/vm/vector_data.h"

namespace sluice::vm {

class VectorUnit {
public:
  VectorUnit(const format::Geometry &geometry, const format::CoreImage &image);

  UnitFront<VectorInstruction> front;
  Ring<Packet> outbox; ///< outstanding packets, those in the pipeline included

  /// Resets everything but the tables.
  void restart();

  /// `matrix` is the unit this one is chained behind.
  Block block(const MatrixUnit &matrix, Cycle now) const;
  /// Decides cycle `now`; whether a beat issues. It reads `ram` as it is at the
  /// start of the cycle.
  bool tick(const TensorRam &ram, MatrixUnit &matrix, Cycle now);

  /// The end of cycle `now`: writes that are due. `give` is called for every token
  /// given to a bank of this core.
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

  /// Cycle of the next retirement.
  Cycle nextWrite() const { return writes.empty() ? kNever : writes.front().due; }

private:
  /// What a beat with another destination than the network does at its end.
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

  uint8_t path = 0;       ///< of the instruction before
  Cycle pipelineFree = 0; ///< first cycle without a beat in the pipeline

  RowStore pipelineRows, packetRows; ///< rows under way
};

} // namespace sluice::vm
