// The `rtl` engine: a program goes through the configuration port of a Verilated
// machine, cycles through its ports.
#include <algorithm>

#include <fmt/format.h>

#include "hw/isa/isa.h"
#include "runtime/device/device.h"
#include "runtime/format/state.h"
#include "runtime/format/targets.h"
#include "sim/verilator/model.h"
#include "sim/verilator/rtl_device.h"

namespace sluice::device {
namespace {

using verilator::Memory;
using verilator::Model;
using verilator::ModelEntry;

class RtlDevice final : public Device {
public:
  explicit RtlDevice(const ModelEntry &entry)
      : entry(entry), lanes(entry.geometry.lanes), cores(entry.geometry.cores) {}

  std::string name() const override { return "rtl"; }

  void load(const format::Program &program) override {
    // A new machine, because every bit of the old one's state must go; its seed counts, so that
    // repeated loads start from different random contents. With random contents every second load
    // resets the machine as it stands instead, as on a board: what the reset forgets would show.
    const bool again = model && model->startsRandom() && wavesPath == openedWaves && !wasReset;
    wasReset = again;
    if (!again) {
      model.reset();
      model = entry.make(++seed);
      openedWaves = wavesPath;
      if (!wavesPath.empty())
        model->openWaves(wavesPath);
      model->reset(); // the first evaluation sees no edge
    }
    model->reset();
    if (model->startsRandom())
      clearMemories();
    for (uint32_t core = 0; core < program.cores.size(); ++core)
      configureCore(1u << core, program.cores[core]);
    configureInstructions(1u << cores, program.hostInstructions);
    places = program.state.places;
    // A start may not follow the write of an instruction at once (docs/machine.md).
    configureWord(0, Memory::Entry, 0, 0);
    model->start();
    now = 0;
  }

  uint64_t restart(const format::EntryPoint &entry, std::span<const uint16_t> state) override {
    const uint64_t before = model->clocks();
    model->reset();
    for (uint32_t place = 0; place < entry.size(); ++place)
      if (entry[place] != 0)
        configureWord(1u << place, Memory::Entry, 0, entry[place]);
    if (!state.empty())
      for (const format::StatePlace &place : places)
        state = state.subspan(configureState(place, state));
    model->start();
    now = 0;
    return model->clocks() - before;
  }

  Cycle step(const uint16_t *inputRow, bool outputReady) override {
    row.resize(lanes);
    const Model::Cycle seen = model->step(inputRow, outputReady, row);
    ++now;
    Cycle cycle{.inputTaken = seen.inputTaken, .output = {}, .progress = seen.progress};
    if (seen.outputTaken)
      cycle.output = OutputRow{seen.outputAddress, row};
    return cycle;
  }

  uint64_t cycle() const override { return now; }

  std::vector<UnitStatus> status() const override {
    std::vector<UnitStatus> all;
    for (uint32_t core = 0; core < cores; ++core) {
      all.push_back(unitStatus("matrix", core, false));
      all.push_back(unitStatus("vector", core, true));
    }
    all.push_back(unitStatus("input", cores, false));
    return all;
  }

  std::vector<UnitCounters> counters() const override {
    using Unit = UnitCounters::Unit;
    using Watch = Model::Watch;
    std::vector<UnitCounters> all;
    for (uint32_t core = 0; core < cores; ++core) {
      all.push_back(unitCounters(Unit::Matrix, core, Watch::Matrix));
      all.push_back(unitCounters(Unit::Vector, core, Watch::Vector));
      all.push_back(unitCounters(Unit::Sequencer, core, Watch::Sequencer));
      all.push_back(unitCounters(Unit::Network, core, Watch::Network));
    }
    all.push_back(unitCounters(Unit::Input, cores, Watch::Matrix));
    all.push_back(unitCounters(Unit::Sequencer, cores, Watch::Sequencer));
    all.push_back(unitCounters(Unit::Network, cores, Watch::Network));
    return all;
  }

  bool tokenFault() const override { return model->fault(); }

  std::vector<uint16_t> readRow(uint32_t core, uint32_t address) const override {
    std::vector<uint16_t> result(lanes);
    model->readRow(core, address, result);
    return result;
  }

  bool watchRows(RowWatch) override { return false; }

  bool setWaves(const std::string &path) override {
    if (!entry.waves)
      return false;
    wavesPath = path;
    return true;
  }

private:
  /// Writes lanes 0.. of a row; the rest is zero.
  void configure(uint32_t mask, Memory memory, uint32_t address, std::span<const uint16_t> data) {
    row.assign(lanes, 0);
    std::ranges::copy(data, row.begin());
    model->configure(mask, memory, address, row);
  }

