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

} // namespace sluice::frontend::ops
