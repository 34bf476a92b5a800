#include "sim/vm/decode.h"

#include "hw/isa/matrix_beats.h"

namespace sluice::vm {

namespace {

template <class Inst> void copyCommon(UnitInstruction &to, const Inst &from, uint32_t index) {
  static_cast<TokenFields &>(to) = tokenFields(from);
  to.index = index;
  to.waits = from.waitEn != 0;
  to.waitLevel = static_cast<uint8_t>(from.waitLevel);
  to.signals = from.sigEn != 0;
  to.sigLevel = static_cast<uint8_t>(from.sigLevel);
}

MatrixInstruction makeMatrix(const isa::Mm &mm, uint32_t index) {
  MatrixInstruction out;
  copyCommon(out, mm, index);
  out.nest = NestShape(mm.n, {mm.xStride, mm.wStride, mm.accStride, mm.pStride});
  out.base = {mm.x, mm.w, mm.acc, mm.p};
  out.reg = {static_cast<uint8_t>(mm.xReg), static_cast<uint8_t>(mm.wReg), 0,
             static_cast<uint8_t>(mm.pReg)};
  out.nest.setRing(StreamX, mm.x, mm.xRing);
  out.skip = mm.skip != 0;
  out.multiplies = isa::multiplies(mm);
  out.makesResults = isa::makesResults(mm);
  out.init = mm.init;
  out.initLevel = static_cast<uint8_t>(mm.initLevel);
  out.emit = mm.emit;
  out.emitLevel = static_cast<uint8_t>(mm.emitLevel);
  return out;
}

VectorInstruction makeVector(const isa::Vec &vec, uint32_t index, const isa::Latencies &latencies) {
  VectorInstruction out;
  copyCommon(out, vec, index);
  out.nest = NestShape(vec.n, {vec.aStride, vec.bStride, vec.cStride, vec.dstStride});
  out.base = {vec.a, vec.b, vec.c, vec.dst};
  out.reg = {static_cast<uint8_t>(vec.aReg), static_cast<uint8_t>(vec.bReg),
             static_cast<uint8_t>(vec.cReg), static_cast<uint8_t>(vec.dstReg)};
  out.nest.setRing(StreamA, vec.a, vec.aRing);
  out.nest.setRing(StreamB, vec.b, vec.bRing);
  out.nest.setRing(StreamC, vec.c, vec.cRing);
  out.nest.setRing(StreamDst, vec.dst, vec.dstRing);
  out.op = vec;
  out.takesResult = takesResult(vec);
  out.entries = isa::vectorEntries(vectorPath(vec), latencies);
  return out;
}

InputInstruction makeInput(const isa::Input &input, uint32_t index) {
  InputInstruction out;
  copyCommon(out, input, index);
  out.nest = NestShape(input.n, {input.dstStride, {}, {}, {}});
  out.nest.setRing(0, input.dst, input.dstRing);
  out.base = {input.dst, 0, 0, 0};
  out.reg = {static_cast<uint8_t>(input.dstReg), 0, 0, 0};
  out.skip = input.skip != 0;
  out.mask = static_cast<uint16_t>(input.mask);
  return out;
}

/// Fills one Step from each kind of instruction.
struct StepMaker {
  Code &code;
  const isa::Latencies &latencies;
  uint32_t index;

  Step operator()(const isa::Restart &) { return {.op = isa::Opcode::Restart}; }
  Step operator()(const isa::Halt &) { return {.op = isa::Opcode::Halt}; }
  Step operator()(const isa::Loop &loop) { return {.op = isa::Opcode::Loop, .count = loop.count}; }
  Step operator()(const isa::Endloop &) { return {.op = isa::Opcode::Endloop}; }
  Step operator()(const isa::Setreg &set) {
    return {.op = isa::Opcode::Setreg, .reg = set.index, .imm = set.imm};
  }
  Step operator()(const isa::Addreg &add) {
    return {.op = isa::Opcode::Addreg, .reg = add.index, .imm = add.imm};
  }
  Step operator()(const isa::Mm &mm) {
    code.matrix.push_back(makeMatrix(mm, index));
    return {.op = isa::Opcode::Mm, .unit = static_cast<uint32_t>(code.matrix.size() - 1)};
  }
  Step operator()(const isa::Vec &vec) {
    code.vector.push_back(makeVector(vec, index, latencies));
    return {.op = isa::Opcode::Vec, .unit = static_cast<uint32_t>(code.vector.size() - 1)};
  }
  Step operator()(const isa::Input &input) {
    code.input.push_back(makeInput(input, index));
    return {.op = isa::Opcode::Input, .unit = static_cast<uint32_t>(code.input.size() - 1)};
  }
};

} // namespace

Code decodeCode(const std::vector<format::InstructionWords> &words,
                const isa::Latencies &latencies) {
  Code code;
  code.steps = stepsOf<Step>(words, [&](uint32_t index, const isa::Instruction &inst) {
    return std::visit(StepMaker{code, latencies, index}, inst);
  });
  return code;
}

} // namespace sluice::vm
