// The contents of a program file as plain data. The compiler writes it, the loader checks it and
// the engines run it. program_file.h has the byte layout.
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

/// One model of a program. The host offers the rows of the inputs in the order of firstRow. The
/// outputs are complete when every output row has arrived once.
struct Model {
  std::string name;
  std::vector<HostTensor> inputs;
  std::vector<HostTensor> outputs;
  uint64_t macs = 0; ///< multiply-accumulates of one inference, with weights that are not 0
  uint64_t parameters = 0;
  /// The number of runs of the program in one inference. If there are several, an inference begins
  /// with the initial state of the program, and the rows of the steps follow each other.
  uint32_t steps = 1;
  /// The inputs of the user, then arrays of random numbers. Empty: there are none of these, and the
  /// inputs of the user equal `inputs`.
  std::vector<HostArray> arrays = {};
};

/// Rows that the machine keeps from one inference to the next, in the tensor RAM of a core or in
/// its preload RAM (precomputed sums, not rounded).
struct StatePlace {
  enum class Memory : uint8_t { Rows = 1, Preloads = 2 };

  uint32_t core = 0;
  Memory memory = Memory::Rows;
  uint32_t first = 0; ///< first address, as in instructions, or first preload row
  uint32_t rows = 0;
};

/// The state of a program. Its image is a sequence of rows in the order of the places. A tensor row
/// is one row of the image. A preload row is four: the quarters of its 64-bit lanes, lowest first,
/// as the configuration port writes them.
struct ProgramState {
  std::vector<StatePlace> places; ///< ascending (core, memory, first)
  /// The entry of the instructions that send the image to the host, as output rows from 0 on, and
  /// stop. Empty if the program has none.
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
