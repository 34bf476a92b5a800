// Contractions with one constant side: weight blocks on the matrix unit.
#include <algorithm>
#include <cmath>
#include <deque>
#include <numeric>
#include <set>
#include <unordered_map>

#include "compiler/conversion/rows/contraction_loops.h"
#include "compiler/conversion/rows/fold_rows.h"
#include "compiler/conversion/rows/known_sums.h"
#include "compiler/conversion/rows/lower_dynamic.h"
#include "compiler/conversion/rows/lowering.h"
#include "compiler/conversion/rows/models.h"
#include "compiler/dialect/sluice/operations.h"
#include "hw/numerics/bf16.h"

using namespace mlir;

namespace sluice::rows {
namespace {

class LazyContraction final : public LazyLinear {
public:
  LazyContraction(Operation *op, Loops loops) : op(op), loops(std::move(loops)) {
    ops.insert(op);
    xFirst = !ir::isConstant(op->getOperand(0));
  }

  bool takesScale(Lowering &lowering, const std::vector<double> &scale) override {
    // Integers that are scaled might not be bf16 numbers; factors behind the product are exact.
    const auto isPowerOfTwo = [](double factor) {
      int exponent = 0;
      return std::abs(std::frexp(factor, &exponent)) == 0.5;
    };
    if (!llvm::all_of(scale, isPowerOfTwo))
      if (const auto most = largestInteger(lowering); most && *most > 1)
        return false;
    // Weights are shared by all indices of the loops that the constant does not have.
    const Split split = splitLoops(lowering.layoutOf(op->getResult(0)));
    const std::vector<Trip> features = loops.trips(split.feature, xFirst);
    std::map<int64_t, int64_t> first; // by place in the constant, the result's
    for (const Trip &base : loops.trips(split.outer, xFirst)) {
      const auto known = first.try_emplace(base.w, base.out).first;
      for (const Trip &feature : features)
        if (scale[base.out + feature.out] != scale[known->second + feature.out])
          return false;
    }
    return true;
  }

  std::optional<double> mostOfIntegers(Lowering &lowering) override {
    if (!largestInteger(lowering))
      return std::nullopt;
    const std::vector<double> weights = lowering.constant(op->getOperand(xFirst ? 1 : 0)).values;
    const Split split = splitLoops(lowering.layoutOf(op->getResult(0)));
    const std::vector<Trip> sums = loops.trips(split.inner, xFirst);
    std::vector<size_t> others = split.outer;
    others.insert(others.end(), split.feature.begin(), split.feature.end());
    std::set<int64_t> seen; // results have weights in common
    double most = 0;
    for (const Trip &trip : loops.trips(others, xFirst)) {
      if (!seen.insert(trip.w).second)
        continue;
      double sum = 0;
      for (const Trip &one : sums)
        sum += std::abs(weights[trip.w + one.w]);
      most = std::max(most, sum);
    }
    // Of the integers and their zero points, which are in the bias.
    return 2 * kMostExact * most;
  }

  RowTensor emitWith(Lowering &lowering, const OutputAffine &after) override;

  void addReads(Lowering &lowering, llvm::SmallVectorImpl<Value> &reads) override {
    lowering.addAffineReads(op->getOperand(xFirst ? 0 : 1), reads);
  }

private:
  static constexpr double kMostExact = 256;

  /// If all weights are integers that bf16 has: the largest magnitude.
  std::optional<double> largestInteger(Lowering &lowering) {
    double most = 0;
    for (const double value : lowering.constant(op->getOperand(xFirst ? 1 : 0)).values) {
      if (value != std::trunc(value) || std::abs(value) > kMostExact)
        return std::nullopt;
      most = std::max(most, std::abs(value));
    }
    return most;
  }

  /// Loops along the result's lanes, over its other axes, and summed over.
  struct Split {
    std::vector<size_t> feature, outer, inner;
  };
  [[nodiscard]] Split splitLoops(const RowLayout &layout) const {
    Split split;
    const int64_t along = layout.dimStride();
    for (size_t loop = 0; loop < loops.extents.size(); ++loop) {
      const bool isFeature = loops.result[loop] == along && split.feature.empty() &&
                             loops.extents[loop] == layout.dimExtent() && along != 0;
      (loops.result[loop] == 0 ? split.inner
       : isFeature             ? split.feature
                               : split.outer)
          .push_back(loop);
    }
    return split;
  }

