#include "sim/vm/timed/code.h"

#include <algorithm>

#include "hw/isa/matrix_beats.h"

namespace sluice::vm::timed {

namespace {

using Trips = std::array<uint32_t, isa::kLoopDepth>;

/// Of the loops from level `from` to level `to`.
uint64_t tripsOf(const Trips &trips, uint32_t from, uint32_t to) {
  uint64_t product = 1;
  for (uint32_t level = from; level < to; ++level)
    product *= trips[level];
  return product;
}

/// Divides the beats of an instruction into groups.
class Grouping {
public:
  /// Something happens at this level: beats first or last at it.
  void at(uint32_t level) { groupLevel = std::max(groupLevel, level); }

  /// How often that is, in groups.
  uint64_t every(const Trips &trips, uint32_t level) const {
    return tripsOf(trips, level, groupLevel);
  }

  void apply(const Trips &trips, Instruction &to) const {
    to.groups = tripsOf(trips, 0, groupLevel);
    to.beats = tripsOf(trips, groupLevel, isa::kLoopDepth);
  }

private:
  uint32_t groupLevel = 0;
};

/// What the three kinds have in common. `outLevel` is the level of results or
/// packets, if there are any.
template <class Inst>
Instruction make(const Inst &from, uint32_t index, bool signals, std::optional<uint32_t> outLevel,
                 bool everyBeat = false) {
  Instruction to;
  static_cast<TokenFields &>(to) = tokenFields(from);
  to.index = index;
  Grouping grouping;
  if (everyBeat)
    grouping.at(isa::kLoopDepth);
  if (outLevel)
    grouping.at(*outLevel);
  if (from.waitEn)
    grouping.at(from.waitLevel);
  if (signals)
    grouping.at(from.sigLevel);
  grouping.apply(from.n, to);
  if (outLevel)
    to.outEvery = grouping.every(from.n, *outLevel);
  if (from.waitEn)
    to.waitEvery = grouping.every(from.n, from.waitLevel);
  if (signals)
    to.signalEvery = grouping.every(from.n, from.sigLevel);
  return to;
}

Instruction makeMatrix(const isa::Mm &mm, uint32_t index) {
  return make(mm, index, mm.sigEn != 0,
              isa::makesResults(mm) ? std::optional(mm.emitLevel) : std::nullopt);
}

Instruction makeVector(const isa::Vec &vec, uint32_t index, const isa::Latencies &latencies) {
  const bool takes = takesResult(vec);
  std::optional<uint32_t> packets;
  if (vec.dstKind == isa::Dst::Net)
    packets = vec.reduce == isa::Reduce::None ? isa::kLoopDepth : vec.reduceLevel;
  else if (vec.dstKind == isa::Dst::Signal && vec.sigEn)
    packets = vec.sigLevel;
  Instruction to = make(vec, index, vec.sigEn != 0, packets, takes);
  to.takesResult = takes;
  to.popsResult = vec.aSrc == isa::Source::Mxu;
  to.toNetwork = vec.dstKind == isa::Dst::Net || vec.dstKind == isa::Dst::Signal;
  to.entries = isa::vectorEntries(vectorPath(vec), latencies);
  to.hasRow = vec.dstKind == isa::Dst::Net;
  to.mask = static_cast<uint16_t>(vec.mask);
  return to;
}

Instruction makeInput(const isa::Input &input, uint32_t index) {
  const bool rows = input.skip == 0;
  Instruction to = make(input, index, rows && input.sigEn != 0,
                        rows ? std::optional<uint32_t>(isa::kLoopDepth) : std::nullopt);
  to.hasRow = rows;
  to.mask = static_cast<uint16_t>(input.mask);
  return to;
}

/// Fills one Step from each kind of instruction.
struct StepMaker {
  Code &code;
  const isa::Latencies &latencies;
  bool hostPort;
  uint32_t index;

  Step operator()(const isa::Restart &) { return {Step::Op::Restart}; }
  Step operator()(const isa::Halt &) { return {Step::Op::Halt}; }
  Step operator()(const isa::Loop &loop) { return {Step::Op::Loop, 0, loop.count}; }
  Step operator()(const isa::Endloop &) { return {Step::Op::Endloop}; }
  Step operator()(const isa::Setreg &) { return {Step::Op::Nothing}; }
  Step operator()(const isa::Addreg &) { return {Step::Op::Nothing}; }
  Step operator()(const isa::Mm &mm) {
    return hostPort ? Step{Step::Op::Nothing} : add(0, makeMatrix(mm, index));
  }
  Step operator()(const isa::Vec &vec) {
    return hostPort ? Step{Step::Op::Nothing} : add(1, makeVector(vec, index, latencies));
  }
  Step operator()(const isa::Input &input) {
    return hostPort ? add(0, makeInput(input, index)) : Step{Step::Op::Nothing};
  }

  Step add(uint8_t unit, const Instruction &inst) {
    code.units.push_back(inst);
    return {Step::Op::Unit, unit, static_cast<uint32_t>(code.units.size() - 1)};
  }
};

} // namespace

Code decodeCode(const std::vector<format::InstructionWords> &words, const isa::Latencies &latencies,
                bool hostPort) {
  Code code;
  code.units.reserve(words.size());
  code.steps = stepsOf<Step>(words, [&](uint32_t index, const isa::Instruction &inst) {
    return std::visit(StepMaker{code, latencies, hostPort, index}, inst);
  });
  return code;
}

} // namespace sluice::vm::timed
