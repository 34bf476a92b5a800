// Small programs written by hand, and what comes out of them when.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <vector>

#include "hw/isa/isa.h"
#include "runtime/device/device.h"
#include "runtime/format/program.h"
#include "runtime/format/targets.h"

namespace sluice::vm {

inline constexpr uint32_t kHost = 1U << isa::kHostBit;

/// A program for c2b8 (P = 2 processing elements in a column).
class TestProgram {
public:
  TestProgram() {
    program.geometry = *format::findPreset("c2b8");
    program.cores.resize(program.geometry.cores);
    program.models.resize(1);
  }

  void core(uint32_t core, std::initializer_list<isa::Instruction> list) {
    for (const isa::Instruction &inst : list)
      program.cores[core].instructions.push_back(isa::encode(inst).value());
  }
  void host(std::initializer_list<isa::Instruction> list) {
    for (const isa::Instruction &inst : list)
      program.hostInstructions.push_back(isa::encode(inst).value());
  }
  /// Every lane of a tensor row.
  void row(uint32_t core, uint32_t address, uint16_t value) {
    program.cores[core].rows.push_back({address, lanes(value)});
  }
  /// The identity as a weight block.
  void identity(uint32_t core, uint32_t block) {
    const uint32_t b = program.geometry.lanes;
    format::WeightImage image{block, std::vector<uint16_t>(size_t{b} * b)};
    for (uint32_t i = 0; i < b; ++i)
      image.elements[size_t{i} * b + i] = 0x3F80;
    program.cores[core].weights.push_back(std::move(image));
  }
  std::vector<uint16_t> lanes(uint16_t value) const {
    return std::vector<uint16_t>(program.geometry.lanes, value);
  }

  format::Program program;
};

/// A row that came out.
struct Arrived {
  uint64_t cycle = 0;
  uint32_t address = 0;
  std::vector<uint16_t> lanes;
};

/// Runs a program on the model.
class TestMachine {
public:
  explicit TestMachine(const format::Program &program) : device(device::makeVm()) {
    device->load(program);
  }

  /// Runs so many cycles; offers `rows` (whose cycles of acceptance are kept)
  /// and takes output rows if `ready`.
  void run(unsigned cycles, const std::vector<std::vector<uint16_t>> &rows = {},
           bool ready = true) {
    for (size_t next = 0; cycles > 0; --cycles) {
      const uint64_t now = device->cycle();
      const device::Device::Cycle cycle =
          device->step(next < rows.size() ? rows[next].data() : nullptr, ready);
      if (cycle.inputTaken) {
        taken.push_back(now);
        ++next;
      }
      if (cycle.output)
        outputs.push_back({now, cycle.output->address, cycle.output->lanes});
    }
  }

  /// Status of a unit: "matrix", "vector" of a core or "input".
  device::UnitStatus status(const std::string &unit, uint32_t core) const {
    for (const device::UnitStatus &one : device->status())
      if (one.unit == unit && one.core == core)
        return one;
    return {};
  }

  std::unique_ptr<device::Device> device;
  std::vector<uint64_t> taken;
  std::vector<Arrived> outputs;
};

/// Makes an instruction wait for `count` of a token before every beat that is first
/// at `level`.
template <class Inst>
void waitsFor(Inst &inst, uint32_t token, uint32_t count, uint32_t level = 0) {
  inst.waitEn = 1;
  inst.waitToken = token;
  inst.waitCount = count;
  inst.waitLevel = level;
}

/// Makes an instruction give a token to `units` with every beat that is last at `level`.
template <class Inst> void gives(Inst &inst, uint32_t token, uint32_t units, uint32_t level = 0) {
  inst.sigEn = 1;
  inst.sigToken = token;
  inst.sigUnits = units;
  inst.sigLevel = level;
}

/// A vector instruction that sends a tensor row to the host as row `dst`.
inline isa::Vec sendRow(uint32_t address, uint32_t dst) {
  isa::Vec vec;
  vec.aSrc = isa::Source::Ram;
  vec.a = address;
  vec.dstKind = isa::Dst::Net;
  vec.dst = dst;
  vec.mask = kHost;
  return vec;
}

/// A vector instruction that sends a matrix result to the host as row `dst`.
inline isa::Vec sendResult(uint32_t dst) {
  isa::Vec vec = sendRow(0, dst);
  vec.aSrc = isa::Source::Mxu;
  return vec;
}

/// One block product that emits its result: block w times tensor row x.
inline isa::Mm product(uint32_t w, uint32_t x) {
  isa::Mm mm;
  mm.w = w;
  mm.x = x;
  mm.init = isa::Init::Zero;
  mm.emit = isa::Emit::Bf16;
  return mm;
}

} // namespace sluice::vm
