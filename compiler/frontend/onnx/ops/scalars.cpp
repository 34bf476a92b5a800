#include "compiler/frontend/onnx/ops/scalars.h"

namespace sluice::frontend::ops {

Operator unary(const char *name, const char *form, ScalarFunction function) {
  Operator entry;
  entry.name = name;
  entry.form = form;
  entry.inputs = {{"X"}};
  entry.outputs = {{"Y"}};
  entry.build = [function = std::move(function)](NodeBuilder &node) {
    node.result(node.emit.pointwise(
        {node.in(0)}, [&](mlir::OpBuilder &b, mlir::Location where, mlir::ValueRange x) {
          return function(Scalars{b, where}, x[0], node);
        }));
  };
  return entry;
}

} // namespace sluice::frontend::ops
