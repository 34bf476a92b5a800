// What two programs do for the same nodes: cycles, rows and blocks, and why they differ.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/api/sluice_rt.h"
#include "tools/cli/activity.h"

namespace sluice::cli {

/// What a program does for some nodes, which may be several of its layers.
struct LayerUse {
  /// Of the inference: a cycle counts for the layers that issue a beat in it. One without a beat
  /// counts for the layers of the next beat, and at the end for those of the last.
  uint64_t cycles = 0;
  uint64_t rows = 0, blocks = 0;
  std::vector<uint64_t> rowsByCore, blocksByCore;
  std::vector<uint64_t> waits;                  ///< unit cycles, by sluice_rt_activity
  bool isInLoop = false;                        ///< a hardware loop repeats its instructions
  std::vector<std::vector<std::string>> groups; ///< titles of the nodes of each layer
};

/// The uses of every layer of a listing, in its order. The cycles add up to those of the activity.
std::vector<LayerUse> layerUses(const Activity &activity, const Listing &listing);

/// A node as both programs know it.
struct ComparedNode {
  int64_t index = -1; ///< in the first program that has it; -1: in no graph
  std::string name, op;
};

/// Nodes that each program computes apart from all others.
struct LayerDifference {
  std::vector<ComparedNode> nodes;
  std::optional<LayerUse> a, b; ///< nothing: the program has none of the nodes

  [[nodiscard]] int64_t cycles() const;
  /// Whether the nodes are those of the model, and not the host port or tokens.
  [[nodiscard]] bool isOfModel() const { return !nodes.front().op.empty(); }
  [[nodiscard]] bool isNone() const;
};

/// A profiled program.
struct Profiled {
  const Activity &activity;
  const Listing &listing;
  sluice_rt_machine machine;
};

/// Pairs the layers of two programs, in the order of the first. Nodes are the same that have the
/// same name, or without names the same position and operator.
std::vector<LayerDifference> differencesOf(const Profiled &a, const Profiled &b);

/// Why the layers differ: "split: 12 / 6 rows, 96 / 48 blocks; placement: ..."; "" if in nothing.
std::string reasonText(const LayerDifference &one, const sluice_rt_machine &a,
                       const sluice_rt_machine &b);

} // namespace sluice::cli
