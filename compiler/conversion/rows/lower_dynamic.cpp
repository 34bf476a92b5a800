// The rules DD-MM-DYN as rows. One side becomes weights, the other one is x:
//  - the result keeps the data dimension of a side (DYN-1, DYN-3, some of DYN-2):
//    that side's rows become columns of weights, one for every index that is
//    summed over;
//  - both are contracted along their data dimension (DYN-4, the rest of DYN-2):
//    the rows of the side with the result's data dimension become rows of weights,
//    one for every output lane.
#include "compiler/conversion/rows/lower_dynamic.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "compiler/conversion/rows/lowering.h"
#include "compiler/conversion/scalar/table_builder.h"
#include "compiler/dialect/sluice/operations.h"

using namespace mlir;

namespace sluice::rows {
namespace {

using OptionalLoop = std::optional<size_t>;

/// The loop along the data dimension of a tensor, if it has one.
OptionalLoop laneLoop(Value value, const std::vector<size_t> &axes) {
  const auto dim = ir::dataDim(value);
  const size_t loop = dim && static_cast<size_t>(*dim) < axes.size() ? axes[*dim] : kNoLoop;
  return loop == kNoLoop ? std::nullopt : OptionalLoop(loop);
}

bool contains(const std::vector<size_t> &loops, size_t loop) {
  return std::find(loops.begin(), loops.end(), loop) != loops.end();
}

/// Which side becomes weights, and how.
struct Form {
  bool weightsLeft = false;
  bool columns = false;
  OptionalLoop out; ///< along the lanes of the result; none: it is a scalar
  size_t in = 0;    ///< along the lanes of x
};

/// Nothing if no rule has these data dimensions.
std::optional<Form> formOf(Operation *op, const Loops &loops) {
  const Value lhs = op->getOperand(0), rhs = op->getOperand(1);
  const OptionalLoop left = laneLoop(lhs, loops.lhsAxes), right = laneLoop(rhs, loops.rhsAxes),
                     out = laneLoop(op->getResult(0), loops.resultAxes);
  const auto summed = [&](OptionalLoop loop) { return loop && !contains(loops.resultAxes, *loop); };
  // The last loop summed over, for the lanes of a constant.
  size_t last = loops.extents.size();
  while (last > 0 && contains(loops.resultAxes, last - 1))
    --last;
  for (const bool weightsLeft : {true, false}) {
    const OptionalLoop mine = weightsLeft ? left : right, other = weightsLeft ? right : left;
    const bool constant = ir::isConstant(weightsLeft ? rhs : lhs);
    if (out && mine == out && (constant ? last > 0 : summed(other)))
      return Form{weightsLeft, true, out, constant ? last - 1 : *other};
  }
  if (!summed(left) || left != right)
    return std::nullopt;
  return Form{out && contains(loops.lhsAxes, *out), false, out, *left};
}

class LazyDynamic final : public LazyLinear {
public:
  LazyDynamic(Operation *op, Loops loops) : op(op), loops(std::move(loops)) { ops.insert(op); }

  // Weights are what they are.
  bool takesScale(Lowering &, const std::vector<double> &) override { return false; }

  RowTensor emitWith(Lowering &lowering, const OutputAffine &after) override;

  void addReads(Lowering &, llvm::SmallVectorImpl<Value> &reads) override {
    for (const Value operand : op->getOperands())
      if (!ir::isConstant(operand))
        reads.push_back(operand);
  }

private:
  RowTensor constantSide(Lowering &lowering, Value value, const std::vector<size_t> &axes,
                         size_t lanes);

