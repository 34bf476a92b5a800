// Reductions. Sums run on the matrix unit, unrounded to the end; maxima along
// the lanes on the vector unit's reduction. A result along the data dimension
// is in every lane, so that broadcasting it costs nothing.
#include <algorithm>
#include <limits>

#include "compiler/conversion/rows/lowering.h"
#include "compiler/conversion/rows/models.h"
#include "compiler/conversion/rows/table_builder.h"
#include "compiler/dialect/sluice/dialect.h"

using namespace mlir;

namespace sluice::rows {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// A reduction on indices: the row-major index of the result for each element
/// of the input. The kept axes stay in order, so it is the same with and
/// without keepdims.
struct Reduction {
  explicit Reduction(ir::ReduceOp op) {
    const auto shape = ir::shapeOf(op.getInput());
    std::vector<int64_t> kept(shape.begin(), shape.end()), resultStrides(shape.size());
    for (const int64_t axis : op.getAxes())
      kept[axis] = 1;
    const auto strides = reference::strides(kept);
    for (size_t axis = 0; axis < shape.size(); ++axis)
      resultStrides[axis] =
          llvm::is_contained(op.getAxes(), static_cast<int64_t>(axis)) ? 0 : strides[axis];
    const auto inputStrides = reference::strides({shape.begin(), shape.end()});
    target.resize(reference::elements({shape.begin(), shape.end()}));
    for (size_t i = 0; i < target.size(); ++i)
      for (size_t axis = 0; axis < shape.size(); ++axis)
        target[i] +=
            static_cast<int64_t>(i) / inputStrides[axis] % shape[axis] * resultStrides[axis];
    keptShape = kept;
    count = static_cast<int64_t>(target.size()) / reference::elements(kept);
  }
  std::vector<int64_t> target;
  std::vector<int64_t> keptShape; ///< reduced axes have extent 1
  int64_t count;                  ///< elements that become one
};

/// Sum times weight, plus offset by result index (empty: zero). One bf16-exact
/// weight is in the blocks, another one multiplies the sum.
RowTensor sum(Lowering &lowering, const RowTensor &x, const Reduction &reduction,
              const RowLayout &layout, double weight, const std::vector<double> &offset) {
  GraphBuilder &graph = lowering.graph;
  const bool inBlocks = bf16ToDouble(roundToBf16(weight)) == weight;
  const bool uniform = layout.dimExtent() == 1;
  std::vector<LinearSum> sums(layout.rows(), LinearSum(graph));
  const auto lanesOf = [&](const RowLayout::Place &place) {
    return uniform ? std::pair(0U, graph.lanes())
                   : std::pair(static_cast<uint32_t>(place.lane),
                               static_cast<uint32_t>(place.lane) + 1);
  };
  for (size_t i = 0; i < reduction.target.size(); ++i) {
    const RowLayout::Place place = layout.place(reduction.target[i]);
    const auto [first, last] = lanesOf(place);
    for (uint32_t lane = first; lane < last; ++lane)
      sums[place.row].add(lane, x.element(static_cast<int64_t>(i)), inBlocks ? weight : 1);
  }
  for (size_t i = 0; i < offset.size(); ++i) {
    const RowLayout::Place place = layout.place(static_cast<int64_t>(i));
    const auto [first, last] = lanesOf(place);
    for (uint32_t lane = first; lane < last; ++lane)
      sums[place.row].addBias(lane, inBlocks ? offset[i] : offset[i] / weight);
  }
  RowTensor result{layout, {}};
  VectorStep scale;
  scale.alu1 = isa::Alu::Mul;
  scale.rhs1 = isa::Rhs1::Imm;
  scale.imm1 = static_cast<float>(weight);
  for (int64_t row = 0; row < layout.rows(); ++row) {
    const auto used = static_cast<uint32_t>(layout.used(row));
    RowId id = emitLinear(graph, sums[row].round(), used, uniform);
    if (!inBlocks)
      id = graph.vector(scale, {id}, kNoRow, kNoRow, used);
    result.rows.push_back({id, false, {}});
  }
  return result;
}

class LazySum final : public LazyLinear {
public:
  LazySum(ir::ReduceOp op, bool mean) : op(op), mean(mean) { ops.insert(op); }

