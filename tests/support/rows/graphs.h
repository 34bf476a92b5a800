// Row graphs for tests, built by hand, and what they compute, in double with
// rows rounded to bf16.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "compiler/conversion/row_graph.h"

namespace sluice::plan::test {

/// Builds a graph row by row.
class GraphBuilder {
public:
  GraphBuilder(const std::string &target, uint64_t seed);

  rows::Graph graph;

  /// Rows of a new input of `count` rows.
  std::vector<rows::RowId> input(uint32_t count);
  /// A row that is kept from one inference to the next, zeros in the first; Graph::states must
  /// still be told what it becomes.
  rows::RowId state();
  void keep(rows::RowId state, rows::RowId next);
  /// A row of constants in [-1, 1).
  rows::RowId constant();
  /// A dense operation: `count` rows, each the sum over all of `x`; random
  /// weights and biases, a block is zero with probability `zeros`.
  std::vector<rows::RowId> dense(const std::vector<rows::RowId> &x, uint32_t count,
                                 const rows::VectorStep &step, bool bias = true, double zeros = 0);
  /// All weights of a block.
  void setWeights(uint32_t block, uint16_t weight);
  /// `count` rows: row r is the sum of every `count`-th of `x`, from the r-th on.
  std::vector<rows::RowId> sum(const std::vector<rows::RowId> &x, uint32_t count);
  /// A product of activations: one row for each of `x`, all with the block that
  /// `w` (at most B rows) is written to.
  std::vector<rows::RowId> product(const std::vector<rows::RowId> &x,
                                   const std::vector<rows::RowId> &w, bool columns,
                                   const rows::VectorStep &step = {});
  /// One row computed by the vector unit, as an operation of its own.
  rows::RowId vector(const std::vector<rows::RowId> &a, rows::RowId b, rows::RowId c,
                     const rows::VectorStep &step);
  void output(const std::vector<rows::RowId> &rows);

  std::mt19937_64 random;

private:
  uint32_t groups = 0;
  uint32_t addNode(const std::string &op);
};

rows::VectorStep relu();

/// A multi-layer perceptron: `widths` in rows, input first.
rows::Graph perceptron(const std::string &target, const std::vector<uint32_t> &widths,
                       uint64_t seed, double zeros = 0);

/// The rows of the outputs for the rows of the inputs (bf16 lanes, in port
/// order), in the first inference.
std::vector<std::vector<uint16_t>> evaluate(const rows::Graph &graph,
                                            const std::vector<std::vector<uint16_t>> &inputs);

uint16_t toBf16(double value);
double fromBf16(uint16_t bits);

} // namespace sluice::plan::test
