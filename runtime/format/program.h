// The contents of a program file as plain data: what the compiler writes, the
// loader checks and the engines run. The byte layout is in program_file.h.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/format/geometry.h"

namespace sluice::format {

/// One instruction as stored: isa::kWords little-endian 64-bit words.
using InstructionWords = std::array<uint64_t, 9>;

/// Element type of a tensor as the host sees it.
enum class HostType : uint8_t { Float32 = 1, BFloat16 = 2, Float16 = 3, Float64 = 4 };

/// A tensor at the host port. The host sees a plain row-major array of `shape`;
/// the port carries rows of B bf16 lanes. Index (i0..in) with data dimension d:
/// the row is first_row + flat(other indices, row-major) * ceil(shape[d]/B) +
/// i[d]/B, the lane i[d]%B. Lanes beyond the extent are zero in inputs and
/// unspecified in outputs. A rank-0 tensor
/// has an empty shape and is carried as one lane. In a model of several steps the
/// rows carry the part of one step (runtime/format/steps.h), and `shape` is that of
/// the whole.
struct HostTensor {
  std::string name;
  std::vector<int64_t> shape;
  HostType type = HostType::Float32;
  uint32_t dataDim = 0;
  uint32_t firstRow = 0;
  uint32_t rows = 0;
  /// Of a model of several steps: the axis along which every step has its own positions. None:
  /// an input that every step takes again, an output of the last step.
  std::optional<uint32_t> stepAxis = std::nullopt;
  /// Along it, of an output: positions that the first steps give ahead of position 0.
  uint32_t skipped = 0;
};

/// One model of a program: the rows of its inputs are offered in order of
/// firstRow, and its outputs are complete when every output row has arrived
/// once.
struct Model {
  std::string name;
  std::vector<HostTensor> inputs;
  std::vector<HostTensor> outputs;
  uint64_t macs = 0; ///< multiply-accumulates of one inference, without padding
  uint64_t parameters = 0;
  /// How often an inference goes through the program. With more than one it begins with the
  /// program's initial state, and the rows of each step are offered, and arrive, one after the
  /// other.
  uint32_t steps = 1;
};

/// Runs of rows of one memory with their first address.
struct RowImage {
  uint32_t address = 0;
  std::vector<uint16_t> lanes; ///< whole rows, B lanes each
};

/// A preloaded accumulator row: B lanes of 64 bits (docs/machine.md, Numbers).
struct PreloadImage {
  uint32_t row = 0;
  std::vector<uint64_t> lanes;
};

/// A weight block: B*B bf16, [output lane][input position].
struct WeightImage {
  uint32_t block = 0;
  std::vector<uint16_t> elements;
};

/// A function table: header words and table_entries bf16 values.
struct TableImage {
  uint32_t table = 0;
  std::array<uint64_t, 4> header{};
  std::vector<uint16_t> entries;
};

struct CoreImage {
  std::vector<InstructionWords> instructions;
  std::vector<WeightImage> weights;   ///< ascending block
  std::vector<RowImage> rows;         ///< ascending address; inbox or local
  std::vector<PreloadImage> preloads; ///< ascending row
  std::vector<TableImage> tables;     ///< ascending table
};

/// Where every sequencer begins, by core, the host port last. Empty: with instruction 0.
using EntryPoint = std::vector<uint32_t>;

/// Rows that are kept from one inference to the next: of a core's tensor RAM, or of its
/// preload RAM (sums ahead, unrounded).
struct StatePlace {
  enum class Memory : uint8_t { Rows = 1, Preloads = 2 };

  uint32_t core = 0;
  Memory memory = Memory::Rows;
  uint32_t first = 0; ///< address as in instructions, inbox or local; or preload row
  uint32_t rows = 0;
};

/// What a program remembers. As an image it is a sequence of rows of B lanes in the order of
/// the places: a tensor row is one of them, a preload row four, which are quarters of its lanes,
/// the lowest first, as the configuration port takes them.
struct ProgramState {
  std::vector<StatePlace> places; ///< ascending (core, memory, first)
  /// Sends the image to the host as output rows 0 and on, and stops. Empty: it cannot.
  EntryPoint save;
};

/// Where an instruction comes from: indices into Program::nodes.
struct SourceEntry {
  uint32_t core = 0; ///< core index, or the number of cores for the host port
  uint32_t instruction = 0;
  std::vector<uint32_t> nodes;
};

/// A node of the source model.
struct SourceNode {
  int64_t index = -1; ///< position in the ONNX graph, -1 if none
  std::string name;
  std::string op;
};

struct Program {
  Geometry geometry;
  std::vector<Model> models;
  std::vector<CoreImage> cores;
  std::vector<InstructionWords> hostInstructions;
  ProgramState state;
  std::vector<SourceNode> nodes;
  std::vector<SourceEntry> sourceMap; ///< ascending (core, instruction)
  std::string compilerVersion;
  std::string options;
};

} // namespace sluice::format
