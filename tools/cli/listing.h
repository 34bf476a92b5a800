// The instructions of a program with the layers of the model they belong to.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/cli/engine.h"

namespace sluice::cli {

/// The nodes that became the same instructions: a Gemm and the activation behind
/// it, say. Instructions of no node in particular form two more: "(input)", the
/// host port's, and "(synchronisation)", which only pass tokens on.
struct Layer {
  std::vector<int64_t> nodes; ///< positions in the ONNX graph; -1: has none
  std::vector<std::string> names, operators;

  /// "/gemm_1 (Gemm), /relu_2 (Relu)".
  std::string title() const;
};

struct ListedInstruction {
  std::string text, moves;
  sluice_rt_unit unit = SLUICE_RT_SEQUENCER;
  bool multiplies = false;
  size_t layer = 0;
};

struct Listing {
  explicit Listing(const ProgramHandle &program);

  std::vector<Layer> layers;                         ///< by the numbers of their nodes
  std::vector<std::vector<ListedInstruction>> cores; ///< the host port last
};

/// "core 3" or "host port"; "matrix", "vector" or "input".
std::string coreName(uint32_t core, size_t cores);
std::string unitName(sluice_rt_unit unit);

} // namespace sluice::cli
