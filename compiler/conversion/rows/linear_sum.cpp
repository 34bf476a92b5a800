#include "compiler/conversion/rows/linear_sum.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>

#include "compiler/conversion/scalar/constants.h"
#include "compiler/conversion/scalar/table_builder.h"

namespace sluice::rows {

void LinearSum::add(uint32_t first, const Element &element, std::span<const double> weights,
                    double nominal) {
  if (element.row == kNoRow) {
    for (size_t i = 0; i < weights.size(); ++i)
      bias[first + i] += weights[i] * element.offset;
    return;
  }
  if (last >= sources.size() || sources[last].row != element.row) {
    const auto [known, added] = places.try_emplace(element.row, sources.size());
    last = known->second;
    if (added)
      sources.push_back(
          {element.row, {}, {}, std::vector<double>(lanes), std::vector<bool>(lanes)});
  }
  Source &source = sources[last];
  source.reads[element.lane] = true;
  if (element.scale != 0)
    source.nominal[element.lane] = nominal / element.scale;
  if (source.cells.empty() && std::ranges::all_of(weights, [&](double weight) {
        return weight * element.scale == 0 && weight * element.offset == 0;
      }))
    return;
  Cell *const column = columnOf(source, element.lane) + first;
  for (size_t i = 0; i < weights.size(); ++i) {
    Cell &cell = column[i];
    cell.weight += weights[i] * element.scale;
    cell.offset += weights[i] * element.offset;
  }
}

LinearSum::Cell *LinearSum::columnOf(Source &source, uint32_t lane) const {
  source.columns.resize(lanes);
  std::optional<uint32_t> &begin = source.columns[lane];
  if (!begin) {
    begin = static_cast<uint32_t>(source.cells.size());
    source.cells.resize(source.cells.size() + lanes);
  }
  return source.cells.data() + *begin;
}

void LinearSum::scale(uint32_t lane, double factor) {
  const bool keepsZeros = std::isfinite(factor) && !std::signbit(factor);
  bias[lane] *= factor;
  for (Source &source : sources) {
    if (source.cells.empty() && std::isfinite(factor))
      continue;
    source.columns.resize(lanes);
    for (uint32_t from = 0; from < lanes; ++from) {
      if (keepsZeros && !source.columns[from])
        continue;
      Cell &cell = columnOf(source, from)[lane];
      cell.weight *= factor;
      cell.offset *= factor;
    }
  }
}

bool LinearSum::haveSameCells(const Source &left, const Source &right) {
  return left.columns == right.columns && left.cells.size() == right.cells.size() &&
         std::memcmp(left.cells.data(), right.cells.data(), left.cells.size() * sizeof(Cell)) == 0;
}

LinearSum::RoundedCells LinearSum::round(const Source &source, bool skipsZeros, Rounded &result,
                                         std::vector<double> &correction) const {
  const std::vector<Cell> zeros(lanes);
  std::vector<uint16_t> block(static_cast<size_t>(lanes) * lanes);
  bool isExact = true;
  const uint64_t before = result.products;
  for (size_t from = 0; from < lanes; ++from) {
    const auto begin = source.columns[from];
    // Most blocks of windows and of steps between grids are nearly all zeros.
    if (skipsZeros && !begin)
      continue;
    const Cell *const column = begin ? source.cells.data() + *begin : zeros.data();
    for (size_t lane = 0; lane < lanes; ++lane) {
      const Cell &cell = column[lane];
      if (skipsZeros && cell.isPositiveZero())
        continue;
      uint16_t &weight = block[lane * lanes + from];
      result.products += cell.weight != 0 ? 1 : 0;
      weight = roundToBf16(cell.weight);
      const double rounded = bf16ToDouble(weight);
      result.finite &= std::isfinite(rounded);
      isExact = isExact && rounded == cell.weight && cell.offset == 0;
      correction[lane] += (cell.weight - rounded) * source.nominal[from];
      // w (x - m) has its zero at m only if the same w multiplies both.
      if (cell.offset != 0)
        result.ofOffsets[lane] +=
            cell.weight != 0 ? cell.offset * (rounded / cell.weight) : cell.offset;
    }
  }
  return {WeightBlock(std::move(block)), isExact, result.products - before};
}

LinearSum::Rounded LinearSum::round() {
  const auto isFinite = [](double value) { return std::isfinite(value); };
  Rounded result;
  result.ofOffsets.resize(lanes);
  std::vector<double> correction(lanes);
  // The last source whose weights rounding does not change. Sums read many rows with its weights.
  const Source *exact = nullptr;
  uint64_t products = 0; // of this source
  uint32_t block = 0;    // of the last source that is not all zeros
  for (const Source &source : sources) {
    if (source.cells.empty())
      continue;
    const bool skipsZeros = std::ranges::all_of(source.nominal, isFinite);
    if (skipsZeros && exact && haveSameCells(source, *exact)) {
      result.products += products;
    } else {
      const RoundedCells cells = round(source, skipsZeros, result, correction);
      if (cells.block.isZero())
        continue;
      block = graph.block(cells.block);
      exact = skipsZeros && cells.isExact ? &source : nullptr;
      products = cells.products;
    }
    result.sources.push_back(source.row);
    result.blocks.push_back(block);
    const bool readsAll = std::ranges::all_of(source.reads, std::identity());
    result.reads.push_back(readsAll ? std::vector<bool>() : source.reads);
  }
  for (uint32_t lane = 0; lane < lanes; ++lane)
    bias[lane] += result.ofOffsets[lane];
  if (std::any_of(bias.begin(), bias.end(), [](double value) { return value != 0; }))
    result.bias.assign(bias.begin(), bias.end());
  if (std::all_of(correction.begin(), correction.end(), isFinite))
    result.correction = std::move(correction);
  result.finite &= std::all_of(result.bias.begin(), result.bias.end(), isFinite);
  return result;
}

void uniteReads(std::vector<LinearSum::Rounded> &sums) {
  std::unordered_map<RowId, std::vector<bool>> all;
  for (const LinearSum::Rounded &sum : sums)
    for (size_t i = 0; i < sum.sources.size(); ++i) {
      const auto [known, added] = all.try_emplace(sum.sources[i], sum.reads[i]);
      if (sum.reads[i].empty())
        known->second.clear();
      for (size_t lane = 0; !added && lane < known->second.size(); ++lane)
        known->second[lane] = known->second[lane] || sum.reads[i][lane];
    }
  for (LinearSum::Rounded &sum : sums)
    for (size_t i = 0; i < sum.sources.size(); ++i)
      if (!sum.reads[i].empty())
        sum.reads[i] = all.at(sum.sources[i]);
}

namespace {

/// A sum without products. Like every sum, it is not rounded before what follows in the same pass:
/// a quotient of integers is rounded once.
RowId emitConstant(GraphBuilder &graph, const std::vector<float> &bias, uint32_t used,
                   bool uniform) {
  std::vector<double> values(bias.begin(), bias.end());
  values.resize(uniform ? graph.lanes() : used);
  const RowId rounded = graph.constant(values);
  std::vector<float> rest(graph.lanes());
  for (size_t lane = 0; lane < values.size(); ++lane) {
    const double left = values[lane] - bf16ToDouble(roundToBf16(withinBf16(values[lane])));
    rest[lane] = std::isfinite(left) ? static_cast<float>(left) : 0;
  }
  if (std::ranges::all_of(rest, [](float left) { return left == 0; }))
    return rounded;
  const uint32_t one = graph.identity(static_cast<uint32_t>(values.size()));
  return graph.linear({{rounded, one}}, std::move(rest), used, uniform);
}

} // namespace

RowId emitLinear(GraphBuilder &graph, const LinearSum::Rounded &sum, uint32_t used, bool uniform) {
  if (sum.sources.empty())
    return emitConstant(graph, sum.bias, used, uniform);
  std::vector<Term> terms;
  for (size_t i = 0; i < sum.sources.size(); ++i)
    terms.push_back({graph.forProduct(sum.sources[i], sum.reads[i]), sum.blocks[i]});
  return graph.linear(std::move(terms), sum.bias, used, uniform);
}

} // namespace sluice::rows
