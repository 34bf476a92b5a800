#include "runtime/device/recorder.h"

#include <algorithm>
#include <tuple>

namespace sluice::device {
namespace {

using Block = UnitStatus::Block;

Span::Unit unitOf(const UnitStatus &status) {
  return status.unit == "matrix"   ? Span::Unit::Matrix
         : status.unit == "vector" ? Span::Unit::Vector
                                   : Span::Unit::Input;
}

} // namespace

Device::Cycle Recorder::step(Device &engine, uint64_t origin, const uint16_t *inputRow,
                             bool outputReady) {
  const uint64_t cycle = origin + engine.cycle();
  const std::vector<UnitStatus> units = engine.status();
  Device::Cycle done = engine.step(inputRow, outputReady);
  for (size_t i = 0; i < units.size(); ++i) {
    Span now{cycle, cycle, units[i].core, unitOf(units[i]), units[i].block, units[i].instruction};
    // The status is the machine's alone: it does not know of the row offered.
    if (now.block == Block::HostInput && done.inputTaken)
      now.block = Block::None;
    if (i == open.size()) {
      open.push_back(now);
      continue;
    }
    Span &before = open[i];
    if (before.last + 1 == cycle && before.block == now.block &&
        before.instruction == now.instruction) {
      before.last = cycle;
    } else {
      ended.push_back(before);
      before = now;
    }
  }
  return done;
}

std::vector<Span> Recorder::spans() const {
  std::vector<Span> all = ended;
  all.insert(all.end(), open.begin(), open.end());
  std::sort(all.begin(), all.end(), [](const Span &a, const Span &b) {
    return std::tuple(a.core, a.unit, a.first) < std::tuple(b.core, b.unit, b.first);
  });
  return all;
}

} // namespace sluice::device
