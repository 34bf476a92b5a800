// Which tensors of the model the rows are that a program computes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sluice::format {

/// A tensor of the model that the machine computes, in rows as those of a HostTensor.
struct ModelTensor {
  std::string name;
  std::vector<int64_t> shape;
  uint32_t dataDim = 0; ///< an axis of the packed shape
  /// Of a model of several steps: its positions are those of one of them.
  bool ofStep = false;
  std::vector<int64_t> packed = {}; ///< the packed shape; empty: the shape

  bool operator==(const ModelTensor &) const = default;
};

/// `count` rows, or runs of the terms behind it, `step` rows of a tensor apart.
struct RowTerm {
  uint32_t count = 1;
  int32_t step = 0;

  bool operator==(const RowTerm &) const = default;
};

/// Some of the rows that an instruction writes each time it is executed, in the order in which it
/// does: from row `begin` of them on, one for every combination of the terms, the last of which
/// moves fastest. In the first pass of the innermost loop around the instruction the first of them
/// is row `row` of a tensor, in every further pass the one `perPass` rows on.
struct RowRule {
  uint32_t begin = 0;
  uint32_t tensor = 0;  ///< index into Program::tensors
  bool partial = false; ///< not its elements but a sum that goes into them
  uint32_t row = 0;
  int32_t perPass = 0;
  std::vector<RowTerm> terms;

  bool operator==(const RowRule &) const = default;
};

/// What is known of the rows that an instruction writes, ascending and disjoint: the others are
/// nothing but what its nodes have between them.
struct ComputedRows {
  uint32_t core = 0;
  uint32_t instruction = 0;
  std::vector<RowRule> rules;

  bool operator==(const ComputedRows &) const = default;
};

} // namespace sluice::format
