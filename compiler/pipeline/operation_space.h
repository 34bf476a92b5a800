// The index spaces of a model's operations as plain facts, for who explains them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/costs/block_cost.h"
#include "compiler/support/problem.h"

namespace sluice::pipeline {

/// An operand or a result.
struct SpaceTensor {
  std::string name; ///< ONNX name, may be empty
  /// Of an operand: the views between it and the operation, from here to there: their maps are part
  /// of `map`.
  std::vector<std::string> through;
  std::vector<int64_t> shape;
  std::optional<int64_t> dataDim;              ///< empty: a constant
  std::string map;                             ///< "(d0, d1) -> (d0 * 2 + d1)"
  std::vector<std::vector<int64_t>> steps;     ///< by axis: how far a step of each loop moves it
  std::vector<int64_t> offset;                 ///< by axis: where it starts
  std::vector<int64_t> region;                 ///< of one point
  std::optional<double> outside;               ///< what lies outside the tensor
  std::vector<int64_t> blockStart, blockShape; ///< the region of SpaceBlock
};

struct SpaceLoop {
  int64_t extent = 1;
  std::string kind;   ///< "parallel", "reduced"
  std::string monoid; ///< of a reduced loop: "sum"
  bool batch = false; ///< only repeats the operation
  int64_t step = 1;   ///< iterations that go together: the lanes along a data dimension

  /// What a step has in common with the next one.
  struct Shared {
    int64_t elements = 0; ///< that both ask for
    int64_t of = 0;       ///< that a step asks for
  };
  /// Empty if there is only one step: of the operands, then the results.
  std::vector<Shared> shared;
  std::optional<space::Cost> next; ///< what one more step costs
};

/// How the plan shares out a stage of its rows over the cores.
struct TakenSplit {
  std::vector<int64_t> nodes; ///< positions in the ONNX graph
  uint64_t rows = 0;
  std::vector<uint32_t> rowsByCore; ///< that each computes; both parts of one that is split
  /// Rows of operands, by the number of cores that read them: one, two, ...
  std::vector<uint32_t> readsByCores;
  std::string why;
};

/// One operation of the model as it is planned: after layout and fusion.
struct OperationSpace {
  std::vector<NodeRef> nodes; ///< that it comes from
  std::string operation;      ///< "matmul"
  std::string unit;           ///< "products", "passes" or, of a view, empty
  std::vector<SpaceLoop> loops;
  std::vector<SpaceTensor> operands, results;
  /// The least block that makes whole rows of results, and what it costs.
  std::vector<int64_t> blockStart, blockShape;
  space::Cost block;
  space::Cost whole; ///< all of it as one block
};

} // namespace sluice::pipeline
