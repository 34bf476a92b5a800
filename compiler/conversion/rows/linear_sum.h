// One row of a matrix product under construction: weights are collected per
// source row, rounded once, and all-zero blocks are dropped.
#pragma once

#include <cmath>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "compiler/conversion/rows/graph_builder.h"
#include "compiler/conversion/rows/row_tensor.h"

namespace sluice::rows {

class LinearSum {
public:
  explicit LinearSum(GraphBuilder &graph)
      : graph(graph), bias(graph.lanes()), lanes(graph.lanes()) {}

  /// Output lane += weight * element. The element's scale goes into the weight
  /// before it is rounded, its offset into the bias with the rounded weight.
  /// `nominal` is a typical value of the element: see Rounded::correction.
  void add(uint32_t lane, const Element &element, double weight, double nominal = 0) {
    add(lane, element, std::span(&weight, 1), nominal);
  }
  /// The same for the output lanes from `first` on, a weight each.
  void add(uint32_t first, const Element &element, std::span<const double> weights, double nominal);
  void addBias(uint32_t lane, double value) { bias[lane] += value; }
  /// Multiplies an output lane, before rounding.
  void scale(uint32_t lane, double factor);

  struct Rounded {
    std::vector<RowId> sources;
    std::vector<uint32_t> blocks; ///< of GraphBuilder, one per source
    /// By source and lane, whether it reads an element there; empty: in every lane.
    std::vector<std::vector<bool>> reads;
    std::vector<float> bias; ///< empty if zero
    /// The part of the bias that stands for offsets of elements, by output lane.
    std::vector<double> ofOffsets;
    /// What rounding the weights takes away from the sum of nominal elements, by
    /// output lane; empty if nothing.
    std::vector<double> correction;
    bool finite = true;    ///< no weight or bias overflowed
    uint64_t products = 0; ///< by weights that are not 0
  };
  [[nodiscard]] Rounded round();

private:
  struct Cell {
    double weight = 0; ///< including the elements' scales
    double offset = 0; ///< sum of weight * offset of its elements
    /// Nothing is added by it, and it is rounded to what a block holds before.
    [[nodiscard]] bool isPositiveZero() const {
      return weight == 0 && !std::signbit(weight) && offset == 0;
    }
  };
  struct Source {
    RowId row;
    /// By source lane, where its cells begin. Most sums read few lanes of a row.
    std::vector<std::optional<uint32_t>> columns;
    std::vector<Cell> cells; ///< of columns, by output lane; none while all weights are zero
    /// By source lane, in units of the row; with the offset, which is multiplied by the rounded
    /// weight as well.
    std::vector<double> nominal;
    std::vector<bool> reads; ///< by source lane
  };

  struct RoundedCells {
    WeightBlock block;
    bool isExact = false;  ///< rounding changes no weight, and there are no offsets
    uint64_t products = 0; ///< by weights that are not 0
  };
  /// Rounds the cells of a source, and adds them to what is known of the sum.
  RoundedCells round(const Source &source, bool skipsZeros, Rounded &result,
                     std::vector<double> &correction) const;
  /// Whether two sources have the same weights and offsets, bit for bit.
  static bool haveSameCells(const Source &left, const Source &right);
  /// Returns the cells of a source lane, by output lane.
  Cell *columnOf(Source &source, uint32_t lane) const;

  GraphBuilder &graph;
  std::vector<Source> sources; ///< in the order in which they were added, as their products are
  std::unordered_map<RowId, size_t> places; ///< of the sources, by row
  size_t last = 0;                          ///< source used most recently
  std::vector<double> bias;
  uint32_t lanes;
};

/// Sums of one operation read, of each source, what any of them reads: elements poison every sum of
/// their row, but lanes that the operation does not read poison none.
void uniteReads(std::vector<LinearSum::Rounded> &sums);

/// The row for a rounded sum: Linear, or Constant if no source is left.
RowId emitLinear(GraphBuilder &graph, const LinearSum::Rounded &sum, uint32_t used, bool uniform);

} // namespace sluice::rows
