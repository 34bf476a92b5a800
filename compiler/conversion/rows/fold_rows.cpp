#include "compiler/conversion/rows/fold_rows.h"

#include <algorithm>
#include <limits>

#include "compiler/conversion/scalar/table_builder.h"
#include "compiler/dialect/sluice/attributes.h"
#include "compiler/dialect/sluice/monoids.h"
#include "hw/numerics/bf16.h"

namespace sluice::rows {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Merges rows lane by lane.
RowId fold(Lowering &lowering, isa::Alu alu, std::vector<RowId> rows, uint32_t used) {
  lowering.treesSeen.passes |= rows.size() > TreeShape{}.arity;
  return mergeRows(std::move(rows), lowering.trees,
                   [&](const std::vector<RowId> &members, uint32_t) {
                     VectorStep step;
                     step.alu1 = alu;
                     const bool three = members.size() == 3;
                     if (three)
                       step.alu2 = alu;
                     const RowId row = lowering.graph.vectorOnce(step, {members[0]}, members[1],
                                                                 three ? members[2] : kNoRow, used);
                     lowering.merges.insert(row);
                     return row;
                   });
}

/// The maximum of all lanes of some rows, in every lane; `step` says of what, and maxima of that
/// become one by `alu`.
RowId alongLanes(Lowering &lowering, const VectorStep &step, isa::Alu alu, isa::Alu ofRows,
                 const std::vector<RowId> &rows) {
  GraphBuilder &graph = lowering.graph;
  const auto pass = [&](std::vector<RowId> some) {
    return graph.vectorOnce(step, std::move(some), kNoRow, kNoRow, 1);
  };
  lowering.treesSeen.lanes |= rows.size() > 1;
  const TreeShape::Lanes lanes = lowering.trees.lanes;
  if (rows.size() == 1 || lanes == TreeShape::Lanes::AtOnce)
    return pass(rows);
  if (lanes == TreeShape::Lanes::Last)
    return pass({fold(lowering, ofRows, rows, graph.lanes())});
  const size_t parts = std::min<size_t>(graph.cores(), rows.size());
  std::vector<RowId> results;
  for (size_t part = 0; part < parts; ++part)
    results.push_back(
        pass({rows.begin() + static_cast<ptrdiff_t>(part * rows.size() / parts),
              rows.begin() + static_cast<ptrdiff_t>((part + 1) * rows.size() / parts)}));
  return fold(lowering, alu, std::move(results), 1);
}

/// A row and how many of its lanes are folded. All that are not full have equally many.
struct Part {
  RowId row;
  uint32_t used;
};

/// What a maximum or minimum of lanes of the parts may be.
LaneValues extremeOf(const GraphBuilder &graph, const std::vector<Part> &parts) {
  LaneValues values = graph.facts(parts[0].row, parts[0].used).elements;
  for (const auto [row, used] : parts)
    values = either(values, graph.facts(row, used).elements);
  return alu(isa::Alu::Max, values, values, values, values);
}

/// Whether a minimum with minus infinity keeps the lanes beyond the elements out of a maximum: it
/// does not where they may be NaN.
bool hasNumbersBeyond(const GraphBuilder &graph, const Part &part) {
  return graph.facts(part.row, part.used).padding.keepMaxima();
}

/// Whether no lane beyond the elements can be the maximum.
bool isLowestBeyond(const GraphBuilder &graph, RowId row, uint32_t used) {
  const RowFacts facts = graph.facts(row, used);
  return facts.padding == LaneValues::known(numerics::kLowestBf16) && facts.elements.isFinite();
}

/// The part with this value in the lanes beyond its elements.
RowId withBeyond(GraphBuilder &graph, const Part &part, double value) {
  VectorStep choose;
  choose.alu2 = isa::Alu::Select;
  return graph.vectorOnce(choose, {graph.mask(part.used, 1, 0)}, part.row, graph.splat(value),
                          graph.lanes());
}

/// Returns a row times -1, which needs no function table.
RowId negated(GraphBuilder &graph, RowId row, uint32_t used) {
  VectorStep step;
  step.alu1 = isa::Alu::Mul;
  step.rhs1 = isa::Rhs1::Imm;
  step.imm1 = -1;
  return graph.vectorOnce(step, {row}, kNoRow, kNoRow, used);
}

/// Largest (or smallest) lane of the parts, in every lane. Lanes without elements are masked in the
/// step that reduces them; where they may be NaN, in a step before. A minimum is the negated
/// maximum of the negated lanes.
RowId reduceLanes(Lowering &lowering, isa::Alu alu, const std::vector<Part> &parts) {
  GraphBuilder &graph = lowering.graph;
  const bool smallest = alu == isa::Alu::Min;
  if (smallest && lowering.fewTables) {
    std::vector<Part> negatedParts;
    for (const auto [row, used] : parts)
      negatedParts.push_back({negated(graph, row, used), used});
    return negated(graph, reduceLanes(lowering, isa::Alu::Max, negatedParts), 1);
  }
  std::vector<RowId> full, partial;
  uint32_t lastUsed = graph.lanes();
  for (const auto [row, used] : parts)
    if (used == graph.lanes() || graph.facts(row, used).uniform ||
        (!smallest && isLowestBeyond(graph, row, used))) {
      full.push_back(row);
    } else {
      partial.push_back(row);
      lastUsed = used;
    }
  std::optional<uint32_t> negate;
  if (smallest) {
    static const auto negation =
        std::make_shared<const format::TableImage>(*buildTable([](double x) { return -x; }));
    negate = graph.table(negation);
  }
  VectorStep step;
  step.table = negate;
  step.reduce = isa::Reduce::Max;
  VectorStep last = step;
  if (smallest) {
    last.alu2 = isa::Alu::Mul;
    last.rhs2 = isa::Rhs2::Imm;
    last.imm2 = -1;
  }
  RowId row = kNoRow;
  if (!partial.empty()) {
    row = fold(lowering, alu, partial, lastUsed);
    if (!hasNumbersBeyond(graph, {row, lastUsed})) {
      full.push_back(withBeyond(graph, {row, lastUsed}, smallest ? kInfinity : -kInfinity));
      partial.clear();
    }
  }
  if (partial.empty())
    return alongLanes(lowering, last, alu, alu, full);
  const RowId bound = smallest ? graph.mask(lastUsed, -kInfinity, kInfinity)
                               : graph.mask(lastUsed, kInfinity, -kInfinity);
  const auto masked = [&](VectorStep masking) {
    masking.alu1 = smallest ? isa::Alu::Max : isa::Alu::Min;
    return masking;
  };
  if (full.empty())
    return graph.vectorOnce(masked(last), {row}, bound, kNoRow, 1);
  const RowId most = alongLanes(lowering, step, isa::Alu::Max, alu, full);
  VectorStep both = masked(step);
  both.alu2 = isa::Alu::Max;
  const RowId extreme = graph.vectorOnce(both, {row}, bound, most, 1);
  if (!smallest)
    return extreme;
  VectorStep negation;
  negation.table = negate;
  return graph.vectorOnce(negation, {extreme}, kNoRow, kNoRow, 1);
}

RowId acrossLanes(Lowering &lowering, isa::Alu alu, const std::vector<Part> &parts) {
  const LaneValues values = extremeOf(lowering.graph, parts);
  const RowId row = reduceLanes(lowering, alu, parts);
  lowering.graph.setUniform(row, 1, values);
  return row;
}

/// Product of all used lanes of the rows, in every lane: in each round a lane is
/// multiplied by one that is half as far away as in the round before, or by three of a quarter,
/// half and three quarters of the lanes of the round before.
RowId productAcrossLanes(Lowering &lowering, const std::vector<Part> &parts) {
  GraphBuilder &graph = lowering.graph;
  const uint32_t lanes = graph.lanes();
  VectorStep choose, multiply, twice;
  choose.alu2 = isa::Alu::Select;
  multiply.alu1 = isa::Alu::Mul;
  twice.alu1 = twice.alu2 = isa::Alu::Mul;
  std::vector<RowId> rows;
  for (const auto [row, used] : parts)
    rows.push_back(
        used == lanes ? row
                      : graph.vector(choose, {graph.mask(used, 1, 0)}, row, graph.splat(1), lanes));
  RowId product = fold(lowering, isa::Alu::Mul, std::move(rows), lanes);
  const auto rotated = [&](uint32_t distance) {
    std::vector<uint16_t> elements(size_t{lanes} * lanes);
    for (uint32_t lane = 0; lane < lanes; ++lane)
      elements[lane * lanes + (lane + distance) % lanes] = roundToBf16(1.0);
    return graph.linear({{product, graph.block(std::move(elements))}}, {}, lanes, false);
  };
  lowering.treesSeen.rounds |= lanes >= 4;
  for (uint32_t left = lanes; left > 1;) {
    const bool four = lowering.trees.lanesPerRound == 4 && left >= 4;
    left /= four ? 4 : 2;
    const RowId pair = graph.vector(multiply, {rotated(left)}, product, kNoRow, lanes);
    product =
        four ? graph.vector(twice, {rotated(3 * left)}, pair, rotated(2 * left), lanes) : pair;
  }
  graph.setUniform(product, 1, LaneValues::anything());
  return product;
}

/// The rows of a reduction: which input rows become one.
struct Fold {
  Fold(Lowering &lowering, ir::ReduceOp op, const Reduction &reduction)
      : x(lowering.materialise(lowering.rows(op.getInput()))) {
    const int64_t dim = *ir::dataDim(op.getInput());
    result.layout = RowLayout(reduction.keptShape, dim, lowering.graph.lanes());
    across = llvm::is_contained(op.getAxes(), dim) && x.layout.dimExtent() > 1;
    sources.resize(result.layout.rows());
    for (int64_t row = 0; row < x.layout.rows(); ++row)
      sources[target(reduction, row)].push_back(row);
  }

