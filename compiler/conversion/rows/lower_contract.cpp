// Contractions with one constant side: weight blocks on the matrix unit.
#include <cmath>
#include <numeric>

#include "compiler/conversion/rows/lowering.h"
#include "compiler/conversion/rows/models.h"
#include "compiler/dialect/sluice/dialect.h"
#include "compiler/dialect/sluice/shapes.h"

using namespace mlir;

namespace sluice::rows {
namespace {

/// A contraction as loops: what one more trip adds to the row-major index of
/// each tensor.
struct Loops {
  std::vector<int64_t> extents;
  std::vector<int64_t> lhs, rhs, result;

  void add(int64_t extent, int64_t left, int64_t right, int64_t out) {
    extents.push_back(extent);
    lhs.push_back(left);
    rhs.push_back(right);
    result.push_back(out);
  }
};

std::vector<int64_t> stridesOf(Value value) {
  const auto shape = ir::shapeOf(value);
  return reference::strides({shape.begin(), shape.end()});
}

/// numpy's matmul: batch axes from the right, an extent of 1 stands still.
Loops loopsOf(ir::MatmulOp op) {
  const auto lhs = ir::shapeOf(op.getLhs()), rhs = ir::shapeOf(op.getRhs());
  const auto lhsStrides = stridesOf(op.getLhs()), rhsStrides = stridesOf(op.getRhs()),
             outStrides = stridesOf(op.getResult());
  const size_t lhsRank = lhs.size(), rhsRank = rhs.size(), outRank = outStrides.size();
  const size_t matrixAxes = (lhsRank > 1) + (rhsRank > 1);
  const size_t batch = outRank - matrixAxes;
  Loops loops;
  const auto outShape = ir::shapeOf(op.getResult());
  for (size_t axis = 0; axis < batch; ++axis) {
    const auto strideIn = [&](llvm::ArrayRef<int64_t> shape, const std::vector<int64_t> &strides) {
      const size_t batches = shape.size() < 2 ? 0 : shape.size() - 2;
      if (axis + batches < batch)
        return int64_t{0};
      const size_t own = axis + batches - batch;
      return shape[own] == 1 ? 0 : strides[own];
    };
    loops.add(outShape[axis], strideIn(lhs, lhsStrides), strideIn(rhs, rhsStrides),
              outStrides[axis]);
  }
  if (lhsRank > 1)
    loops.add(lhs[lhsRank - 2], lhsStrides[lhsRank - 2], 0, outStrides[batch]);
  if (rhsRank > 1)
    loops.add(rhs[rhsRank - 1], 0, rhsStrides[rhsRank - 1], outStrides[outRank - 1]);
  loops.add(lhs[lhsRank - 1], lhsStrides[lhsRank - 1],
            rhsRank > 1 ? rhsStrides[rhsRank - 2] : rhsStrides[0], 0);
  return loops;
}

Loops loopsOf(ir::ContractOp op) {
  auto maps = llvm::to_vector(op.getIndexingMaps().getAsValueRange<AffineMapAttr>());
  std::string why;
  const auto extents =
      ir::contractLoops(maps, ir::shapeOf(op.getLhs()), ir::shapeOf(op.getRhs()), why);
  Loops loops;
  loops.extents.assign(extents->begin(), extents->end());
  const auto spread = [&](AffineMap map, Value value) {
    const auto strides = stridesOf(value);
    std::vector<int64_t> perLoop(loops.extents.size());
    for (unsigned axis = 0; axis < map.getNumResults(); ++axis)
      perLoop[map.getDimPosition(axis)] = strides[axis];
    return perLoop;
  };
  loops.lhs = spread(maps[0], op.getLhs());
  loops.rhs = spread(maps[1], op.getRhs());
  loops.result = spread(maps[2], op.getResult());
  return loops;
}

/// Trips of some of the loops, as index offsets in the runtime operand, the
/// weights and the result.
struct Trip {
  int64_t x = 0, w = 0, out = 0;
};

class LazyContraction final : public LazyLinear {
public:
  LazyContraction(Operation *op, Loops loops) : op(op), loops(std::move(loops)) {
    ops.insert(op);
    xFirst = !Lowering::isConstant(op->getOperand(0));
  }

