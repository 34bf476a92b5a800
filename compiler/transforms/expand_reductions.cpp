#include "compiler/transforms/passes.h"

#include "compiler/dialect/sluice/model_tensor.h"
#include "compiler/dialect/sluice/operations.h"
#include "compiler/transforms/line_writer.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace sluice::ir {

#define GEN_PASS_DEF_EXPANDREDUCTIONS
#include "compiler/transforms/passes.h.inc"

namespace {

/// Least rows of a part of a line.
constexpr int64_t kLeastRows = 16;

/// Writes operations in the place of a reduction.
class Expansion {
public:
  explicit Expansion(ReduceOp op) : op(op), write(op) {}

  void logSumExp() {
    const Value x = op.getInput();
    const Value peak = write.finite(write.reduce(Monoid::Max, x, op.getAxes()));
    replaceBy(logPlus(write.reduce(Monoid::Sum, write.power(x, peak), op.getAxes()), peak));
  }

  /// The sums of equal parts of a line, each of distances from the maximum of its part, so that a
  /// part needs no element of another one.
  void logSumExp(int64_t parts) {
    const Value x = op.getInput();
    const int64_t elements = op.getInput().getType().getNumElements();
    const Value line = write.reshape(x, {parts, elements / parts}, 1);
    const Value peaks = write.finite(write.reduce(Monoid::Max, line, 1));
    const Value sums = write.reduce(Monoid::Sum, write.power(line, peaks), 1);
    const Value peak = write.reduce(Monoid::Max, peaks, 0);
    const Value shares = write.product(sums, write.power(peaks, peak));
    const Value kept = logPlus(write.reduce(Monoid::Sum, shares, 0), peak);
    const llvm::SmallVector<int64_t> ones(op.getInput().getType().getRank(), 1);
    replaceBy(write.reshape(kept, ones, *dataDim(x)));
  }

private:
  /// log(sum) + peak
  Value logPlus(Value sum, Value peak) {
    return write.map({sum, peak}, [](OpBuilder &b, Location where, ValueRange v) -> Value {
      return b.create<arith::AddFOp>(where, b.create<math::LogOp>(where, v[0]), v[1]);
    });
  }

  /// Puts a value with the reduced axes in the place of the reduction.
  void replaceBy(Value kept) {
    Value result = kept;
    if (!op.getKeepdims()) {
      OpBuilder builder(op);
      result = builder.create<SqueezeOp>(op.getLoc(), kept, op.getAxes());
      result.setType(op.getType());
    }
    replaceOp(op, result);
  }

  ReduceOp op;
  LineWriter write;
};

struct ExpandReductions : impl::ExpandReductionsBase<ExpandReductions> {
  using ExpandReductionsBase::ExpandReductionsBase;

  void runOnOperation() override {
    getOperation()->walk([&](ReduceOp op) {
      if (op.getMonoid() != Monoid::LogSumExp)
        return;
      Expansion expansion(op);
      if (const int64_t parts = partsOfLine(op, lanes, cores, kLeastRows); parts > 1)
        expansion.logSumExp(parts);
      else
        expansion.logSumExp();
    });
  }
};

} // namespace
} // namespace sluice::ir
