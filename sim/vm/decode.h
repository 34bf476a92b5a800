// A program's instructions in the form the units run them, derived once when a
// program is loaded.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/format/images.h"
#include "sim/vm/loop_nest.h"
#include "sim/vm/words.h"

namespace sluice::vm {

/// What the instructions of the three units have in common.
struct UnitInstruction : TokenFields {
  uint32_t index = 0; ///< in the instruction RAM
  NestShape nest;
  Addresses base{};
  std::array<uint8_t, kStreams> reg{};
  bool waits = false;
  uint8_t waitLevel = 0;
  bool signals = false;
  uint8_t sigLevel = 0;
};

enum MatrixStream : uint8_t { StreamX, StreamW, StreamAcc, StreamP };
enum VectorStream : uint8_t { StreamA, StreamB, StreamC, StreamDst };

struct MatrixInstruction : UnitInstruction {
  bool skip = false;
  bool multiplies = false;
  bool makesResults = false;
  isa::Init init = isa::Init::Keep;
  uint8_t initLevel = 0;
  isa::Emit emit = isa::Emit::None;
  uint8_t emitLevel = 0;
};

struct VectorInstruction : UnitInstruction {
  isa::Vec op;
  bool takesResult = false; ///< a is a matrix result, popped or not
  uint8_t path = 0;         ///< vectorPath
  uint32_t latency = 0;     ///< L of docs/machine.md
};

/// Only the destination stream is used.
struct InputInstruction : UnitInstruction {
  bool skip = false;
  uint16_t mask = 0;
};

/// One entry of an instruction RAM.
struct Step {
  isa::Opcode op = isa::Opcode::Halt;
  uint32_t unit = 0; ///< unit instructions: index into the list of the unit
  uint32_t count = 0;
  uint32_t reg = 0;
  int32_t imm = 0;
};

/// The instruction RAM of a core or of the host port.
struct Code {
  std::vector<Step> steps;
  std::vector<MatrixInstruction> matrix;
  std::vector<VectorInstruction> vector;
  std::vector<InputInstruction> input;
};

/// Words that are no instruction stop the sequencer, like `halt`.
Code decodeCode(const std::vector<format::InstructionWords> &words, uint32_t lanes);

} // namespace sluice::vm
