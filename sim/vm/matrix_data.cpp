#include "sim/vm/matrix_data.h"

#include <algorithm>

#include "hw/numerics/latency.h"

namespace sluice::vm {

using numerics::AccRow;
using numerics::TowardZero;

namespace {

/// Rows the results of unevaluated and unpopped beats may take.
constexpr uint32_t kResultRows = 2 * isa::kResultFifoDepth;

void copy(const AccRow &from, const AccRow &to) {
  std::ranges::copy(from.m, to.m.begin());
  std::ranges::copy(from.q, to.q.begin());
  std::ranges::copy(from.poison, to.poison.begin());
}

void clear(const AccRow &row) {
  std::ranges::fill(row.m, 0);
  std::ranges::fill(row.q, 0);
  std::ranges::fill(row.poison, uint8_t{0});
}

} // namespace

MatrixData::MatrixData(const format::Geometry &geometry, const format::CoreImage &image)
    : lanes(geometry.lanes), terms(geometry.peTerms), blockCount(geometry.weightBlocks),
      accCount(geometry.accumulators), preloadCount(geometry.preloadRows),
      fanout(geometry.stages.mmFanout), delay(geometry.latencies().chain()),
      weights(size_t{blockCount + 1} * lanes * lanes), accs(accCount + 1, lanes),
      preloads(preloadCount + 1, lanes), xRows(size_t{kSlots} * lanes), blocks(kSlots),
      rawRows(kRawRows, lanes), results(size_t{kResultRows} * lanes) {
  for (const format::WeightImage &one : image.weights) {
    uint16_t *block = blockAt(one.block);
    for (uint32_t out = 0; out < lanes; ++out)
      for (uint32_t in = 0; in < lanes; ++in)
        block[size_t{in} * lanes + out] =
            numerics::flushWeight(one.elements[size_t{out} * lanes + in]);
  }
  for (const format::PreloadImage &one : image.preloads)
    writePreload(one.row, one.lanes);
}

void MatrixData::restart() {
  evaluateThrough(beats.size());
  applyRawWrites(kNever);
  accs = AccRows(accCount + 1, lanes);
  resultsMade = resultsPopped = 0;
}

void MatrixData::writePreload(uint32_t row, std::span<const uint64_t> packed) {
  for (uint32_t lane = 0; lane < lanes; ++lane)
    preloadAt(row).set(lane, numerics::unpackLane(packed[lane]));
}

uint16_t *MatrixData::blockAt(uint32_t block) {
  return &weights[size_t{std::min(block, blockCount)} * lanes * lanes];
}

Cycle MatrixData::readCycle(const Beat &beat, uint32_t p) const {
  return beat.issued + isa::kMmRead + fanout - 2 + (p > 0 ? p - 1 : 0);
}

void MatrixData::issue(const MatrixInstruction &inst, const LoopNest &beat, const TensorRam &ram,
                       Cycle now) {
  // The oldest beat has read everything by then: kSlots beats take longer than
  // any chain.
  if (beats.size() == kSlots)
    evaluateThrough(kSlots / 2);
  Beat one{.issued = now,
           .weight = beat.address(StreamW) & isa::kMostW,
           .acc = beat.address(StreamAcc) & isa::kMostAcc,
           .preload = beat.address(StreamP) & isa::kMostP,
           .multiplies = inst.multiplies,
           .slot = nextSlot};
  if (beat.firstAt(inst.initLevel))
    one.init = inst.init;
  if (beat.lastAt(inst.emitLevel))
    one.emit = inst.emit;
  if (inst.multiplies)
    std::ranges::copy(ram.row(beat.address(StreamX) & isa::kMostX),
                      &xRows[size_t{nextSlot} * lanes]);
  nextSlot = (nextSlot + 1) % kSlots;
  beats.push(one);
}

void MatrixData::applyRawWrites(Cycle now) {
  while (!rawWrites.empty() && rawWrites.front().visible <= now) {
    copy(rawRows.row(rawWrites.front().slot), preloadAt(rawWrites.front().row));
    rawWrites.pop();
  }
}

void MatrixData::evaluateOldest(const TowardZero &mode) {
  const Beat &beat = beats.front();
  const Cycle accumulate = beat.issued + delay;
  const uint16_t *block = beat.ownBlock ? blocks[beat.slot].data() : blockAt(beat.weight);
  const AccRow acc = accAt(beat.acc);
  applyRawWrites(accumulate - 1);
  if (beat.init == isa::Init::Zero)
    clear(acc);
  else if (beat.init == isa::Init::Preload)
    copy(preloadAt(beat.preload), acc);
  if (beat.multiplies)
    numerics::dotAccumulate(mode, {&xRows[size_t{beat.slot} * lanes], lanes}, block, terms, acc);

  if (beat.emit == isa::Emit::Raw) {
    copy(acc, rawRows.row(nextRaw));
    rawWrites.push({accumulate + 2, beat.preload, nextRaw});
    nextRaw = (nextRaw + 1) % kRawRows;
  } else if (beat.emit != isa::Emit::None) {
    uint32_t *row = &results[resultsMade++ % kResultRows * lanes];
    for (uint32_t i = 0; i < lanes; ++i)
      row[i] = numerics::resultLane(acc.lane(i), beat.emit);
  }
  beats.pop();
}

void MatrixData::evaluateThrough(size_t count) {
  if (count == 0)
    return;
  const TowardZero mode;
  for (; count > 0; --count)
    evaluateOldest(mode);
}

std::span<const uint32_t> MatrixData::peekResult() {
  if (resultsMade == resultsPopped) {
    const TowardZero mode;
    while (resultsMade == resultsPopped)
      evaluateOldest(mode);
  }
  return {&results[resultsPopped % kResultRows * lanes], lanes};
}

void MatrixData::protectReaders(uint32_t block, Cycle now) {
  const uint32_t elements = lanes / terms;
  size_t done = 0;
  for (size_t i = 0; i < beats.size(); ++i) {
    Beat &beat = beats[i];
    if (beat.weight != block)
      continue;
    if (readCycle(beat, elements - 1) <= now) {
      done = i + 1;
    } else if (readCycle(beat, 0) <= now && !beat.ownBlock) {
      const uint16_t *from = blockAt(block);
      blocks[beat.slot].assign(from, from + size_t{lanes} * lanes);
      beat.ownBlock = true;
    }
  }
  evaluateThrough(done);
}

void MatrixData::writeWeight(uint32_t block, uint32_t out, uint32_t in, uint16_t value, Cycle now) {
  const size_t position = size_t{in} * lanes + out;
  value = numerics::flushWeight(value);
  blockAt(block)[position] = value;
  for (size_t i = 0; i < beats.size(); ++i) {
    const Beat &beat = beats[i];
    if (beat.ownBlock && beat.weight == block && readCycle(beat, in / terms) > now)
      blocks[beat.slot][position] = value;
  }
}

void MatrixData::writeRow(uint32_t address, std::span<const uint16_t> row, Cycle now) {
  const uint32_t block = address / lanes;
  protectReaders(block, now);
  for (uint32_t i = 0; i < lanes; ++i)
    writeWeight(block, address % lanes, i, row[i], now);
}

void MatrixData::writeColumn(uint32_t address, std::span<const uint16_t> row, Cycle now) {
  const uint32_t block = address / lanes;
  protectReaders(block, now);
  for (uint32_t i = 0; i < lanes; ++i)
    writeWeight(block, i, address % lanes, row[i], now);
}

} // namespace sluice::vm
