#include "compiler/conversion/rows/linear_sum.h"

#include <algorithm>
#include <cmath>
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
      sources.push_back({element.row, {}, std::vector<double>(lanes), std::vector<bool>(lanes)});
  }
  Source &source = sources[last];
  source.reads[element.lane] = true;
  if (element.scale != 0)
    source.nominal[element.lane] = nominal / element.scale;
  if (source.cells.empty()) {
    if (std::ranges::all_of(weights, [&](double weight) {
          return weight * element.scale == 0 && weight * element.offset == 0;
        }))
      return;
    source.cells.resize(static_cast<size_t>(lanes) * lanes);
  }
  for (size_t i = 0; i < weights.size(); ++i) {
    Cell &cell = source.cells[(first + i) * lanes + element.lane];
    cell.weight += weights[i] * element.scale;
    cell.offset += weights[i] * element.offset;
  }
}

void LinearSum::scale(uint32_t lane, double factor) {
  bias[lane] *= factor;
  for (Source &source : sources) {
    if (source.cells.empty() && std::isfinite(factor))
      continue;
    source.cells.resize(static_cast<size_t>(lanes) * lanes);
    for (uint32_t i = 0; i < lanes; ++i) {
      Cell &cell = source.cells[static_cast<size_t>(lane) * lanes + i];
      cell.weight *= factor;
      cell.offset *= factor;
    }
  }
}

LinearSum::Rounded LinearSum::round() {
  const auto isFinite = [](double value) { return std::isfinite(value); };
  Rounded result;
  result.ofOffsets.resize(lanes);
  std::vector<double> correction(lanes);
  for (const Source &source : sources) {
    if (source.cells.empty())
      continue;
    // Most blocks of windows and of steps between grids are nearly all zeros.
    const bool skipsZeros = std::ranges::all_of(source.nominal, isFinite);
    std::vector<uint16_t> block(source.cells.size());
    for (size_t lane = 0, i = 0; lane < lanes; ++lane)
      for (size_t from = 0; from < lanes; ++from, ++i) {
        const Cell &cell = source.cells[i];
        if (skipsZeros && cell.isPositiveZero())
          continue;
        result.products += cell.weight != 0 ? 1 : 0;
        block[i] = roundToBf16(cell.weight);
        const double rounded = bf16ToDouble(block[i]);
        result.finite &= std::isfinite(rounded);
        correction[lane] += (cell.weight - rounded) * source.nominal[from];
        // w (x - m) has its zero at m only if the same w multiplies both.
        if (cell.offset != 0)
          result.ofOffsets[lane] +=
              cell.weight != 0 ? cell.offset * (rounded / cell.weight) : cell.offset;
      }
    const WeightBlock weights(std::move(block));
    if (weights.isZero())
      continue;
    result.sources.push_back(source.row);
    result.blocks.push_back(graph.block(weights));
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
