// Reductions. Sums run on the matrix unit, unrounded to the end; the others are
// in fold_rows.cpp. A result along the data dimension is in every lane, so that
// broadcasting it costs nothing.
#include <numeric>
#include <span>

#include "compiler/conversion/rows/fold_rows.h"
#include "compiler/conversion/rows/models.h"
#include "compiler/conversion/scalar/table_builder.h"
#include "compiler/dialect/sluice/operations.h"
#include "runtime/addressing/addressing.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace sluice::rows {

Reduction::Reduction(ir::ReduceOp op) {
  const auto shape = ir::shapeOf(op.getInput());
  const reference::Shape extents(shape.begin(), shape.end());
  keptShape = extents;
  for (const int64_t axis : op.getAxes())
    keptShape[axis] = 1;
  const auto inputStrides = addressing::rowMajorStrides(extents),
             keptStrides = addressing::rowMajorStrides(keptShape);
  target.resize(reference::elements(extents));
  ordinal.resize(target.size());
  count = static_cast<int64_t>(target.size()) / reference::elements(keptShape);
  for (size_t i = 0; i < target.size(); ++i)
    for (size_t axis = 0; axis < extents.size(); ++axis) {
      const int64_t index = static_cast<int64_t>(i) / inputStrides[axis] % extents[axis];
      if (llvm::is_contained(op.getAxes(), static_cast<int64_t>(axis)))
        ordinal[i] = ordinal[i] * extents[axis] + index;
      else
        target[i] += index * keptStrides[axis];
    }
}

namespace {

/// The elements that a reduction reads, by row of its result, in their order.
class ElementsByRow {
public:
  struct Read {
    int64_t element = 0;
    uint32_t lane = 0; ///< of the result
  };

  ElementsByRow(const Reduction &reduction, const RowLayout &layout)
      : begins(layout.rows() + 1), reads(reduction.target.size()) {
    std::vector<RowLayout::Place> places;
    places.reserve(reads.size());
    for (const int64_t target : reduction.target)
      ++begins[places.emplace_back(layout.place(target)).row + 1];
    std::partial_sum(begins.begin(), begins.end(), begins.begin());
    std::vector<size_t> next = begins;
    for (size_t i = 0; i < places.size(); ++i)
      reads[next[places[i].row]++] = {static_cast<int64_t>(i),
                                      static_cast<uint32_t>(places[i].lane)};
  }

  [[nodiscard]] std::span<const Read> of(int64_t row) const {
    return std::span(reads).subspan(begins[row], begins[row + 1] - begins[row]);
  }

private:
  std::vector<size_t> begins; ///< by row, and where the last row ends
  std::vector<Read> reads;
};

/// Sum times weight, plus offset by result index (empty: zero). One bf16-exact
/// weight is in the blocks, another one multiplies the sum.
RowTensor sum(Lowering &lowering, const RowTensor &x, const Reduction &reduction,
              const RowLayout &layout, double weight, const std::vector<double> &offset) {
  GraphBuilder &graph = lowering.graph;
  const bool inBlocks = bf16ToDouble(roundToBf16(weight)) == weight;
  const bool uniform = layout.dimExtent() == 1;
  const std::vector<double> weights(graph.lanes(), inBlocks ? weight : 1);
  // A row at a time: the sums of all rows together take much memory.
  const ElementsByRow elements(reduction, layout);
  std::vector<LinearSum::Rounded> rounded;
  for (int64_t row = 0; row < layout.rows(); ++row) {
    LinearSum sum(graph);
    for (const auto &[element, lane] : elements.of(row))
      sum.add(uniform ? 0 : lane, x.element(element),
              std::span(weights).first(uniform ? graph.lanes() : 1), 0);
    for (int64_t lane = 0; !offset.empty() && lane < layout.used(row); ++lane) {
      const double added = offset[layout.flat(row, lane)];
      for (uint32_t to = lane; to < (uniform ? graph.lanes() : lane + 1); ++to)
        sum.addBias(to, inBlocks ? added : added / weight);
    }
    rounded.push_back(sum.round());
  }
  RowTensor result{layout, {}};
  VectorStep scale;
  scale.alu1 = isa::Alu::Mul;
  scale.rhs1 = isa::Rhs1::Imm;
  scale.imm1 = static_cast<float>(weight);
  uniteReads(rounded);
  for (int64_t row = 0; row < layout.rows(); ++row) {
    const auto used = static_cast<uint32_t>(layout.used(row));
    RowId id = emitLinear(graph, rounded[row], used, uniform);
    if (!inBlocks)
      id = graph.vector(scale, {id}, kNoRow, kNoRow, used);
    result.rows.push_back({id, false, {}});
  }
  return result;
}

class LazySum final : public LazyLinear {
public:
  LazySum(ir::ReduceOp op, bool mean) : op(op), mean(mean) { ops.insert(op); }