  /// Row of the result that row `row` of the input goes into.
  [[nodiscard]] int64_t target(const Reduction &reduction, int64_t row) const {
    return result.layout.place(reduction.target[x.layout.flat(row, 0)]).row;
  }
  [[nodiscard]] uint32_t used(int64_t row) const {
    return static_cast<uint32_t>(result.layout.used(row));
  }
  [[nodiscard]] Part source(int64_t row) const {
    return {x.rows[row].row, static_cast<uint32_t>(x.layout.used(row))};
  }

  RowTensor x, result;
  std::vector<std::vector<int64_t>> sources; ///< rows of x, by row of the result
  bool across;                               ///< the lanes become one
};

/// One row of a maximum, minimum or product of `parts`, with `used` elements.
RowId foldRow(Lowering &lowering, ir::Monoid monoid, const std::vector<Part> &parts, bool across,
              uint32_t used) {
  const isa::Alu alu = *operationOf(ir::definedBy(monoid));
  if (!across) {
    std::vector<RowId> rows;
    for (const Part &part : parts)
      rows.push_back(part.row);
    return fold(lowering, alu, rows, used);
  }
  if (alu == isa::Alu::Mul)
    return productAcrossLanes(lowering, parts);
  return acrossLanes(lowering, alu, parts);
}

/// The index of the first maximum of the lanes of a part, in every lane. The
/// others come last and are no larger than any.
RowId firstMaximumOfLanes(GraphBuilder &graph, const Part &part) {
  VectorStep step;
  step.reduce = isa::Reduce::Argmax;
  if (part.used == graph.lanes())
    return graph.vector(step, {part.row}, kNoRow, kNoRow, 1);
  if (!hasNumbersBeyond(graph, part))
    return graph.vector(step, {withBeyond(graph, part, -kInfinity)}, kNoRow, kNoRow, 1);
  step.alu1 = isa::Alu::Min;
  return graph.vector(step, {part.row}, graph.mask(part.used, kInfinity, -kInfinity), kNoRow, 1);
}

/// Returns the index of the first maximum. An element that is the maximum has the distance of its
/// index to the count, and the first one has the largest distance. No element equals a maximum that
/// is NaN: the last index is the result then, for an index must exist.
RowId firstMaximum(Lowering &lowering, const Fold &fold, const Reduction &reduction,
                   const std::vector<int64_t> &rows, uint32_t used) {
  GraphBuilder &graph = lowering.graph;
  if (reduction.count == 1)
    return graph.splat(0);
  if (fold.across && rows.size() == 1)
    return firstMaximumOfLanes(graph, fold.source(rows[0]));
  std::vector<Part> elements;
  for (const int64_t row : rows)
    elements.push_back(fold.source(row));
  const RowId most = foldRow(lowering, ir::Monoid::Max, elements, fold.across, used);
  VectorStep match;
  match.alu1 = isa::Alu::Eq;
  match.alu2 = isa::Alu::Mul;
  std::vector<Part> distances;
  for (const int64_t row : rows) {
    std::vector<double> distance;
    for (int64_t lane = 0; lane < fold.x.layout.used(row); ++lane)
      distance.push_back(
          static_cast<double>(reduction.count - reduction.ordinal[fold.x.layout.flat(row, lane)]));
    const auto lanes = static_cast<uint32_t>(distance.size());
    const RowId distant = graph.constant(distance);
    // The last element of each lane is the maximum if no other one is.
    const bool isLast = !fold.across && distance.front() == 1;
    distances.push_back(
        {isLast ? distant : graph.vector(match, {fold.x.rows[row].row}, most, distant, lanes),
         lanes});
  }
  const RowId largest = foldRow(lowering, ir::Monoid::Max, distances, fold.across, used);
  VectorStep subtract;
  const auto count = static_cast<double>(reduction.count);
  if (!fold.across) {
    subtract.alu1 = isa::Alu::Rsub;
    subtract.rhs1 = isa::Rhs1::Imm;
    subtract.imm1 = static_cast<float>(count);
    return graph.vector(subtract, {largest}, kNoRow, kNoRow, used);
  }
  subtract.alu1 = isa::Alu::Max;
  subtract.rhs1 = isa::Rhs1::Imm;
  subtract.imm1 = 1;
  subtract.alu2 = isa::Alu::Rsub;
  return graph.vector(subtract, {largest}, kNoRow, graph.splat(count), used);
}

} // namespace

RowTensor foldRows(Lowering &lowering, ir::ReduceOp op, const Reduction &reduction) {
  Fold fold(lowering, op, reduction);
  lowering.beginGroup(op);
  for (int64_t row = 0; row < fold.result.layout.rows(); ++row) {
    RowId id = kNoRow;
    if (op.getMonoid() == ir::Monoid::ArgMax) {
      id = firstMaximum(lowering, fold, reduction, fold.sources[row], fold.used(row));
    } else {
      std::vector<Part> parts;
      for (const int64_t source : fold.sources[row])
        parts.push_back(fold.source(source));
      id = foldRow(lowering, op.getMonoid(), parts, fold.across, fold.used(row));
    }
    fold.result.rows.push_back({id, false, {}});
  }
  return std::move(fold.result);
}

} // namespace sluice::rows
