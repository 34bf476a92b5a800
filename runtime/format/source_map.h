// The nodes of the source model that each instruction implements.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sluice::format {

/// The source nodes of an instruction, as indices into Program::nodes.
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

} // namespace sluice::format