  std::optional<double> mostOfIntegers(Lowering &) override {
    constexpr double kMostExact = 256;
    if (mean)
      return std::nullopt;
    return 2 * kMostExact * static_cast<double>(Reduction(op).count);
  }

  // Ones are exact weights, other scales are not.
  bool takesScale(Lowering &, const std::vector<double> &) override { return false; }

  RowTensor emitWith(Lowering &lowering, const OutputAffine &after) override {
    const RowTensor x = lowering.rows(op.getInput());
    const Reduction reduction(op);
    lowering.beginGroup(ops);
    return sum(lowering, x, reduction, lowering.layoutOf(op.getResult()),
               mean ? 1.0 / static_cast<double>(reduction.count) : 1, after.offset);
  }

  void addReads(Lowering &, llvm::SmallVectorImpl<Value> &reads) override {
    reads.push_back(op.getInput());
  }

private:
  ir::ReduceOp op;
  bool mean;
};

/// What is left of each element without a value of its result: x - y.
RowTensor distances(GraphBuilder &graph, const RowTensor &x, const RowTensor &y,
                    const Reduction &reduction) {
  VectorStep subtract;
  subtract.alu1 = isa::Alu::Sub;
  RowTensor result = x;
  for (int64_t row = 0; row < x.layout.rows(); ++row) {
    const int64_t target = reduction.target[x.layout.flat(row, 0)];
    result.rows[row].row =
        graph.vector(subtract, {x.rows[row].row}, y.rows[y.layout.place(target).row].row, kNoRow,
                     static_cast<uint32_t>(x.layout.used(row)));
  }
  return result;
}

/// Mean of the squared distances from the mean: no cancellation. The mean is rounded, which by
/// itself leaves the square of what it is rounded by: far from 0 that is much. So the mean of the
/// distances, which are small, is taken off as well.
RowTensor variance(Lowering &lowering, ir::ReduceOp op, const Reduction &reduction) {
  GraphBuilder &graph = lowering.graph;
  const RowTensor x = lowering.materialise(lowering.rows(op.getInput()));
  const int64_t dim = *ir::dataDim(op.getInput());
  const RowLayout kept(reduction.keptShape, dim, graph.lanes());
  const double share = 1.0 / static_cast<double>(reduction.count);
  lowering.beginGroup(op);
  const auto centred = [&](const RowTensor &values) {
    return distances(graph, values, sum(lowering, values, reduction, kept, share, {}), reduction);
  };
  RowTensor squares = centred(centred(x));
  VectorStep square;
  square.alu1 = isa::Alu::Mul;
  square.rhs1 = isa::Rhs1::A;
  for (int64_t row = 0; row < x.layout.rows(); ++row)
    squares.rows[row].row = graph.vector(square, {squares.rows[row].row}, kNoRow, kNoRow,
                                         static_cast<uint32_t>(x.layout.used(row)));
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
    if (monoid == ir::Monoid::LogSumExp)
      return lowering.define(
          result,
          lowering.fail(op, "E0414",
                        "reduce logsumexp must be expanded first; run sluice-expand-reductions"));
    if (monoid == ir::Monoid::ArgMax && reduction.count > kMostIndices)
      return lowering.define(
          result, lowering.fail(op, "E0414",
                                llvm::formatv("arg max over {0} elements, allowed: at most {1} "
                                              "(larger indices are not exact in bf16)",
                                              reduction.count, kMostIndices)));
    const RowTensor rows = monoid == ir::Monoid::Variance ? variance(lowering, reduce, reduction)
                                                          : foldRows(lowering, reduce, reduction);
    lowering.define(result, relabel(lowering.graph, rows, lowering.layoutOf(result)));
  }
  bool takesAffine(Operation *, Lowering &) const { return false; }
};

} // namespace

void attachReductionModel(MLIRContext &context) {
  ir::ReduceOp::attachInterface<ReduceModel>(context);
}

} // namespace sluice::rows