  bool takesScale(Lowering &lowering, const std::vector<double> &scale) override {
    // Weights are shared by all indices of the other axes.
    const RowLayout layout = lowering.layoutOf(op->getResult(0));
    for (int64_t i = 0; i < layout.elements(); ++i) {
      const RowLayout::Place place = layout.place(i);
      if (scale[i] != scale[layout.flat(place.row % layout.rowsAlong(), place.lane)])
        return false;
    }
    return true;
  }

  RowTensor emitWith(Lowering &lowering, const OutputAffine &after) override;

private:
  [[nodiscard]] std::vector<Trip> trips(const std::vector<size_t> &which) const;
  /// A typical value of the runtime element at each trip of the summed loops:
  /// the mean over the outer loops of its nominal values.
  std::vector<double> typical(Lowering &lowering, const std::vector<Trip> &outer,
                              const std::vector<Trip> &sums) const;

  Operation *op;
  Loops loops;
  bool xFirst; ///< the left operand is the runtime one
};

std::vector<Trip> LazyContraction::trips(const std::vector<size_t> &which) const {
  std::vector<Trip> all = {{}};
  for (const size_t loop : which) {
    std::vector<Trip> longer;
    longer.reserve(all.size() * loops.extents[loop]);
    for (const Trip &trip : all)
      for (int64_t i = 0; i < loops.extents[loop]; ++i)
        longer.push_back({trip.x + i * (xFirst ? loops.lhs : loops.rhs)[loop],
                          trip.w + i * (xFirst ? loops.rhs : loops.lhs)[loop],
                          trip.out + i * loops.result[loop]});
    all = std::move(longer);
  }
  return all;
}

std::vector<double> LazyContraction::typical(Lowering &lowering, const std::vector<Trip> &outer,
                                             const std::vector<Trip> &sums) const {
  std::vector<double> means(sums.size());
  const reference::Tensor *nominal = lowering.nominal(op->getOperand(xFirst ? 0 : 1));
  if (!nominal)
    return means;
  for (size_t k = 0; k < sums.size(); ++k) {
    for (const Trip &base : outer)
      means[k] += nominal->values[base.x + sums[k].x] / static_cast<double>(outer.size());
    if (!std::isfinite(means[k]))
      means[k] = 0;
  }
  return means;
}

RowTensor LazyContraction::emitWith(Lowering &lowering, const OutputAffine &after) {
  const RowTensor x = lowering.affineRows(op->getOperand(xFirst ? 0 : 1));
  const reference::Tensor w = lowering.constant(op->getOperand(xFirst ? 1 : 0));
  const RowLayout layout = lowering.layoutOf(op->getResult(0));
  const int64_t lanes = lowering.graph.lanes();
  lowering.beginGroup(ops);

  // Loops along the result's lanes, over its other axes, and summed over.
  const int64_t along = layout.dimStride();
  std::vector<size_t> feature, outer, inner;
  for (size_t loop = 0; loop < loops.extents.size(); ++loop) {
    const bool isFeature = loops.result[loop] == along && feature.empty() &&
                           loops.extents[loop] == layout.dimExtent() && along != 0;
    (loops.result[loop] == 0 ? inner : isFeature ? feature : outer).push_back(loop);
  }
  lowering.macs += static_cast<uint64_t>(
      std::accumulate(loops.extents.begin(), loops.extents.end(), int64_t{1}, std::multiplies<>()));
  const std::vector<Trip> features = trips(feature), sums = trips(inner), bases = trips(outer);
  const std::vector<double> means = typical(lowering, bases, sums);

  RowTensor result{layout, std::vector<RowRef>(layout.rows())};
  // Blocks of the last product with the same weights: the next index of a batch
  // axis uses them again if its elements lie in rows and lanes the same way.
  struct Reuse {
    std::vector<Element> pattern; ///< rows replaced by their order of appearance
    LinearSum::Rounded sum;
    std::vector<uint32_t> ordinals; ///< of sum.sources
  };
  std::map<std::pair<int64_t, size_t>, Reuse> reuse;
  for (const Trip &base : bases)
    for (size_t first = 0; first < features.size(); first += lanes) {
      const size_t count = std::min<size_t>(lanes, features.size() - first);
      std::vector<Element> pattern;
      std::vector<RowId> sources;
      for (size_t j = 0; j < count; ++j)
        for (const Trip &sum : sums) {
          Element element = x.element(base.x + features[first + j].x + sum.x);
          if (element.row != kNoRow) {
            const auto found = std::find(sources.begin(), sources.end(), element.row);
            const auto ordinal = static_cast<RowId>(found - sources.begin());
            if (found == sources.end())
              sources.push_back(element.row);
            element.row = ordinal;
          }
          pattern.push_back(element);
          if (j > 0 && features[first + j].x == features[first].x)
            break; // every lane reads the same elements
        }
      const int64_t firstOut = base.out + features[first].out;
      Reuse &known = reuse[{base.w, first}];
      if (known.pattern != pattern) {
        LinearSum sum(lowering.graph);
        for (size_t j = 0; j < count; ++j) {
          const Trip &f = features[first + j];
          const auto lane = static_cast<uint32_t>(j);
          for (size_t k = 0; k < sums.size(); ++k)
            sum.add(lane, x.element(base.x + f.x + sums[k].x), w.values[base.w + f.w + sums[k].w],
                    means[k]);
          if (!after.scale.empty())
            sum.scale(lane, after.scale[base.out + f.out]);
        }
        known = {pattern, sum.round(), {}};
        for (const RowId source : known.sum.sources)
          known.ordinals.push_back(static_cast<uint32_t>(
              std::find(sources.begin(), sources.end(), source) - sources.begin()));
        if (!known.sum.finite)
          return lowering.fail(op, "E0412",
                               "a weight is not finite in bf16, weights must be below 3.4e38");
      }
      LinearSum::Rounded row = known.sum;
      for (size_t i = 0; i < row.sources.size(); ++i)
        row.sources[i] = sources[known.ordinals[i]];
      if (!after.offset.empty()) {
        row.bias.resize(lanes);
        for (size_t j = 0; j < count; ++j)
          row.bias[j] += static_cast<float>(after.offset[base.out + features[first + j].out]);
      }
      if (std::all_of(row.bias.begin(), row.bias.end(), [](float v) { return v == 0; }))
        row.bias.clear();
      // Where there is a bias, it costs nothing to take back what rounding the
      // weights does to a typical input: errors of a row share their sign.
      if (!row.bias.empty() && !row.correction.empty())
        for (size_t j = 0; j < count; ++j)
          row.bias[j] += static_cast<float>(row.correction[j]);
      const RowId id = emitLinear(lowering.graph, row, static_cast<uint32_t>(count), false);
      result.rows[layout.place(firstOut).row] = {id, false, {}};
    }
  return result;
}

template <typename Op>
struct ContractionModel : RowsInterface::ExternalModel<ContractionModel<Op>, Op> {
  void lowerToRows(Operation *op, Lowering &lowering) const {
    const Value lhs = op->getOperand(0), rhs = op->getOperand(1), result = op->getResult(0);
    if (!Lowering::isConstant(lhs) && !Lowering::isConstant(rhs)) {
      lowering.define(result, lowering.fail(op, "E0413",
                                            "both operands depend on the model's inputs, one must "
                                            "be a constant"));
      return;
    }
    lowering.defineLazy(result, std::make_unique<LazyContraction>(op, loopsOf(llvm::cast<Op>(op))));
  }
  bool takesAffine(Operation *, Lowering &) const { return true; }
};

} // namespace

void attachContractionModels(MLIRContext &context) {
  ir::MatmulOp::attachInterface<ContractionModel<ir::MatmulOp>>(context);
  ir::ContractOp::attachInterface<ContractionModel<ir::ContractOp>>(context);
}

} // namespace sluice::rows