  /// Writes a 64-bit word into the first four lanes.
  void configureWord(uint32_t mask, Memory memory, uint32_t address, uint64_t word) {
    std::array<uint16_t, 4> parts;
    for (unsigned part = 0; part < 4; ++part)
      parts[part] = static_cast<uint16_t>(word >> (16 * part));
    configure(mask, memory, address, parts);
  }

  void configureInstructions(uint32_t mask,
                             const std::vector<format::InstructionWords> &instructions) {
    constexpr uint32_t kLanes = isa::kInstBits / 16;
    const uint32_t slots = std::bit_ceil((kLanes + lanes - 1) / lanes);
    for (uint32_t index = 0; index < instructions.size(); ++index) {
      std::array<uint16_t, kLanes> parts;
      for (uint32_t part = 0; part < kLanes; ++part)
        parts[part] = static_cast<uint16_t>(instructions[index][part / 4] >> (16 * (part % 4)));
      for (uint32_t chunk = 0; chunk * lanes < kLanes; ++chunk)
        configure(mask, Memory::Instruction, index * slots + chunk,
                  std::span(parts).subspan(chunk * lanes, std::min(lanes, kLanes - chunk * lanes)));
    }
  }

  void configureCore(uint32_t mask, const format::CoreImage &core) {
    configureInstructions(mask, core.instructions);
    for (const format::WeightImage &image : core.weights)
      configureRows(mask, Memory::Weights, image.block * lanes, image.elements);
    for (const format::RowImage &image : core.rows)
      configureRows(mask, image.address < isa::kLocalBase ? Memory::Inbox : Memory::Local,
                    image.address, image.lanes);
    for (const format::PreloadImage &image : core.preloads) {
      std::vector<uint16_t> quarter(lanes);
      for (unsigned part = 0; part < 4; ++part) {
        for (uint32_t lane = 0; lane < lanes; ++lane)
          quarter[lane] = static_cast<uint16_t>(image.lanes[lane] >> (16 * part));
        configure(mask, Memory::Preload, image.row * 4 + part, quarter);
      }
    }
    for (const format::TableImage &image : core.tables) {
      for (uint32_t word = 0; word < image.header.size(); ++word)
        configureWord(mask, Memory::TableHeader, image.table * 4 + word, image.header[word]);
      for (uint32_t entry = 0; entry < image.entries.size(); ++entry)
        configureWord(mask, Memory::Table, image.table * isa::kTableEntries + entry,
                      image.entries[entry]);
    }
  }

  /// Writes the rows of a place; gives how much of the image they are.
  size_t configureState(const format::StatePlace &place, std::span<const uint16_t> image) {
    const uint32_t each = format::imageRows(place.memory);
    const size_t size = size_t{place.rows} * each * lanes;
    configureRows(1u << place.core,
                  place.memory == format::StatePlace::Memory::Preloads ? Memory::Preload
                  : place.first < isa::kLocalBase                      ? Memory::Inbox
                                                                       : Memory::Local,
                  place.first * each, image.first(size));
    return size;
  }

  void configureRows(uint32_t mask, Memory memory, uint32_t address,
                     std::span<const uint16_t> data) {
    for (; !data.empty(); data = data.subspan(lanes))
      configure(mask, memory, address++, data.first(lanes));
  }

  void clearMemories() {
    const format::Geometry &size = entry.geometry;
    const auto clear = [&](Memory memory, uint32_t first, uint32_t count) {
      for (uint32_t i = 0; i < count; ++i)
        configure((1u << cores) - 1, memory, first + i, {});
    };
    clear(Memory::Weights, 0, size.weightBlocks * lanes);
    clear(Memory::Inbox, 0, size.inboxRows);
    clear(Memory::Local, isa::kLocalBase, size.localRows);
    clear(Memory::Preload, 0, size.preloadRows * 4);
    clear(Memory::Table, 0, size.tables * isa::kTableEntries);
    clear(Memory::TableHeader, 0, size.tables * 4);
  }

