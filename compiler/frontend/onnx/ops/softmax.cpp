// Softmax and LogSoftmax: reductions and maps.
#include "compiler/frontend/onnx/ops/softmax.h"

#include <numeric>

#include "compiler/dialect/sluice/attributes.h"
#include "compiler/frontend/onnx/ops/common.h"
#include "compiler/frontend/onnx/ops/families.h"

namespace sluice::frontend::ops {

Tensor softmax(Emitter &emit, const Tensor &x, const Shape &axes, bool logarithm) {
  Tensor peak = emit.reduce(ir::Monoid::Max, x, axes, true);
  Tensor power = emit.pointwise({x, peak}, [](const Scalars &s, mlir::ValueRange v) {
    return s.make<mlir::math::ExpOp>(s.sub(v[0], v[1]));
  });
  Tensor sum = emit.reduce(ir::Monoid::Sum, power, axes, true);
  if (!logarithm)
    return emit.pointwise({power, sum},
                          [](const Scalars &s, mlir::ValueRange v) { return s.div(v[0], v[1]); });
  Tensor log = emit.pointwise(
      {sum}, [](const Scalars &s, mlir::ValueRange v) { return s.make<mlir::math::LogOp>(v[0]); });
  return emit.pointwise({x, peak, log}, [](const Scalars &s, mlir::ValueRange v) {
    return s.sub(s.sub(v[0], v[1]), v[2]);
  });
}

namespace {

/// Up to opset 12 the axes from `axis` on are one; from 13 on it is `axis` alone.
Operator entryFor(bool flattens, bool logarithm) {
  Operator entry;
  entry.name = logarithm ? "LogSoftmax" : "Softmax";
  entry.form = "reduce max, map exp(x - max), reduce sum, map ";
  entry.form += logarithm ? "x - max - log(sum); over " : "e / sum; over ";
  entry.form += flattens ? "the axes from 'axis' on" : "'axis'";
  entry.inputs = {{"input"}};
  entry.outputs = {{"output"}};
  entry.attributes = {{"axis", AttributeKind::Int, int64_t{flattens ? 1 : -1}}};
  entry.requirements = {axisInRange("input")};
  entry.build = [flattens, logarithm](NodeBuilder &node) {
    const Tensor &x = node.in(0);
    int64_t first = node.axis(node.integer("axis"), x.rank());
    Shape axes(flattens ? x.rank() - first : 1);
    std::iota(axes.begin(), axes.end(), first);
    node.result(softmax(node.emit, x, axes, logarithm));
  };
  return entry;
}

} // namespace

void addSoftmax(OperatorTable &table) {
  for (bool logarithm : {false, true}) {
    table.add({1, 11}, entryFor(true, logarithm));
    table.add({13}, entryFor(false, logarithm));
  }
}

} // namespace sluice::frontend::ops
