#include "compiler/transforms/passes.h"

#include "compiler/dialect/sluice/model_tensor.h"
#include "compiler/dialect/sluice/operations.h"
#include "compiler/reference/scalar.h"
#include "compiler/transforms/line_writer.h"
#include "compiler/transforms/map_operands.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace sluice::ir {

#define GEN_PASS_DEF_SOFTMAXINPARTS
#include "compiler/transforms/passes.h.inc"

namespace {

using reference::Function;

/// Least rows whose exponentials no longer wait for the end of the line. With fewer, the merge of
/// the parts takes longer than the wait.
constexpr int64_t kLeastAhead = 45;

/// Returns the operation that computes the result of a map, if it computes this function.
Operation *resultOf(MapOp map, Function function) {
  Operation *op = lastOf(map);
  return op && reference::functionOf(op) == function ? op : nullptr;
}

/// Returns x and y of exp(x - y), computed in one map or in two.
std::optional<OfTwo> exponentOf(Value power) {
  auto map = power.getDefiningOp<MapOp>();
  Operation *exp = resultOf(map, Function::Exp);
  if (!exp)
    return std::nullopt;
  if (const Value operand = operandOf(map, exp->getOperand(0))) {
    map = operand.getDefiningOp<MapOp>();
    return operandsOf(map, resultOf(map, Function::Sub));
  }
  Operation *difference = exp->getOperand(0).getDefiningOp();
  return reference::functionOf(difference) == Function::Sub ? operandsOf(map, difference)
                                                            : std::nullopt;
}

/// Returns the reduction of which a value is the broadcast, or null.
ReduceOp reductionOf(Value value) {
  auto broadcast = value.getDefiningOp<BroadcastOp>();
  return broadcast ? broadcast.getInput().getDefiningOp<ReduceOp>() : ReduceOp();
}

/// exp(x - max(x)) of one line, its sum, and its quotients by the sum.
class Softmax {
public:
  /// Returns the softmax that a sum belongs to, if nothing else reads its exponentials.
  static std::optional<Softmax> of(ReduceOp sum) {
    const auto exponent = sum.getMonoid() == Monoid::Sum && sum.getKeepdims()
                              ? exponentOf(sum.getInput())
                              : std::nullopt;
    ReduceOp peak = exponent ? reductionOf(exponent->second) : ReduceOp();
    if (!peak || peak.getMonoid() != Monoid::Max || !peak.getKeepdims() ||
        peak.getInput() != exponent->first || peak.getAxes() != sum.getAxes())
      return std::nullopt;
    Softmax result{sum, peak, {}};
    for (Operation *reader : sum.getInput().getUsers()) {
      auto map = llvm::dyn_cast<MapOp>(reader);
      const auto quotient = operandsOf(map, resultOf(map, Function::Div));
      const bool isQuotient =
          quotient && quotient->first == sum.getInput() && reductionOf(quotient->second) == sum;
      if (isQuotient)
        result.quotients.push_back(map);
      else if (reader != sum)
        return std::nullopt;
    }
    return result;
  }

  void divide(int64_t parts) {
    const Value x = peak.getInput();
    const auto shape = llvm::to_vector(shapeOf(x));
    const int64_t dim = *dataDim(x), elements = peak.getInput().getType().getNumElements();
    const llvm::SmallVector<int64_t> ones(shape.size(), 1);
    LineWriter write(peak);
    const Value line = write.reshape(x, {parts, elements / parts}, 1);
    const Value exactPeaks = write.reduce(Monoid::Max, line, 1);
    const Value peaks = write.finite(exactPeaks);
    const Value powers = write.power(line, peaks);
    const Value shares = write.power(peaks, write.reduce(Monoid::Max, peaks, 0));
    const Value sums = write.product(write.reduce(Monoid::Sum, powers, 1), shares);
    const Value total = write.reduce(Monoid::Sum, sums, 0);
    for (MapOp quotient : quotients) {
      LineWriter at(quotient);
      const Value result = at.product(powers, at.quotient(shares, total));
      replaceOp(quotient, at.reshape(result, shape, dim));
    }
    LineWriter after(sum);
    replaceOp(sum, after.reshape(total, ones, dim));
    replaceOp(peak, write.reshape(write.reduce(Monoid::Max, exactPeaks, 0), ones, dim));
  }

private:
  Softmax(ReduceOp sum, ReduceOp peak, llvm::SmallVector<MapOp, 1> quotients)
      : sum(sum), peak(peak), quotients(std::move(quotients)) {}

  ReduceOp sum, peak;
  llvm::SmallVector<MapOp, 1> quotients;
};

struct SoftmaxInParts : impl::SoftmaxInPartsBase<SoftmaxInParts> {
  using SoftmaxInPartsBase::SoftmaxInPartsBase;

  void runOnOperation() override {
    llvm::SmallVector<ReduceOp> sums;
    getOperation()->walk([&](ReduceOp op) { sums.push_back(op); });
    for (ReduceOp sum : sums) {
      const int64_t parts = partsOfLine(sum, lanes, cores);
      const int64_t rows = sum.getInput().getType().getNumElements() / lanes;
      const int64_t together = std::min<int64_t>(parts, cores);
      if (rows - rows / together < kLeastAhead)
        continue;
      if (auto softmax = Softmax::of(sum))
        softmax->divide(parts);
    }
  }
};

} // namespace
} // namespace sluice::ir
