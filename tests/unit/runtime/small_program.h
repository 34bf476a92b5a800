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
  program.compilerVersion = "test";
  program.options = "--target c2b8";
  return program;
}

} // namespace sluice::test
