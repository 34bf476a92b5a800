// Sin, Cos, Tan, Asin, Acos, Atan, Sinh, Cosh, Asinh, Acosh, Atanh: maps of one operand.
#include "compiler/frontend/onnx/ops/common.h"
#include "compiler/frontend/onnx/ops/families.h"
#include "compiler/frontend/onnx/ops/unary.h"

namespace sluice::frontend::ops {

namespace math = mlir::math;

void addTrigonometry(OperatorTable &table) {
  table.add({7, 22}, calledInput(unary<math::SinOp>("Sin", "map: sin(x), NaN where |x| >= 4096")));
  table.add({7, 22}, calledInput(unary<math::CosOp>("Cos", "map: cos(x), NaN where |x| >= 4096")));
  table.add({7, 22}, calledInput(unary<math::TanOp>("Tan", "map: tan(x), NaN where |x| >= 4096")));
  table.add({7, 22}, calledInput(unary<math::AsinOp>("Asin", "map: asin(x)")));
  table.add({7, 22}, calledInput(unary<math::AcosOp>("Acos", "map: acos(x)")));
  table.add({7, 22}, calledInput(unary<math::AtanOp>("Atan", "map: atan(x)")));
  table.add({9, 22}, calledInput(unary<math::SinhOp>("Sinh", "map: sinh(x)")));
  table.add({9, 22}, calledInput(unary<math::CoshOp>("Cosh", "map: cosh(x)")));
  table.add({9, 22}, calledInput(unary<math::AsinhOp>("Asinh", "map: asinh(x)")));
  table.add({9, 22}, calledInput(unary<math::AcoshOp>("Acosh", "map: acosh(x)")));
  table.add({9, 22}, calledInput(unary<math::AtanhOp>("Atanh", "map: atanh(x)")));
}

} // namespace sluice::frontend::ops
