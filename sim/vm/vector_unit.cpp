#include "sim/vm/vector_unit.h"

#include <algorithm>

#include "hw/numerics/latency.h"

namespace sluice::vm {

namespace {

bool produces(const VectorInstruction &inst, const LoopNest &beat) {
  return inst.op.dstKind != isa::Dst::None && inst.op.dstKind != isa::Dst::Signal &&
         (inst.op.reduce == isa::Reduce::None || beat.lastAt(inst.op.reduceLevel));
}

bool makesPacket(const VectorInstruction &inst, const UnitFront<VectorInstruction> &front) {
  if (inst.op.dstKind == isa::Dst::Net)
    return produces(inst, front.beat());
  return inst.op.dstKind == isa::Dst::Signal && front.signalsHere();
}

/// More than the longest pipeline has stages.
uint32_t pipelineDepth(const isa::Latencies &latencies) {
  uint32_t longest = 0;
  for (const isa::Reduce reduce : {isa::Reduce::Max, isa::Reduce::Sum, isa::Reduce::Argmax})
    longest =
        std::max(longest, latencies.vector(vectorPath(isa::Alu::Add, true, reduce, isa::Alu::Add)));
  return longest + 1;
}

} // namespace

VectorUnit::VectorUnit(const format::Geometry &geometry, const format::CoreImage &image)
    : front(kFirstBeat), data(geometry, image),
      pipelineRows(pipelineDepth(geometry.latencies()), geometry.lanes),
      packetRows(packetRowCount(isa::kOutboxDepth, geometry.latencies()), geometry.lanes) {}

void VectorUnit::restart() {
  front = UnitFront<VectorInstruction>(kFirstBeat);
  outbox = Ring<Packet>();
  writes = Ring<Write>();
  pipeline = isa::VectorPipeline();
  data.restart();
}

Block VectorUnit::block(const MatrixUnit &matrix, Cycle now) const {
  const VectorInstruction *inst = front.active();
  if (!inst)
    return Block::Idle;
  if (!front.waitSatisfied())
    return Block::Token;
  if (inst->takesResult && matrix.resultReady() > now)
    return Block::ResultFifoEmpty;
  if (outbox.size() >= isa::kOutboxDepth && makesPacket(*inst, front))
    return Block::OutboxFull;
  if (now < pipeline.earliest(inst->entries))
    return Block::PipelineBusy;
  return Block::None;
}

bool VectorUnit::tick(const TensorRam &ram, MatrixUnit &matrix, Cycle now) {
  const Block reason = block(matrix, now);
  switch (reason) {
  case Block::None:
    issue(ram, matrix, now);
    return true;
  case Block::Idle:
    front.refill(now);
    return false;
  case Block::ResultFifoEmpty:
    front.sleep(reason, now, matrix.resultReady());
    return false;
  case Block::PipelineBusy:
    front.sleep(reason, now, pipeline.earliest(front.active()->entries));
    return false;
  default:
    front.sleep(reason, now);
    return false;
  }
}

void VectorUnit::issue(const TensorRam &ram, MatrixUnit &matrix, Cycle now) {
  const VectorInstruction &inst = *front.active();
  const LoopNest &beat = front.beat();
  const bool produced = produces(inst, beat), signalled = front.signalsHere();
  front.take(now);
  const Cycle end = now + inst.entries.destination;
  std::span<uint16_t> out;
  if (makesPacket(inst, front)) {
    if (produced)
      out = packetRows.next();
    outbox.push({.from = end + 1,
                 .address = beat.address(StreamDst) & 0x3FFFF,
                 .mask = static_cast<uint16_t>(inst.op.mask),
                 .hasRow = produced,
                 .signals = signalled,
                 .token = inst.sigToken,
                 .units = inst.sigUnits,
                 .row = out});
  } else if (inst.op.dstKind != isa::Dst::Net && inst.op.dstKind != isa::Dst::Signal) {
    if (produced)
      out = pipelineRows.next();
    if (signalled || !out.empty())
      writes.push({.due = end,
                   .kind = inst.op.dstKind,
                   .address = beat.address(StreamDst) & 0x3FFFF,
                   .row = out,
                   .signals = signalled,
                   .token = inst.sigToken,
                   .units = inst.sigUnits});
  }
  data.compute(inst, {beat.address(StreamA), beat.address(StreamB), beat.address(StreamC)},
               beat.lastAt(inst.op.reduceLevel), ram,
               inst.takesResult ? matrix.data.peekResult() : std::span<const uint32_t>(), out);
  if (watch && produced && (inst.op.dstKind == isa::Dst::Local || inst.op.dstKind == isa::Dst::Net))
    watch(out);
  if (inst.op.aSrc == isa::Source::Mxu)
    matrix.popResult(now);
  pipeline.issue(inst.entries, now);
  front.next(now);
}

void VectorUnit::store(const Write &write, TensorRam &ram, MatrixUnit &matrix, Cycle now) {
  if (write.kind == isa::Dst::Local)
    std::ranges::copy(write.row, ram.row(write.address).begin());
  else if (write.kind == isa::Dst::Wrow)
    matrix.data.writeRow(write.address, write.row, now);
  else
    matrix.data.writeColumn(write.address, write.row, now);
}

} // namespace sluice::vm
