// The `vm` engine.
#include "runtime/device/device.h"

#include "sim/vm/machine.h"

namespace sluice::device {

namespace {

class VmDevice final : public Device {
public:
  std::string name() const override { return "vm"; }

  void load(const format::Program &program) override { machine.emplace(program); }

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

  bool setWaves(const std::string &) override { return false; }

private:
  std::optional<vm::Machine> machine;
};

} // namespace

std::unique_ptr<Device> makeVm() { return std::make_unique<VmDevice>(); }

} // namespace sluice::device
