// The one interface of an execution engine: configure, feed rows, clock, take
// rows. `vm` and `rtl` implement it and agree on every bit and every cycle.
#pragma once

#include <cstdint>
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

/// What a unit is doing, for stall reports.
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
  uint32_t token = 0;       ///< Block::Token: which, how many are there, how many are needed
  uint32_t have = 0;
  uint32_t need = 0;
};

/// An engine with one machine in it. Not thread-safe.
class Device {
public:
  virtual ~Device() = default;

  /// "vm" or "rtl".
  virtual std::string name() const = 0;

  /// Resets the machine, loads every memory through the configuration path and
  /// starts the sequencers. Cycle 0 is the first cycle after the start.
  /// The program has passed the loader's checks.
  virtual void load(const format::Program &program) = 0;

  /// Resets the machine but for its memories, writes the state of the program loaded (an image,
  /// runtime/format/state.h; empty: it stays what it is) and starts the sequencers at `entry`.
  /// The cycles begin at 0 again. Gives those that the port was busy before: the reset, a write
  /// for every row and every entry that is not 0, and the start.
  virtual uint64_t restart(const format::EntryPoint &entry, std::span<const uint16_t> state) = 0;

  /// Runs one clock cycle. `inputRow` is the row offered (B lanes) or null;
  /// `outputReady` says whether the host takes a row. Returns what happened.
  struct Cycle {
    bool inputTaken = false;
    std::optional<OutputRow> output;
    bool progress = false; ///< any unit issued, any packet moved
  };
  virtual Cycle step(const uint16_t *inputRow, bool outputReady) = 0;

  /// Cycles since load.
  virtual uint64_t cycle() const = 0;

  /// State of every unit, for stall reports.
  virtual std::vector<UnitStatus> status() const = 0;

  /// How every unit spent the cycles since load: of each core the matrix unit, the
  /// vector unit, the sequencer and its way into the network, then of the host port
  /// the input unit, the sequencer and its way into the network.
  virtual std::vector<UnitCounters> counters() const = 0;

  /// A token counter passed its maximum (a fault of the program).
  virtual bool tokenFault() const = 0;

  /// Tensor row of a core (address as in instructions), for tests.
  virtual std::vector<uint16_t> readRow(uint32_t core, uint32_t address) const = 0;

  /// Writes waves to `path` (FST) from the next load on; false if this engine
  /// cannot.
  virtual bool setWaves(const std::string &path) = 0;
};

/// The C++ model: any geometry.
std::unique_ptr<Device> makeVm();

/// The Verilated accelerator of geometry.rtl; null if this build has none for
/// it. `waves` selects the flavour that can be traced.
std::unique_ptr<Device> makeRtl(const format::Geometry &geometry, bool waves = false);

/// The geometry.rtl of every model of this build, with waves or without.
std::vector<std::string> rtlModels(bool waves);

/// Returns why makeRtl returns null without waves, and a fix: "weight_blocks is 8192 (hardware:
/// 4096); add the target file to hw/targets and build again".
std::string whyNoRtl(const format::Geometry &geometry);

} // namespace sluice::device
