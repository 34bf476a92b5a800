#include "sim/vm/timed/core.h"

#include "hw/numerics/latency.h"
#include "runtime/format/geometry.h"

namespace sluice::vm::timed {

Core::Core(const format::Geometry &geometry, const Code &code, uint32_t index, Watch *watch)
    : index(index), watch(watch), sequencer(code), matrixDelay(geometry.latencies().chain()),
      resultDelay(geometry.latencies().result()) {}

void Core::run(Cycle limit) {
  while (due != 0) {
    if ((due & bit(Sequencing)) != 0) {
      due &= static_cast<uint8_t>(~bit(Sequencing));
      sequencer.run(
          limit, [&](uint8_t unit) -> Front & { return unit == Matrix ? matrix : vector; },
          [&](uint8_t unit) {
            if ((unit == Matrix ? matrix : vector).block == Block::Idle)
              due |= static_cast<uint8_t>(1U << unit);
          });
    }
    if ((due & bit(Matrix)) != 0)
      runMatrix(limit);
    if ((due & bit(Vector)) != 0)
      runVector(limit);
  }
}

void Core::runMatrix(Cycle limit) {
  due &= static_cast<uint8_t>(~bit(Matrix));
  while (matrix.load([&] { sequencerHasRoom(Matrix); })) {
    matrix.block = Block::None;
    if (matrix.at >= limit || !matrix.wait())
      return;
    const Instruction &inst = *matrix.instruction();
    Cycle last = matrix.lastBeat();
    if (matrix.sendsHere()) {
      if (resultsMade - resultsPopped == isa::kResultFifoDepth) {
        matrix.block = Block::ResultFifoFull;
        return;
      }
      const size_t place = resultsMade++ % isa::kResultFifoDepth;
      last = std::max(last, resultRoomFrom[place]);
      resultFrom[place] = last + resultDelay;
      if (vector.block == Block::ResultFifoEmpty)
        due |= bit(Vector);
    }
    if (matrix.signalsHere())
      matrixTokens.push({last + matrixDelay + isa::kMmAccumulate, inst.sigToken, inst.sigUnits});
    if (watch)
      matrix.tell(*watch, Watch::Unit::Matrix, index, last);
    matrix.next(last);
  }
}

void Core::runVector(Cycle limit) {
  due &= static_cast<uint8_t>(~bit(Vector));
  while (vector.load([&] { sequencerHasRoom(Vector); })) {
    vector.block = Block::None;
    if (vector.at >= limit || !vector.wait())
      return;
    const Instruction &inst = *vector.instruction();
    if (inst.takesResult) {
      if (resultsMade == resultsPopped) {
        vector.block = Block::ResultFifoEmpty;
        return;
      }
      vector.at = std::max(vector.at, resultFrom[resultsPopped % isa::kResultFifoDepth]);
    }
    vector.at = std::max(vector.at, pipeline.earliest(inst.entries));
    Cycle last = vector.lastBeat();
    if (vector.sendsHere()) {
      if (packets.size() == isa::kOutboxDepth) {
        vector.block = Block::OutboxFull;
        return;
      }
      last = std::max(last, outboxRoomFrom);
      packets.push({.from = last + inst.entries.destination + 1,
                    .mask = inst.mask,
                    .hasRow = inst.hasRow,
                    .signals = vector.signalsHere(),
                    .token = inst.sigToken,
                    .units = inst.sigUnits});
    }
    if (vector.signalsHere() && !inst.toNetwork)
      vectorTokens.push({last + inst.entries.destination, inst.sigToken, inst.sigUnits});
    if (inst.popsResult) {
      resultRoomFrom[resultsPopped++ % isa::kResultFifoDepth] = last + 1;
      if (matrix.block == Block::ResultFifoFull)
        due |= bit(Matrix);
    }
    pipeline.issue(inst.entries, last);
    if (watch)
      vector.tell(*watch, Watch::Unit::Vector, index, last);
    vector.next(last);
  }
}

bool Core::give(uint8_t units, uint8_t token, Cycle now) {
  if ((units & 1) != 0 && matrix.give(token, now))
    due |= bit(Matrix);
  if ((units & 2) != 0 && vector.give(token, now))
    due |= bit(Vector);
  return due != 0;
}

bool Core::outboxGranted(Cycle now) {
  outboxRoomFrom = now + 1;
  if (vector.block == Block::OutboxFull)
    due |= bit(Vector);
  return due != 0;
}

void Core::settle(Cycle now) {
  for (Ring<Token> *tokens : {&matrixTokens, &vectorTokens})
    for (; !tokens->empty() && tokens->front().due <= now; tokens->pop())
      give(tokens->front().units, tokens->front().token, now);
}

void Core::resume() { due = bit(Sequencing) | bit(Matrix) | bit(Vector); }

Cycle Core::nextToken() const {
  Cycle next = kNever;
  for (const Ring<Token> *tokens : {&matrixTokens, &vectorTokens})
    if (!tokens->empty())
      next = std::min(next, tokens->front().due);
  return next;
}

Cycle Core::parked() const {
  Cycle next = sequencer.next();
  for (const Front *unit : {&matrix, &vector})
    if (unit->instruction() && unit->block == Block::None)
      next = std::min(next, unit->at);
  return next;
}

Cycle Core::restFrom() const {
  return std::max(
             {sequencer.freeFrom(), matrix.at + resultDelay, vector.at, pipeline.emptyFrom()}) +
         1;
}

void Core::addStatus(std::vector<device::UnitStatus> &to) const {
  to.push_back(matrix.status("matrix", index));
  to.push_back(vector.status("vector", index));
}

} // namespace sluice::vm::timed
