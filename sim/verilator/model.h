// One Verilated accelerator behind a plain interface, so that code above does not
// depend on the generated class of a geometry.
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

/// A machine whose clock is driven from outside. Rows are B lanes.
class Model {
public:
  virtual ~Model() = default;

  /// One cycle with reset asserted.
  virtual void reset() = 0;

  /// One cycle that writes `data` (B lanes) to the cores of `mask`.
  virtual void configure(uint32_t mask, Memory memory, uint32_t address,
                         std::span<const uint16_t> data) = 0;

  /// Clock cycles since it was made.
  virtual uint64_t clocks() const = 0;

  /// The cycle that starts the sequencers.
  virtual void start() = 0;

  struct Cycle {
    bool inputTaken = false;
    bool outputTaken = false; ///< outputRow and outputAddress are set
    bool progress = false;
    uint32_t outputAddress = 0;
  };

  /// One cycle. `inputRow` is the row offered or null; the row taken goes to
  /// `outputRow`.
  virtual Cycle step(const uint16_t *inputRow, bool outputReady, std::span<uint16_t> outputRow) = 0;

  /// A token has passed its maximum.
  virtual bool fault() const = 0;

  /// Reads through the readback port; the machine's clock rests.
  virtual void readRow(uint32_t core, uint32_t address, std::span<uint16_t> row) = 0;

  /// The readback port's status word (machine_pkg::status_t) of a unit; core =
  /// number of cores names the input unit.
  virtual uint64_t readStatus(uint32_t core, bool vector) = 0;

  /// Units of the readback port (machine_pkg.sv); the host port's input unit is in
  /// the matrix unit's place.
  enum class Watch : uint8_t { Matrix, Vector, Sequencer, Network };

  /// Cycles since the start that a unit spent in one of the eight states its
  /// counters know.
  virtual uint64_t readCounter(uint32_t core, Watch unit, uint8_t state) = 0;

  /// Memories and registers start with random contents instead of zeros.
  virtual bool startsRandom() const = 0;

  /// Writes waves from now on; false if this model cannot.
  virtual bool openWaves(const std::string &path) = 0;
};

/// A model that this build contains.
struct ModelEntry {
  format::Geometry geometry; ///< memories: the deepest of the presets it serves
  bool waves = false;        ///< assertions, random initial contents, waves
  std::unique_ptr<Model> (*make)(uint32_t seed) = nullptr;
};

/// All models of this build.
std::span<const ModelEntry> models();

} // namespace sluice::verilator
