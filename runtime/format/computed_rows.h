// The tensors of the model that the computed rows of a program belong to.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sluice::format {

/// A tensor of the model that the machine computes. Its rows are laid out as in HostTensor.
struct ModelTensor {
  std::string name;
  std::vector<int64_t> shape;
  uint32_t dataDim = 0; ///< an axis of the packed shape
  /// Whether the shape is that of one step, in a model with several steps per inference.
  bool ofStep = false;
  std::vector<int64_t> packed = {}; ///< the packed shape; empty if it equals the shape

  bool operator==(const ModelTensor &) const = default;
};

/// A loop over rows of a tensor: `count` iterations, `step` rows apart. The following terms are
/// inner loops.
struct RowTerm {
  uint32_t count = 1;
  int32_t step = 0;

  bool operator==(const RowTerm &) const = default;
};

/// Maps rows that an instruction writes to rows of a tensor. The rule covers a range of the written
/// rows, in the order of writing: it begins with written row `begin` and has one row for each
/// combination of the terms, the last term innermost. The first of them is row `row` of the tensor
/// in the first iteration of the innermost sequencer loop, and moves by `perPass` rows in each
/// further iteration.
struct RowRule {
  uint32_t begin = 0;
  uint32_t tensor = 0;  ///< index into Program::tensors
  bool partial = false; ///< the rows hold partial sums of the elements
  uint32_t row = 0;
  int32_t perPass = 0;
  std::vector<RowTerm> terms;

  bool operator==(const RowRule &) const = default;
};

/// The rules of one instruction, ascending and disjoint. Written rows without a rule hold values
/// that are internal to the nodes of the instruction.
struct ComputedRows {
  uint32_t core = 0;
  uint32_t instruction = 0;
  std::vector<RowRule> rules;

  bool operator==(const ComputedRows &) const = default;
};

} // namespace sluice::format
