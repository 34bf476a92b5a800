// A small but complete program for c2b8: y = relu(W x + b) on core 0, with W and
// b such that lane i is 2*x[i] + i.
#pragma once

#include "hw/isa/isa.h"
#include "runtime/format/program.h"
#include "runtime/format/targets.h"

namespace sluice::test {

inline format::InstructionWords encoded(const isa::Instruction &instruction) {
  return isa::encode(instruction).value();
}

inline isa::Input smallInput() {
  isa::Input input;
  input.mask = 1;
  input.sigEn = 1;
  input.sigUnits = 1;
  input.sigLevel = 4;
  return input;
}

inline isa::Mm smallMm() {
  isa::Mm mm;
  mm.waitEn = 1;
  mm.waitCount = 1;
  mm.init = isa::Init::Zero;
  mm.emit = isa::Emit::Bf16;
  return mm;
}

inline isa::Vec smallVec() {
  isa::Vec vec;
  vec.aSrc = isa::Source::Mxu;
  vec.bEn = 1;
  vec.b = isa::kLocalBase;
  vec.alu1 = isa::Alu::Add;
  vec.post = isa::Post::Relu;
  vec.dstKind = isa::Dst::Net;
  vec.mask = 1U << isa::kHostBit;
  vec.sigEn = 1;
  return vec;
}

inline format::Program smallProgram() {
  format::Program program;
  program.geometry = *format::findPreset("c2b8");
  format::Model model;
  model.name = "small";
  model.inputs = {{"x", {1, 8}, format::HostType::Float32, 1, 0, 1}};
  model.outputs = {{"y", {8}, format::HostType::Float32, 0, 0, 1}};
  model.macs = 64;
  model.parameters = 72;
  program.models = {model};

  // The input waits for the output's token before it takes the next row.
  isa::Input credit;
  credit.skip = 1;
  credit.waitEn = 1;
  credit.waitCount = 1;
  program.hostInstructions = {encoded(smallInput()), encoded(credit), encoded(isa::Restart{})};
  program.cores.resize(2);
  format::CoreImage &core = program.cores[0];
  core.instructions = {encoded(smallMm()), encoded(smallVec()), encoded(isa::Restart{})};
  program.cores[1].instructions = {encoded(isa::Halt{})};
  std::vector<uint16_t> weights(64);
  std::vector<uint16_t> bias(8);
  const uint16_t small[8] = {0, 0x3F80, 0x4000, 0x4040, 0x4080, 0x40A0, 0x40C0, 0x40E0};
  for (unsigned i = 0; i < 8; ++i) {
    weights[i * 8 + i] = 0x4000;
    bias[i] = small[i];
  }
  core.weights = {{0, weights}};
  core.rows = {{isa::kLocalBase, bias}};
  core.preloads = {{3, std::vector<uint64_t>(8, 1)}};
  program.nodes = {{0, "fc", "Gemm"}, {1, "act", "Relu"}};
  program.sourceMap = {{0, 0, {0}}, {0, 1, {0, 1}}, {2, 0, {}}};
  program.tensors = {{"act.out", {8}}};
  program.computedRows = {{0, 1, {{0, 0, false, 0, 0, {}}}}};
  program.compilerVersion = "test";
  program.options = "--target c2b8";
  return program;
}

/// A row of core 0 to the host.
inline isa::Vec rowToHost(uint32_t from, uint32_t to) {
  isa::Vec vec;
  vec.aSrc = isa::Source::Ram;
  vec.a = from;
  vec.dstKind = isa::Dst::Net;
  vec.dst = to;
  vec.mask = 1U << isa::kHostBit;
  return vec;
}

/// The small program with a memory: its bias, and preload row 3, which its sum begins with, are
/// state. The bias of lane i is i + n in inference n, the preload row 0.
inline format::Program statefulProgram() {
  format::Program program = smallProgram();
  isa::Mm mm = smallMm();
  mm.init = isa::Init::Preload;
  mm.p = 3;
  isa::Vec next;
  next.aSrc = isa::Source::Ram;
  next.a = isa::kLocalBase;
  next.alu1 = isa::Alu::Add;
  next.rhs1 = isa::Rhs1::Imm;
  next.imm1 = 0x3F800000;
  next.dstKind = isa::Dst::Local;
  next.dst = isa::kLocalBase;
  std::vector<format::InstructionWords> &core = program.cores[0].instructions;
  core = {encoded(mm), encoded(smallVec()), encoded(next), encoded(isa::Restart{})};
  program.cores[0].preloads[0].lanes.assign(8, 0);
  program.state.places = {{0, format::StatePlace::Memory::Rows, isa::kLocalBase, 1},
                          {0, format::StatePlace::Memory::Preloads, 3, 1}};
  program.state.save = {static_cast<uint32_t>(core.size()), 0,
                        static_cast<uint32_t>(program.hostInstructions.size())};
  core.push_back(encoded(rowToHost(isa::kLocalBase, 0)));
  for (uint32_t quarter = 0; quarter < 4; ++quarter) {
    mm = {};
    mm.init = isa::Init::Preload;
    mm.p = 3;
    mm.emit = quarter < 2 ? isa::Emit::Low : isa::Emit::High;
    isa::Vec vec = rowToHost(0, 1 + quarter);
    vec.aSrc = isa::Source::Mxu;
    vec.part = quarter % 2 == 0 ? isa::Part::Low : isa::Part::High;
    core.insert(core.end(), {encoded(mm), encoded(vec)});
  }
  core.push_back(encoded(isa::Halt{}));
  program.hostInstructions.push_back(encoded(isa::Halt{}));
  return program;
}

} // namespace sluice::test