  /// Returns the key of the sums of this operation. The steps of a recurrence have equal keys.
  [[nodiscard]] KnownSums::Weights weightsOf(const Split &split) const {
    KnownSums::Weights weights{op->getOperand(xFirst ? 1 : 0), {}};
    for (const auto *loopsOfSum : {&split.feature, &split.inner}) {
      for (const size_t loop : *loopsOfSum)
        for (const int64_t one : {loops.extents[loop], (xFirst ? loops.rhs : loops.lhs)[loop]})
          weights.loops.push_back(one);
      weights.loops.push_back(0); // is no extent
    }
    return weights;
  }

  /// A typical value of the runtime element at each trip of the summed loops:
  /// the mean over the outer loops of its nominal values.
  std::vector<double> typical(Lowering &lowering, const std::vector<Trip> &outer,
                              const std::vector<Trip> &sums) const;

  Operation *op;
  Loops loops;
  bool xFirst; ///< the left operand is the runtime one
};

/// Nothing typical is as large: it is what lies outside of a maximum's windows, before a stream
/// has begun.
constexpr double kUntypical = 0x1p32;

std::vector<double> LazyContraction::typical(Lowering &lowering, const std::vector<Trip> &outer,
                                             const std::vector<Trip> &sums) const {
  std::vector<double> means(sums.size());
  const reference::Tensor &nominal = lowering.nominal(op->getOperand(xFirst ? 0 : 1));
  for (size_t k = 0; k < sums.size(); ++k) {
    for (const Trip &base : outer)
      if (const double value = nominal.values[base.x + sums[k].x]; std::abs(value) < kUntypical)
        means[k] += value / static_cast<double>(outer.size());
  }
  return means;
}

/// Whether a maximum along the lanes reads a value, behind maps or not. Then the lowest number
/// beyond the elements saves masks.
bool hasMaximumAlongLanes(Value value, unsigned maps = 4) {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    if (auto reduce = llvm::dyn_cast<ir::ReduceOp>(user))
      return reduce.getMonoid() == ir::Monoid::Max &&
             llvm::is_contained(reduce.getAxes(), ir::dataDim(value).value_or(-1));
    return maps > 0 && llvm::isa<ir::MapOp>(user) &&
           hasMaximumAlongLanes(user->getResult(0), maps - 1);
  });
}