  Operation *op;
  Loops loops;
};

/// Rows of a constant along the lanes of one of its loops.
RowTensor LazyDynamic::constantSide(Lowering &lowering, Value value,
                                    const std::vector<size_t> &axes, size_t lanes) {
  const auto shape = ir::shapeOf(value);
  const auto axis = std::ranges::find(axes, lanes) - axes.begin();
  const reference::Tensor tensor = lowering.constant(value);
  const bool finite = std::all_of(tensor.values.begin(), tensor.values.end(), [](double element) {
    return std::isfinite(bf16ToDouble(roundToBf16(element)));
  });
  if (!finite)
    lowering.fail(op, "E0412",
                  "a weight is not finite in bf16; its magnitude must be below 3.4e38");
  return lowering.constantRows(
      RowLayout({shape.begin(), shape.end()}, axis, lowering.graph.lanes()), tensor);
}

RowTensor LazyDynamic::emitWith(Lowering &lowering, const OutputAffine &after) {
  const std::optional<Form> form = formOf(op, loops);
  if (!form)
    return lowering.fail(
        op, "E0413",
        "no rule of DD-MM-DYN-1 to DD-MM-DYN-4 allows the data dimensions of the product");
  GraphBuilder &graph = lowering.graph;
  const int64_t lanes = graph.lanes();
  const Value xValue = op->getOperand(form->weightsLeft ? 1 : 0),
              wValue = op->getOperand(form->weightsLeft ? 0 : 1);
  RowTensor x = ir::isConstant(xValue)
                    ? constantSide(lowering, xValue,
                                   form->weightsLeft ? loops.rhsAxes : loops.lhsAxes, form->in)
                    : lowering.rows(xValue);
  RowTensor w = lowering.rows(wValue);
  lowering.beginGroup(ops);
  x = lowering.materialise(std::move(x));
  w = lowering.materialise(std::move(w));
  lowering.macs += static_cast<uint64_t>(
      std::accumulate(loops.extents.begin(), loops.extents.end(), int64_t{1}, std::multiplies<>()));

  // Indices that are fixed for a row of the result, and those summed over beside
  // the one along the lanes.
  std::vector<size_t> fixed, summed;
  for (size_t loop = 0; loop < loops.extents.size(); ++loop)
    if (loop != form->out && loop != form->in)
      (contains(loops.resultAxes, loop) ? fixed : summed).push_back(loop);
  const std::vector<Trip> bases = loops.trips(fixed, !form->weightsLeft),
                          sums = loops.trips(summed, !form->weightsLeft);
  const std::vector<int64_t> &xStrides = form->weightsLeft ? loops.rhs : loops.lhs,
                             &wStrides = form->weightsLeft ? loops.lhs : loops.rhs;
  const int64_t ins = loops.extents[form->in], outs = form->out ? loops.extents[*form->out] : 1;
  const int64_t xIn = xStrides[form->in], wIn = wStrides[form->in],
                wOut = form->out ? wStrides[*form->out] : 0,
                resultOut = form->out ? loops.result[*form->out] : 0;
  const auto rowOf = [](const RowTensor &tensor, int64_t index) {
    return tensor.rows[tensor.layout.place(index).row].row;
  };

  RowTensor result{lowering.layoutOf(op->getResult(0)), {}};
  result.rows.resize(result.layout.rows());
  for (const Trip &base : bases)
    for (int64_t firstOut = 0; firstOut < outs; firstOut += lanes) {
      const int64_t countOut = std::min(lanes, outs - firstOut);
      std::vector<Term> terms;
      bool clean = true; // nothing beyond the elements gets into the result
      for (const Trip &sum : sums)
        for (int64_t firstIn = 0; firstIn < ins; firstIn += lanes) {
          const int64_t countIn = std::min(lanes, ins - firstIn);
          const int64_t first = base.w + sum.w + firstOut * wOut + firstIn * wIn;
          std::vector<BlockWrite> writes;
          bool zeroBeyond = true;
          for (int64_t i = 0; i < (form->columns ? countIn : countOut); ++i) {
            const RowId row = rowOf(w, first + i * (form->columns ? wIn : wOut));
            writes.push_back({row, static_cast<uint32_t>(i)});
            const auto used = static_cast<uint32_t>(form->columns ? countOut : countIn);
            zeroBeyond &= graph.facts(row, used).zeroBeyond(graph.lanes());
          }
          RowId operand = rowOf(x, base.x + sum.x + firstIn * xIn);
          // Beyond the elements, columns leave zero weights; rows only if their
          // sources do.
          operand = form->columns || zeroBeyond
                        ? graph.forProduct(operand, std::vector<bool>(countIn, true))
                        : graph.withZeroPadding(operand, static_cast<uint32_t>(countIn));
          clean &= !form->columns || zeroBeyond;
          terms.push_back({operand, graph.dynamicBlock(form->columns, std::move(writes))});
        }
      const int64_t firstResult = base.out + firstOut * resultOut;
      std::vector<float> bias;
      for (int64_t i = 0; i < countOut && !after.offset.empty(); ++i) {
        bias.resize(lanes);
        bias[i] = static_cast<float>(after.offset[firstResult + i * resultOut]);
      }
      const RowId id =
          graph.linear(std::move(terms), std::move(bias), static_cast<uint32_t>(countOut), false,
                       clean ? LaneValues::known(0) : LaneValues::anything());
      result.rows[result.layout.place(firstResult).row] = {id, false, {}};
    }
  return result;
}

class LazyRelayout final : public Lazy {
public:
  explicit LazyRelayout(Operation *op) : op(op) { ops.insert(op); }