  UnitStatus unitStatus(const char *unit, uint32_t core, bool vector) const {
    // machine_pkg::status_t, from bit 0: pc 16, need 8, have 8, token 5, block 3.
    const uint64_t word = model->readStatus(core, vector);
    return {.unit = unit,
            .core = core,
            .block = static_cast<UnitStatus::Block>(word >> 37 & 7),
            .instruction = static_cast<uint32_t>(word & 0xFFFF),
            .token = static_cast<uint32_t>(word >> 32 & 31),
            .have = static_cast<uint32_t>(word >> 24 & 0xFF),
            .need = static_cast<uint32_t>(word >> 16 & 0xFF)};
  }

  UnitCounters unitCounters(UnitCounters::Unit unit, uint32_t core, Model::Watch watch) const {
    UnitCounters out{unit, core, {}};
    for (uint8_t state = 0; state < 8; ++state)
      out.cycles[static_cast<size_t>(activityOf(unit, state))] +=
          model->readCounter(core, watch, state);
    return out;
  }

  /// What a state of a unit's counters stands for (machine_pkg.sv).
  static Activity activityOf(UnitCounters::Unit unit, uint8_t state) {
    if (unit == UnitCounters::Unit::Sequencer && state == 1)
      return Activity::WaitsQueue;
    if (unit == UnitCounters::Unit::Network && state == 1)
      return Activity::WaitsTurn;
    if (unit == UnitCounters::Unit::Network && state == 2)
      return Activity::WaitsOutput;
    return static_cast<Activity>(state);
  }

  const ModelEntry &entry;
  const uint32_t lanes;
  const uint32_t cores;
  std::unique_ptr<Model> model;
  std::vector<format::StatePlace> places;
  std::string wavesPath, openedWaves;
  bool wasReset = false; ///< the machine has been reset by the last load, not made
  std::vector<uint16_t> row;
  uint64_t now = 0;
  uint32_t seed = 0;
};

/// Why the model's machine cannot stand for `wanted`, or "": its shape and its stages must be the
/// same and its memories no smaller. `memoryOnly`: larger memories would do.
std::string obstacle(const format::Geometry &model, const format::Geometry &wanted,
                     bool &memoryOnly) {
  std::string text;
  const auto add = [&](const char *name, uint32_t need, uint32_t have) {
    text += fmt::format("{}{} is {} (hardware: {})", text.empty() ? "" : ", ", name, need, have);
  };
  memoryOnly = true;
  for (const auto &[name, value] : format::geometryFields()) {
    const uint32_t have = model.*value, need = wanted.*value;
    const bool shape = value == &format::Geometry::cores || value == &format::Geometry::lanes ||
                       value == &format::Geometry::peTerms;
    const bool clock = value == &format::Geometry::clockMhz; // only names microseconds
    if (clock || (shape ? have == need : have >= need))
      continue;
    memoryOnly &= !shape;
    add(name, need, have);
  }
  for (const isa::StageInfo &stage : isa::kStages)
    if (const uint32_t have = model.stages.*stage.value, need = wanted.stages.*stage.value;
        have != need) {
      memoryOnly = false;
      add(stage.name, need, have);
    }
  return text;
}

bool serves(const format::Geometry &model, const format::Geometry &wanted) {
  bool memoryOnly = false;
  return model.rtl == wanted.rtl && obstacle(model, wanted, memoryOnly).empty();
}

} // namespace

std::unique_ptr<Device> makeRtl(const ModelEntry &entry) {
  return std::make_unique<RtlDevice>(entry);
}

std::unique_ptr<Device> makeRtl(const format::Geometry &geometry, bool waves) {
  for (const ModelEntry &entry : verilator::models())
    if (entry.waves == waves && serves(entry.geometry, geometry))
      return makeRtl(entry);
  return nullptr;
}

std::vector<std::string> rtlModels(bool waves) {
  std::vector<std::string> names;
  for (const ModelEntry &entry : verilator::models())
    if (entry.waves == waves)
      names.push_back(entry.geometry.rtl);
  return names;
}

std::string whyNoRtl(const format::Geometry &geometry) {
  std::string fitting;
  for (const ModelEntry &entry : verilator::models()) {
    bool memoryOnly = false;
    const std::string why = obstacle(entry.geometry, geometry, memoryOnly);
    if (entry.geometry.rtl == geometry.rtl)
      return memoryOnly ? why + "; add the target file to hw/targets and build again" : why;
    if (why.empty())
      fitting = fmt::format("; '{0}' fits, so set \"rtl\": \"{0}\" in the target file",
                            entry.geometry.rtl);
  }
  const std::vector<std::string> names = rtlModels(false);
  return fmt::format("it has no hardware '{}', only {}{}", geometry.rtl,
                     names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")), fitting);
}

} // namespace sluice::device