RowTensor LazyContraction::emitWith(Lowering &lowering, const OutputAffine &after) {
  std::deque<RowTensor> scaled;
  const RowTensor &x = lowering.affineRows(op->getOperand(xFirst ? 0 : 1), scaled);
  const Value weightValue = op->getOperand(xFirst ? 1 : 0);
  const RowLayout layout = lowering.layoutOf(op->getResult(0));
  const int64_t lanes = lowering.graph.lanes();
  lowering.beginGroup(ops);

  const Split split = splitLoops(layout);
  const auto trips = [&](const std::vector<size_t> &which) { return loops.trips(which, xFirst); };
  const std::vector<Trip> features = trips(split.feature), sums = trips(split.inner),
                          bases = trips(split.outer);
  const bool isMaximised = hasMaximumAlongLanes(op->getResult(0));

  struct Place {
    int64_t row;
    uint32_t used;
  };
  std::vector<Place> places;
  std::vector<LinearSum::Rounded> made;
  const bool shared = features.back().x == features.front().x; // lanes read the same elements
  std::optional<reference::Tensor> w;
  std::optional<std::vector<double>> means; // known once a sum has a bias
  // An operation of one position, such as a step of a recurrence, shares its sums with the others
  // that have its weights. Sums of many positions would take too much memory.
  KnownSums own;
  const bool isOnly = weightValue.hasOneUse() || bases.size() != 1;
  KnownSums &known = isOnly ? own : lowering.knownSums(weightsOf(split));
  std::unordered_map<int64_t, size_t> left; // indices that are still to come, by weights
  for (const Trip &base : bases)
    ++left[base.w];
  for (const Trip &base : bases) {
    const bool isLast = --left[base.w] == 0 && isOnly;
    for (size_t first = 0; first < features.size(); first += lanes) {
      const size_t count = std::min<size_t>(lanes, features.size() - first);
      KnownSums::Factors factors;
      for (size_t j = 0; j < (shared ? 1 : count); ++j)
        for (const Trip &sum : sums)
          factors.elements.push_back(x.element(base.x + features[first + j].x + sum.x));
      for (size_t j = 0; !after.scale.empty() && j < count; ++j)
        factors.scale.push_back(after.scale[base.out + features[first + j].out]);
      if (!after.offset.empty() ||
          llvm::any_of(factors.elements, [](const Element &one) { return one.offset != 0; })) {
        if (!means)
          means = typical(lowering, bases, sums);
        factors.means = *means;
      }
      LinearSum::Rounded row = known.sumOf({base.w, first}, factors, isLast, [&] {
        if (!w)
          w = lowering.constant(weightValue);
        LinearSum sum(lowering.graph);
        const auto weight = [&](size_t j, size_t k) {
          return w->values[base.w + features[first + j].w + sums[k].w];
        };
        const auto mean = [&](size_t k) { return factors.means.empty() ? 0 : factors.means[k]; };
        std::vector<double> weights(count);
        for (size_t k = 0; shared && k < sums.size(); ++k) {
          for (size_t j = 0; j < count; ++j)
            weights[j] = weight(j, k);
          sum.add(0, factors.elements[k], weights, mean(k));
        }
        for (size_t j = 0; !shared && j < count; ++j)
          for (size_t k = 0; k < sums.size(); ++k)
            sum.add(static_cast<uint32_t>(j), factors.elements[j * sums.size() + k], weight(j, k),
                    mean(k));
        for (size_t j = 0; j < factors.scale.size(); ++j)
          sum.scale(static_cast<uint32_t>(j), factors.scale[j]);
        return sum.round();
      });
      lowering.macs += row.products;
      if (!row.finite)
        return lowering.fail(op, "E0412",
                             "a weight is not finite in bf16; its magnitude must be below 3.4e38");
      if (!after.offset.empty()) {
        row.bias.resize(lanes);
        for (size_t j = 0; j < count; ++j)
          row.bias[j] += static_cast<float>(after.offset[base.out + features[first + j].out]);
      }
      if (std::all_of(row.bias.begin(), row.bias.end(), [](float v) { return v == 0; }))
        row.bias.clear();
      if (!row.bias.empty() && count < static_cast<size_t>(lanes) && isMaximised) {
        row.bias.resize(lanes);
        std::fill(row.bias.begin() + static_cast<ptrdiff_t>(count), row.bias.end(),
                  numerics::kLowestBf16);
      }
      // Where there is a bias, it costs nothing to take back what rounding the weights does to a
      // typical input: errors of a row share their sign. But an input need not be typical: where
      // all elements are 0, offsets included, the rest of the bias is the result, and is off by
      // 2^-8 of itself at most.
      if (!row.bias.empty() && !row.correction.empty())
        for (size_t j = 0; j < count; ++j) {
          const double most = std::fabs(row.bias[j] - row.ofOffsets[j]) * 0x1p-8;
          row.bias[j] += static_cast<float>(std::clamp(row.correction[j], -most, most));
        }
      places.push_back(
          {layout.place(base.out + features[first].out).row, static_cast<uint32_t>(count)});
      made.push_back(std::move(row));
    }
  }
  uniteReads(made);
  RowTensor result{layout, std::vector<RowRef>(layout.rows())};
  for (size_t i = 0; i < made.size(); ++i)
    result.rows[places[i].row] = {
        emitLinear(lowering.graph, made[i], places[i].used, false), false, {}};
  return result;
}

template <typename Op>
struct ContractionModel : RowsInterface::ExternalModel<ContractionModel<Op>, Op> {
  void lowerToRows(Operation *op, Lowering &lowering) const {
    const Loops loops = loopsOf(op);
    if (isDynamic(op, loops))
      lowering.defineLazy(op->getResult(0), lowerDynamic(op, loops));
    else
      lowering.defineLazy(op->getResult(0), std::make_unique<LazyContraction>(op, loops));
  }
  bool takesAffine(Operation *op, Lowering &) const { return !isDynamic(op, loopsOf(op)); }
};

} // namespace

void attachContractionModels(MLIRContext &context) {
  ir::MatmulOp::attachInterface<ContractionModel<ir::MatmulOp>>(context);
  ir::ContractOp::attachInterface<ContractionModel<ir::ContractOp>>(context);
}

} // namespace sluice::rows