  // Ones are exact weights, other scales are not.
  bool takesScale(Lowering &, const std::vector<double> &) override { return false; }

  RowTensor emitWith(Lowering &lowering, const OutputAffine &after) override {
    const RowTensor x = lowering.rows(op.getInput());
    const Reduction reduction(op);
    lowering.beginGroup(ops);
    return sum(lowering, x, reduction, lowering.layoutOf(op.getResult()),
               mean ? 1.0 / static_cast<double>(reduction.count) : 1, after.offset);
  }

private:
  ir::ReduceOp op;
  bool mean;
};

/// Folds rows lane by lane, three in a step.
RowId fold(GraphBuilder &graph, isa::Alu alu, std::vector<RowId> rows, uint32_t used) {
  while (rows.size() > 1) {
    std::vector<RowId> fewer;
    for (size_t i = 0; i < rows.size(); i += 3) {
      if (i + 1 == rows.size()) {
        fewer.push_back(rows[i]);
        continue;
      }
      VectorStep step;
      step.alu1 = alu;
      const bool three = i + 2 < rows.size();
      if (three)
        step.alu2 = alu;
      fewer.push_back(
          graph.vector(step, {rows[i]}, rows[i + 1], three ? rows[i + 2] : kNoRow, used));
    }
    rows = std::move(fewer);
  }
  return rows.front();
}

/// Largest (or smallest) lane of the rows, in every lane. Lanes without
/// elements are masked in the step that reduces them. A minimum is the negated
/// maximum of the negated lanes.
RowId acrossLanes(GraphBuilder &graph, bool smallest, const std::vector<RowId> &rows,
                  uint32_t lastUsed) {
  std::vector<RowId> full, partial;
  for (const RowId row : rows)
    (graph.facts(row).uniform || graph.facts(row).used == graph.lanes() ? full : partial)
        .push_back(row);
  std::optional<uint32_t> negate;
  if (smallest)
    negate = graph.table(
        std::make_shared<const format::TableImage>(*buildTable([](double x) { return -x; })));
  VectorStep step;
  step.table = negate;
  step.reduce = isa::Reduce::Max;
  VectorStep last = step;
  if (smallest) {
    last.alu2 = isa::Alu::Mul;
    last.rhs2 = isa::Rhs2::Imm;
    last.imm2 = -1;
  }
  if (partial.empty())
    return graph.vector(last, full, kNoRow, kNoRow, 1);
  const RowId row = fold(graph, smallest ? isa::Alu::Min : isa::Alu::Max, partial, lastUsed);
  const RowId bound = smallest ? graph.mask(lastUsed, -kInfinity, kInfinity)
                               : graph.mask(lastUsed, kInfinity, -kInfinity);
  const auto masked = [&](VectorStep masking) {
    masking.alu1 = smallest ? isa::Alu::Max : isa::Alu::Min;
    return masking;
  };
  if (full.empty())
    return graph.vector(masked(last), {row}, bound, kNoRow, 1);
  const RowId most = graph.vector(step, full, kNoRow, kNoRow, 1);
  VectorStep both = masked(step);
  both.alu2 = isa::Alu::Max;
  const RowId extreme = graph.vector(both, {row}, bound, most, 1);
  if (!smallest)
    return extreme;
  VectorStep negation;
  negation.table = negate;
  return graph.vector(negation, {extreme}, kNoRow, kNoRow, 1);
}

/// Max, min and product, as rows of the shape with reduced extents of 1.
std::optional<RowTensor> foldRows(Lowering &lowering, ir::ReduceOp op, const Reduction &reduction) {
  GraphBuilder &graph = lowering.graph;
  const ir::Monoid monoid = op.getMonoid();
  const RowTensor x = lowering.materialise(lowering.rows(op.getInput()));
  const int64_t dim = *ir::dataDim(op.getInput());
  const bool across = llvm::is_contained(op.getAxes(), dim);
  if (across && monoid == ir::Monoid::Product && x.layout.dimExtent() > 1)
    return std::nullopt;
  lowering.beginGroup(op);
  RowTensor result{RowLayout(reduction.keptShape, dim, graph.lanes()), {}};
  std::vector<std::vector<RowId>> sources(result.layout.rows());
  uint32_t lastUsed = graph.lanes();
  for (int64_t row = 0; row < x.layout.rows(); ++row) {
    const int64_t target = reduction.target[x.layout.flat(row, 0)];
    sources[result.layout.place(target).row].push_back(x.rows[row].row);
    lastUsed = std::min(lastUsed, static_cast<uint32_t>(x.layout.used(row)));
  }
  const isa::Alu alu = monoid == ir::Monoid::Max   ? isa::Alu::Max
                       : monoid == ir::Monoid::Min ? isa::Alu::Min
                                                   : isa::Alu::Mul;
  for (int64_t row = 0; row < result.layout.rows(); ++row) {
    const bool lanes = across && x.layout.dimExtent() > 1;
    const RowId id =
        lanes ? acrossLanes(graph, monoid == ir::Monoid::Min, sources[row], lastUsed)
              : fold(graph, alu, sources[row], static_cast<uint32_t>(result.layout.used(row)));
    result.rows.push_back({id, false, {}});
  }
  return result;
}

/// Mean of the squared distances from the mean: no cancellation.
RowTensor variance(Lowering &lowering, ir::ReduceOp op, const Reduction &reduction) {
  GraphBuilder &graph = lowering.graph;
  const RowTensor x = lowering.materialise(lowering.rows(op.getInput()));
  const int64_t dim = *ir::dataDim(op.getInput());
  const RowLayout kept(reduction.keptShape, dim, graph.lanes());
  const double share = 1.0 / static_cast<double>(reduction.count);
  lowering.beginGroup(op);
  const RowTensor means = sum(lowering, x, reduction, kept, share, {});
  RowTensor squares = x;
  VectorStep subtract, square;
  subtract.alu1 = isa::Alu::Sub;
  square.alu1 = isa::Alu::Mul;
  square.rhs1 = isa::Rhs1::A;
  for (int64_t row = 0; row < x.layout.rows(); ++row) {
    const auto used = static_cast<uint32_t>(x.layout.used(row));
    const int64_t target = reduction.target[x.layout.flat(row, 0)];
    const RowId distance = graph.vector(subtract, {x.rows[row].row},
                                        means.rows[kept.place(target).row].row, kNoRow, used);
    squares.rows[row].row = graph.vector(square, {distance}, kNoRow, kNoRow, used);
  }
  return sum(lowering, squares, reduction, kept, share, {});
}

/// The same elements, in the same row-major order, on the result's rows.
RowTensor relabel(const GraphBuilder &graph, const RowTensor &tensor, const RowLayout &layout) {
  RowTensor result{layout, {}};
  for (int64_t row = 0; row < layout.rows(); ++row) {
    std::vector<Element> elements;
    for (int64_t lane = 0; lane < layout.used(row); ++lane)
      elements.push_back(tensor.element(layout.flat(row, lane)));
    result.rows.push_back(makeRef(graph, std::move(elements)));
  }
  return result;
}

struct ReduceModel : RowsInterface::ExternalModel<ReduceModel, ir::ReduceOp> {
  void lowerToRows(Operation *op, Lowering &lowering) const {
    auto reduce = llvm::cast<ir::ReduceOp>(op);
    const Value result = reduce.getResult();
    const ir::Monoid monoid = reduce.getMonoid();
    if (monoid == ir::Monoid::Sum || monoid == ir::Monoid::Mean)
      return lowering.defineLazy(result,
                                 std::make_unique<LazySum>(reduce, monoid == ir::Monoid::Mean));
    const Reduction reduction(reduce);
    std::optional<RowTensor> rows;
    if (monoid == ir::Monoid::Variance)
      rows = variance(lowering, reduce, reduction);
    else if (monoid != ir::Monoid::LogSumExp)
      rows = foldRows(lowering, reduce, reduction);
    if (!rows)
      return lowering.define(
          result, lowering.fail(op, "E0414",
                                ("no machine reduction for '" + ir::stringifyMonoid(monoid) +
                                 "' along the data dimension, sum, mean, max, min and variance "
                                 "are allowed")
                                    .str()));
    lowering.define(result, relabel(lowering.graph, *rows, lowering.layoutOf(result)));
  }
  bool takesAffine(Operation *, Lowering &) const { return false; }
};

} // namespace

void attachReductionModel(MLIRContext &context) {
  ir::ReduceOp::attachInterface<ReduceModel>(context);
}

} // namespace sluice::rows
