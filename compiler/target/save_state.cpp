#include "compiler/target/save_state.h"

#include <algorithm>

#include "hw/isa/isa.h"
#include "runtime/format/state.h"

namespace sluice::core {
namespace {

using Memory = format::StatePlace::Memory;

/// Whatever the instruction, an address is one of the machine's.
format::InstructionWords words(const isa::Instruction &instruction) {
  return isa::encode(instruction).value();
}

/// `count` rows of a vector instruction to the host.
isa::Vec toHost(uint32_t count, uint32_t row, int32_t stride) {
  isa::Vec vec;
  vec.n[3] = count;
  vec.dstKind = isa::Dst::Net;
  vec.mask = 1U << isa::kHostBit;
  vec.dst = row;
  vec.dstStride[3] = stride;
  return vec;
}

using Words = std::vector<format::InstructionWords>;

/// What a packet's address counts.
constexpr size_t kHostRows = size_t{isa::kMostDst} + 1;

void sendRows(uint32_t first, uint32_t count, uint32_t row, Words &to) {
  isa::Vec vec = toHost(count, row, 1);
  vec.aSrc = isa::Source::Ram;
  vec.a = first;
  vec.aStride[3] = 1;
  to.push_back(words(vec));
}

/// A quarter of the lanes at a time: the matrix unit gives halves, the vector unit halves of these.
void sendPreloads(uint32_t first, uint32_t count, uint32_t row, Words &to) {
  for (uint32_t quarter = 0; quarter < 4; ++quarter) {
    isa::Mm mm;
    mm.n[3] = count;
    mm.init = isa::Init::Preload;
    mm.initLevel = isa::kLoopDepth;
    mm.p = first;
    mm.pStride[3] = 1;
    mm.emit = quarter < 2 ? isa::Emit::Low : isa::Emit::High;
    mm.emitLevel = isa::kLoopDepth;
    to.push_back(words(mm));
    isa::Vec vec = toHost(count, row + quarter, 4);
    vec.aSrc = isa::Source::Mxu;
    vec.part = quarter % 2 == 0 ? isa::Part::Low : isa::Part::High;
    to.push_back(words(vec));
  }
}

void send(const format::StatePlace &place, uint32_t row, Words &to) {
  const uint32_t each = format::imageRows(place.memory);
  for (uint32_t done = 0; done < place.rows; done += isa::kMostN) {
    const uint32_t count = std::min(place.rows - done, isa::kMostN);
    if (place.memory == Memory::Rows)
      sendRows(place.first + done, count, row + done * each, to);
    else
      sendPreloads(place.first + done, count, row + done * each, to);
  }
}

} // namespace

bool appendSave(format::Program &program) {
  const format::Geometry &geometry = program.geometry;
  if (format::stateRows(program.state) > kHostRows)
    return false;
  std::vector<Words> lists(geometry.cores + 1);
  uint32_t row = 0;
  for (const format::StatePlace &place : program.state.places) {
    send(place, row, lists[place.core]);
    row += place.rows * format::imageRows(place.memory);
  }
  const auto listOf = [&](uint32_t list) -> Words & {
    return list < geometry.cores ? program.cores[list].instructions : program.hostInstructions;
  };
  for (uint32_t list = 0; list <= geometry.cores; ++list) {
    lists[list].push_back(words(isa::Halt{}));
    const uint32_t room = list < geometry.cores ? geometry.instructions : geometry.hostInstructions;
    if (listOf(list).size() + lists[list].size() > room)
      return false;
  }
  program.state.save.clear();
  for (uint32_t list = 0; list <= geometry.cores; ++list) {
    Words &to = listOf(list);
    program.state.save.push_back(static_cast<uint32_t>(to.size()));
    to.insert(to.end(), lists[list].begin(), lists[list].end());
  }
  return true;
}

} // namespace sluice::core
