// The `vm` engine.
#include "runtime/device/device.h"

#include <algorithm>
#include <functional>

#include "runtime/format/state.h"
#include "sim/vm/machine.h"

namespace sluice::device {

namespace {

class VmDevice final : public Device {
public:
  std::string name() const override { return "vm"; }

  void load(const format::Program &program) override {
    machine.emplace(program);
    lanes = program.geometry.lanes;
    cores = program.geometry.cores;
    places = program.state.places;
    tellRows();
  }

  uint64_t restart(const format::EntryPoint &entry, std::span<const uint16_t> state) override {
    machine->restart(entry);
    const uint64_t writes = state.size() / lanes + std::ranges::count_if(entry, std::identity());
    if (!state.empty())
      for (const format::StatePlace &place : places)
        state = state.subspan(write(place, state));
    return 1 + writes + 1;
  }

  Cycle step(const uint16_t *inputRow, bool outputReady) override {
    const vm::Machine::Events events = machine->step(inputRow, outputReady);
    Cycle cycle{.inputTaken = events.inputTaken, .output = {}, .progress = events.progress};
    if (events.output)
      cycle.output =
          OutputRow{events.output->address, {events.output->row.begin(), events.output->row.end()}};
    return cycle;
  }

  uint64_t cycle() const override { return machine ? machine->cycle() : 0; }
  std::vector<UnitStatus> status() const override { return machine->status(); }
  std::vector<UnitCounters> counters() const override { return machine->counters(); }
  bool tokenFault() const override { return machine->tokenFault(); }

  std::vector<uint16_t> readRow(uint32_t core, uint32_t address) const override {
    const std::span<const uint16_t> row = machine->tensorRam(core).row(address);
    return {row.begin(), row.end()};
  }

  bool watchRows(RowWatch to) override {
    watch = std::move(to);
    tellRows();
    return true;
  }

  bool setWaves(const std::string &) override { return false; }

private:
  void tellRows() {
    for (uint32_t core = 0; machine && core < cores; ++core)
      machine->core(core).watchRows(
          watch ? vm::VectorUnit::RowWatch(
                      [this, core](std::span<const uint16_t> row) { watch(core, row); })
                : vm::VectorUnit::RowWatch());
  }

  /// Writes the rows of a place; gives how much of the image they are.
  size_t write(const format::StatePlace &place, std::span<const uint16_t> image) {
    vm::Core &core = machine->core(place.core);
    std::vector<uint64_t> sums(lanes);
    for (uint32_t row = 0; row < place.rows; ++row) {
      const uint16_t *from = &image[size_t{row} * format::imageRows(place.memory) * lanes];
      if (place.memory == format::StatePlace::Memory::Rows) {
        core.writeRow(place.first + row, {from, lanes});
        continue;
      }
      for (uint32_t lane = 0; lane < lanes; ++lane) {
        sums[lane] = 0;
        for (uint32_t quarter = 0; quarter < 4; ++quarter)
          sums[lane] |= uint64_t{from[size_t{quarter} * lanes + lane]} << (16 * quarter);
      }
      core.writePreload(place.first + row, sums);
    }
    return size_t{place.rows} * format::imageRows(place.memory) * lanes;
  }

  std::optional<vm::Machine> machine;
  uint32_t lanes = 0, cores = 0;
  std::vector<format::StatePlace> places;
  RowWatch watch;
};

} // namespace

std::unique_ptr<Device> makeVm() { return std::make_unique<VmDevice>(); }

} // namespace sluice::device
