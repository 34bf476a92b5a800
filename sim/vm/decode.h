// The decoded instructions of a program. Loading a program decodes them once.
#pragma once

#include <cstdint>
#include <vector>

#include "hw/numerics/vector_pipeline.h"
#include "runtime/format/images.h"
#include "sim/vm/loop_nest.h"
#include "sim/vm/words.h"

namespace sluice::vm {

/// The fields that the instructions of all three units have.
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
  bool takesResult = false; ///< operand a is a result of the matrix unit, popped or not
  isa::VectorEntries entries;
};

/// An `input` instruction. It uses only the destination stream.
struct InputInstruction : UnitInstruction {
  bool skip = false;
  uint16_t mask = 0;
};

/// One entry of an instruction RAM.
struct Step {
  isa::Opcode op = isa::Opcode::Halt;
  uint32_t unit = 0; ///< instruction of a unit: its index in the list of the unit
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

/// Decodes the words of an instruction RAM. A word that is no instruction becomes `halt`.
Code decodeCode(const std::vector<format::InstructionWords> &words,
                const isa::Latencies &latencies);

} // namespace sluice::vm
