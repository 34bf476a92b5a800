#include "compiler/transforms/passes.h"

#include "compiler/dialect/sluice/operations.h"
#include "compiler/transforms/line_writer.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace sluice::ir {

#define GEN_PASS_DEF_EXPANDREDUCTIONS
#include "compiler/transforms/passes.h.inc"

namespace {

/// log(sum) + peak
Value logPlus(LineWriter &write, Value sum, Value peak) {
  return write.map({sum, peak}, [](OpBuilder &b, Location where, ValueRange v) -> Value {
    return b.create<arith::AddFOp>(where, b.create<math::LogOp>(where, v[0]), v[1]);
  });
}

Value logSumExp(LineWriter &write, ReduceOp op) {
  const Value x = op.getInput();
  const Value peak = write.finite(write.reduce(Monoid::Max, x, op.getAxes()));
  return logPlus(write, write.reduce(Monoid::Sum, write.power(x, peak), op.getAxes()), peak);
}

/// The sums of equal parts of a line, each of distances from the maximum of its part, so that a
/// part needs no element of another one.
Value logSumExp(LineWriter &write, ReduceOp op, int64_t parts) {
  const Value x = op.getInput();
  const int64_t elements = op.getInput().getType().getNumElements();
  const Value line = write.reshape(x, {parts, elements / parts}, 1);
  const Value peaks = write.finite(write.reduce(Monoid::Max, line, 1));
  const Value sums = write.reduce(Monoid::Sum, write.power(line, peaks), 1);
  const Value peak = write.reduce(Monoid::Max, peaks, 0);
  const Value shares = write.product(sums, write.power(peaks, peak));
  const Value kept = logPlus(write, write.reduce(Monoid::Sum, shares, 0), peak);
  const llvm::SmallVector<int64_t> ones(op.getInput().getType().getRank(), 1);
  return write.reshape(kept, ones, *dataDim(x));
}

struct ExpandReductions : impl::ExpandReductionsBase<ExpandReductions> {
  using ExpandReductionsBase::ExpandReductionsBase;

  void runOnOperation() override {
    getOperation()->walk([&](ReduceOp op) {
      if (op.getMonoid() != Monoid::LogSumExp)
        return;
      LineWriter write(op);
      const int64_t parts = partsOfLine(op, lanes, cores);
      replaceByKept(op, parts > 1 ? logSumExp(write, op, parts) : logSumExp(write, op));
    });
  }
};

} // namespace
} // namespace sluice::ir
