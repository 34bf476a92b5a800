// Softmax: reductions and maps.
#include <numeric>

#include "compiler/frontend/onnx/ops/common.h"
#include "compiler/frontend/onnx/ops/families.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace sluice::frontend::ops {
namespace {

namespace arith = mlir::arith;

/// exp(x - max(x)) / sum(exp(x - max(x))) over `axes`.
Tensor softmax(Emitter &emit, const Tensor &x, const Shape &axes) {
  Tensor peak = emit.reduce(ir::Monoid::Max, x, axes, true);
  Tensor power =
      emit.pointwise({x, peak}, [](mlir::OpBuilder &b, mlir::Location where, mlir::ValueRange v) {
        return b.create<mlir::math::ExpOp>(where, b.create<arith::SubFOp>(where, v[0], v[1]));
      });
  Tensor sum = emit.reduce(ir::Monoid::Sum, power, axes, true);
  return emit.pointwise({power, sum},
                        [](mlir::OpBuilder &b, mlir::Location where, mlir::ValueRange v) {
                          return b.create<arith::DivFOp>(where, v[0], v[1]);
                        });
}

/// Up to opset 12 the axes from `axis` on are one; from 13 on it is `axis` alone.
Operator entryFor(bool flattens) {
  Operator entry;
  entry.name = "Softmax";
  entry.form = "reduce max, map exp(x - max), reduce sum, map e / sum; over ";
  entry.form += flattens ? "the axes from 'axis' on" : "'axis'";
  entry.inputs = {{"input"}};
  entry.outputs = {{"output"}};
  entry.attributes = {{"axis", AttributeKind::Int, int64_t{flattens ? 1 : -1}}};
  entry.requirements = {axisInRange("input")};
  entry.build = [flattens](NodeBuilder &node) {
    const Tensor &x = node.in(0);
    int64_t first = node.axis(node.integer("axis"), x.rank());
    Shape axes(flattens ? x.rank() - first : 1);
    std::iota(axes.begin(), axes.end(), first);
    node.result(softmax(node.emit, x, axes));
  };
  return entry;
}

} // namespace

void addSoftmax(OperatorTable &table) {
  table.add({1, 11}, entryFor(true));
  table.add({13}, entryFor(false));
}

} // namespace sluice::frontend::ops
