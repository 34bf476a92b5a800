// The interface of a Verilated accelerator. It hides the generated class of each geometry.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "runtime/format/geometry.h"

namespace sluice::verilator {

/// Memories of the configuration port (docs/machine.md, Configuration).
enum class Memory : uint8_t {
  Instruction,
  Weights,
  Inbox,
  Local,
  Preload,
  Table,
  TableHeader,
  Entry
};

/// A machine whose clock the caller drives. A row has as many elements as the target has lanes.
class Model {
public:
  virtual ~Model() = default;

  /// Runs one cycle with reset asserted.
  virtual void reset() = 0;

  /// Runs one cycle that writes `data`, one row of lanes, to the cores in `mask`.
  virtual void configure(uint32_t mask, Memory memory, uint32_t address,
                         std::span<const uint16_t> data) = 0;

  /// Returns the number of clock cycles since construction.
  virtual uint64_t clocks() const = 0;

  /// Runs the cycle that starts the sequencers.
  virtual void start() = 0;

  struct Cycle {
    bool inputTaken = false;
    bool outputTaken = false; ///< outputRow and outputAddress are set
    bool progress = false;
    uint32_t outputAddress = 0;
  };

  /// Runs one cycle. `inputRow` is the row that the host offers, or null. A row that the host takes
  /// is written to `outputRow`.
  virtual Cycle step(const uint16_t *inputRow, bool outputReady, std::span<uint16_t> outputRow) = 0;

  /// Whether a token counter has exceeded its maximum.
  virtual bool fault() const = 0;

  /// Reads a row through the readback port while the clock of the machine is stopped.
  virtual void readRow(uint32_t core, uint32_t address, std::span<uint16_t> row) = 0;

  /// Returns the status word (machine_pkg::status_t) of a unit from the readback port. If `core` is
  /// the number of cores, the unit is the input unit.
  virtual uint64_t readStatus(uint32_t core, bool vector) = 0;

  /// The units of the readback port (machine_pkg.sv). The input unit of the host port takes the
  /// number of the matrix unit.
  enum class Watch : uint8_t { Matrix, Vector, Sequencer, Network };

  /// Returns the number of cycles since the start in which a unit was in `state`, 0 to 7.
  virtual uint64_t readCounter(uint32_t core, Watch unit, uint8_t state) = 0;

  /// Whether memories and registers start with random contents instead of zeros.
  virtual bool startsRandom() const = 0;

  /// Writes waves to a file from now on. Returns false if this model was built without waves.
  virtual bool openWaves(const std::string &path) = 0;
};

/// A model that this build contains.
struct ModelEntry {
  format::Geometry geometry; ///< each memory as deep as in the largest preset that it serves
  bool waves = false;        ///< built with assertions, random initial contents and waves
  std::unique_ptr<Model> (*make)(uint32_t seed) = nullptr;
};

/// Returns all models of this build.
std::span<const ModelEntry> models();

} // namespace sluice::verilator
