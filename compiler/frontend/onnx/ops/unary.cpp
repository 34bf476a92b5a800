#include "compiler/frontend/onnx/ops/unary.h"

namespace sluice::frontend::ops {

Operator unary(const char *name, const char *form, ScalarFunction function) {
  Operator entry;
  entry.name = name;
  entry.form = form;
  entry.inputs = {{"X"}};
  entry.outputs = {{"Y"}};
  entry.build = [function = std::move(function)](NodeBuilder &node) {
    node.result(node.emit.pointwise({node.in(0)}, [&](const Scalars &s, mlir::ValueRange x) {
      return function(s, x[0], node);
    }));
  };
  return entry;
}

Operator calledInput(Operator entry) {
  entry.inputs[0].name = "input";
  entry.outputs[0].name = "output";
  return entry;
}

Operator withIntegers(Operator entry, int64_t (*function)(int64_t), IntegerRule::Kind kind,
                      IntegerRange (*range)(const IntegerRange &operands)) {
  entry.integers = {kind, [range](const NodeView &node) { return range(rangeOf(node.in(0))); }};
  entry.inputs[0].types = Types::Numeric;
  entry.evaluate = [function, build = entry.build](NodeBuilder &node) {
    if (node.in(0).known->isFloat()) {
      build(node);
      return;
    }
    HostTensor out = *node.in(0).known;
    for (int64_t &value : out.ints)
      value = wrapToType(function(value), out.type);
    node.result(Tensor::ofKnown(std::move(out)));
  };
  return entry;
}

} // namespace sluice::frontend::ops
