#include "sim/vm/matrix_unit.h"

#include "hw/numerics/latency.h"

namespace sluice::vm {

namespace {

/// The beat sends its accumulator to the result FIFO.
bool makesResult(const MatrixInstruction &inst, const LoopNest &beat) {
  return inst.makesResults && beat.lastAt(inst.emitLevel);
}

} // namespace

MatrixUnit::MatrixUnit(const format::Geometry &geometry, const format::CoreImage &image)
    : front(kFirstBeat), data(geometry, image), delay(geometry.latencies().chain()),
      resultDelay(geometry.latencies().result()) {}

void MatrixUnit::restart() {
  front = UnitFront<MatrixInstruction>(kFirstBeat);
  signals = Ring<Signal>();
  results = Ring<Cycle>();
  data.restart();
}

Block MatrixUnit::block() const {
  const MatrixInstruction *inst = front.active();
  if (!inst)
    return Block::Idle;
  if (!front.waitSatisfied())
    return Block::Token;
  if (results.size() >= isa::kResultFifoDepth && makesResult(*inst, front.beat()))
    return Block::ResultFifoFull;
  return Block::None;
}

bool MatrixUnit::tick(const TensorRam &ram, Cycle now) {
  const Block reason = block();
  if (reason == Block::Idle)
    front.refill(now);
  else if (reason != Block::None)
    front.sleep(reason, now);
  if (reason != Block::None)
    return false;

  const MatrixInstruction &inst = *front.active();
  const LoopNest &beat = front.beat();
  front.take(now);
  if (makesResult(inst, beat))
    results.push(now + resultDelay);
  if (front.signalsHere())
    signals.push({now + delay + isa::kMmAccumulate, inst.sigToken, inst.sigUnits});
  if (!inst.skip)
    data.issue(inst, beat, ram, now);
  front.next(now);
  return true;
}

void MatrixUnit::popResult(Cycle now) {
  if (results.size() == isa::kResultFifoDepth)
    front.wakeAt(now + 1);
  results.pop();
  data.popResult();
}

} // namespace sluice::vm
