// The contents of a program file as plain data: what the compiler writes, the
// loader checks and the engines run. The byte layout is in program_file.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/format/computed_rows.h"
#include "runtime/format/entry_point.h"
#include "runtime/format/geometry.h"
#include "runtime/format/host_tensor.h"
#include "runtime/format/images.h"
#include "runtime/format/source_map.h"

namespace sluice::format {

/// One model of a program: the rows of its inputs are offered in order of
/// firstRow, and its outputs are complete when every output row has arrived
/// once.
struct Model {
  std::string name;
  std::vector<HostTensor> inputs;
  std::vector<HostTensor> outputs;
  uint64_t macs = 0; ///< multiply-accumulates of one inference, without those by weights of 0
  uint64_t parameters = 0;
  /// How often an inference goes through the program. With more than one it begins with the
  /// program's initial state, and the rows of each step are offered, and arrive, one after the
  /// other.
  uint32_t steps = 1;
  std::vector<HostArray> arrays = {}; ///< the inputs of the host; empty: one for each of `inputs`
};

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

struct Program {
  Geometry geometry;
  std::vector<Model> models;
  std::vector<CoreImage> cores;
  std::vector<InstructionWords> hostInstructions;
  ProgramState state;
  std::vector<SourceNode> nodes;
  std::vector<SourceEntry> sourceMap; ///< ascending (core, instruction)
  std::vector<ModelTensor> tensors;
  std::vector<ComputedRows> computedRows; ///< ascending (core, instruction)
  std::string compilerVersion;
  std::string options;
};

} // namespace sluice::format
