// The interface of an execution engine: load a program, offer rows, clock, take rows. The engines
// `vm` and `rtl` implement it and agree in every bit and every cycle.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/device/counters.h"
#include "runtime/format/entry_point.h"

namespace sluice::format {
struct Geometry;
struct Program;
} // namespace sluice::format

namespace sluice::device {

/// A row taken from the host port.
struct OutputRow {
  uint32_t address = 0; ///< output row index of the model
  std::vector<uint16_t> lanes;
};

/// The status of a unit, for stall reports.
struct UnitStatus {
  enum class Block : uint8_t {
    None,
    Token,
    ResultFifoEmpty,
    ResultFifoFull,
    OutboxFull,
    PipelineBusy,
    HostInput,
    Idle
  };
  std::string unit;  ///< "matrix", "vector" or "input"
  uint32_t core = 0; ///< core, or the number of cores for the host port
  Block block = Block::Idle;
  uint32_t instruction = 0; ///< index of the active instruction
  uint32_t token = 0;       ///< Block::Token: number of the token
  uint32_t have = 0;        ///< Block::Token: its count
  uint32_t need = 0;        ///< Block::Token: the count that the unit needs
};

/// An engine with one machine. Not thread-safe.
class Device {
public:
  virtual ~Device() = default;

  /// "vm" or "rtl".
  virtual std::string name() const = 0;

  /// Resets the machine, loads every memory through the configuration path and
  /// starts the sequencers. Cycle 0 is the first cycle after the start.
  /// The program has passed the loader's checks.
  virtual void load(const format::Program &program) = 0;

  /// Resets the machine except its memories, writes the state and starts the sequencers at `entry`.
  /// `state` is an image (runtime/format/state.h); if it is empty, the state is not changed. Cycles
  /// begin at 0 again. Returns the cycles that the configuration port was busy before: for the
  /// reset, for each row and each entry that is not 0, and for the start.
  virtual uint64_t restart(const format::EntryPoint &entry, std::span<const uint16_t> state) = 0;

  /// Runs one clock cycle. `inputRow` points to the lanes of the row that the host offers, or is
  /// null. `outputReady`: the host takes a row. Returns the events of the cycle.
  struct Cycle {
    bool inputTaken = false;
    std::optional<OutputRow> output;
    bool progress = false; ///< a unit issued a beat or a packet moved
  };
  virtual Cycle step(const uint16_t *inputRow, bool outputReady) = 0;

  /// Cycles since load.
  virtual uint64_t cycle() const = 0;

  /// The status of every unit, for stall reports.
  virtual std::vector<UnitStatus> status() const = 0;

  /// The counters of every unit since load. The order is: for each core, matrix unit, vector unit,
  /// sequencer and network port; then, for the host port, input unit, sequencer and network port.
  virtual std::vector<UnitCounters> counters() const = 0;

  /// Whether a token counter exceeded its maximum, which is a fault of the program.
  virtual bool tokenFault() const = 0;

  /// Returns a row of the tensor RAM of a core, for tests. The address is as in instructions.
  virtual std::vector<uint16_t> readRow(uint32_t core, uint32_t address) const = 0;

  /// Receives a row that the vector unit of a core writes to its tensor RAM or sends.
  using RowWatch = std::function<void(uint32_t core, std::span<const uint16_t> lanes)>;
  /// Calls `watch` with every row from now on, the rows of one core in the order of followRows
  /// (runtime/device/written_rows.h). Does not change a cycle. Returns false if the engine cannot.
  virtual bool watchRows(RowWatch watch) = 0;

  /// Writes waves in FST format to `path` from the next load on. Returns false if the engine cannot
  /// write waves.
  virtual bool setWaves(const std::string &path) = 0;
};

/// Returns an engine with the C++ model, for any geometry.
std::unique_ptr<Device> makeVm();

/// Returns an engine with the Verilated accelerator of geometry.rtl; null if this build has none.
/// `waves` selects the variant that can write waves.
std::unique_ptr<Device> makeRtl(const format::Geometry &geometry, bool waves = false);

/// Returns geometry.rtl of every Verilated accelerator in this build, with or without waves.
std::vector<std::string> rtlModels(bool waves);

/// Returns why makeRtl returns null without waves, and a fix: "weight_blocks is 8192 (hardware:
/// 4096); add the target file to hw/targets and build again".
std::string whyNoRtl(const format::Geometry &geometry);

} // namespace sluice::device