  RowTensor emit(Lowering &lowering) override {
    GraphBuilder &graph = lowering.graph;
    const auto lanes = static_cast<int64_t>(graph.lanes());
    RowTensor x = lowering.rows(op->getOperand(0));
    lowering.beginGroup(ops);
    x = lowering.materialise(std::move(x));
    RowTensor result{lowering.layoutOf(op->getResult(0)), {}};
    for (int64_t row = 0; row < result.layout.rows(); ++row) {
      // The elements of a row lie in the same lane of different source rows.
      std::vector<BlockWrite> writes;
      int64_t lane = 0;
      for (int64_t i = 0; i < result.layout.used(row); ++i) {
        const RowLayout::Place place = x.layout.place(result.layout.flat(row, i));
        writes.push_back({x.rows[place.row].row, static_cast<uint32_t>(i)});
        lane = place.lane;
      }
      std::vector<double> unit(lanes);
      unit[lane] = 1;
      std::vector<Term> terms = {{graph.constant(unit), graph.dynamicBlock(false, writes)}};
      result.rows.push_back(
          {graph.linear(std::move(terms), {}, static_cast<uint32_t>(writes.size()), false),
           false,
           {}});
    }
    return result;
  }

  void addReads(Lowering &, llvm::SmallVectorImpl<Value> &reads) override {
    reads.push_back(op->getOperand(0));
  }

private:
  Operation *op;
};

} // namespace

std::unique_ptr<Lazy> lowerRelayout(Operation *op) { return std::make_unique<LazyRelayout>(op); }

bool isDynamic(Operation *op, const Loops &loops) {
  const Value lhs = op->getOperand(0), rhs = op->getOperand(1);
  if (!ir::isConstant(lhs) && !ir::isConstant(rhs))
    return true;
  if (auto contract = llvm::dyn_cast<ir::ContractOp>(op); contract && contract.getBanded())
    return false;
  const OptionalLoop lane =
      ir::isConstant(lhs) ? laneLoop(rhs, loops.rhsAxes) : laneLoop(lhs, loops.lhsAxes);
  return lane && contains(loops.resultAxes, *lane);
}

std::optional<unsigned> sideOfWeights(Operation *op, const Loops &loops) {
  const std::optional<Form> form = formOf(op, loops);
  return form ? std::optional(form->weightsLeft ? 0U : 1U) : std::nullopt;
}

std::optional<size_t> axisOfConstant(Operation *op, const Loops &loops) {
  const std::optional<Form> form = formOf(op, loops);
  if (!form)
    return std::nullopt;
  const std::vector<size_t> &axes = form->weightsLeft ? loops.rhsAxes : loops.lhsAxes;
  return std::ranges::find(axes, form->in) - axes.begin();
}

std::unique_ptr<Lazy> lowerDynamic(Operation *op, const Loops &loops) {
  return std::make_unique<LazyDynamic>(op, loops);
}

} // namespace sluice::rows
