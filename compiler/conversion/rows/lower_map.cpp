// Maps: the body becomes an expression, whose rows are made when needed.
#include "compiler/conversion/rows/lazy_map.h"
#include "compiler/conversion/rows/map_body.h"
#include "compiler/conversion/rows/models.h"
#include "compiler/conversion/scalar/constants.h"
#include "compiler/dialect/sluice/operations.h"
#include "compiler/reference/scalar.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace sluice::rows {

using reference::Function;

namespace {

/// Comparisons as the machine has them: false on NaN, but for "ne".
std::optional<ScalarOp> comparison(arith::CmpFPredicate predicate) {
  using P = arith::CmpFPredicate;
  switch (predicate) {
  case P::OEQ:
    return ScalarOp::Eq;
  case P::UNE:
    return ScalarOp::Ne;
  case P::OLT:
    return ScalarOp::Lt;
  case P::OLE:
    return ScalarOp::Le;
  case P::OGT:
    return ScalarOp::Gt;
  case P::OGE:
    return ScalarOp::Ge;
  default:
    return std::nullopt;
  }
}

/// Functions of two operands that are operations of the machine. Booleans are 0 and 1.
std::optional<ScalarOp> binaryOf(Operation &op, std::optional<Function> function) {
  if (auto compare = llvm::dyn_cast<arith::CmpFOp>(op))
    return comparison(compare.getPredicate());
  switch (function.value_or(Function::Select)) {
  case Function::Add:
    return ScalarOp::Add;
  case Function::Sub:
    return ScalarOp::Sub;
  case Function::Mul:
  case Function::And:
    return ScalarOp::Mul;
  case Function::Div:
    return ScalarOp::Div;
  case Function::Maximum:
  case Function::MaxNum:
  case Function::Or:
    return ScalarOp::Max;
  case Function::Minimum:
  case Function::MinNum:
    return ScalarOp::Min;
  case Function::Xor:
    return ScalarOp::Ne;
  default:
    return std::nullopt;
  }
}

NodeId importOperation(Expr &expr, Operation &op, const std::vector<NodeId> &args) {
  if (auto constant = llvm::dyn_cast<arith::ConstantOp>(op)) {
    if (auto real = llvm::dyn_cast<FloatAttr>(constant.getValue()))
      return expr.constant(withinBf16(real.getValueAsDouble()));
    return expr.constant(llvm::cast<IntegerAttr>(constant.getValue()).getValue().isZero() ? 0 : 1);
  }
  const std::optional<Function> function = reference::functionOf(&op);
  if (const auto binary = binaryOf(op, function))
    return expr.binary(*binary, args[0], args[1]);
  switch (*function) {
  case Function::Select:
    return expr.select(args[0], args[1], args[2]);
  case Function::Neg:
    return expr.binary(ScalarOp::Mul, args[0], expr.constant(-1));
  case Function::FromBool:
    return args[0];
  case Function::Fma:
    return expr.binary(ScalarOp::Add, expr.binary(ScalarOp::Mul, args[0], args[1]), args[2]);
  default:
    return expr.call(*function, args);
  }
}

} // namespace

NodeId importBody(Expr &expr, Region &body, const std::vector<NodeId> &arguments) {
  llvm::DenseMap<Value, NodeId> nodes;
  for (auto [argument, node] : llvm::zip_equal(body.getArguments(), arguments))
    nodes[argument] = node;
  for (Operation &op : body.front().without_terminator()) {
    std::vector<NodeId> args;
    for (Value operand : op.getOperands())
      args.push_back(nodes.at(operand));
    nodes[op.getResult(0)] = importOperation(expr, op, args);
  }
  return nodes.at(body.front().getTerminator()->getOperand(0));
}

namespace {

struct MapModel : RowsInterface::ExternalModel<MapModel, ir::MapOp> {
  void lowerToRows(Operation *op, Lowering &lowering) const {
    auto map = llvm::cast<ir::MapOp>(op);
    auto lazy = std::make_unique<LazyMap>(map.getResult());
    lazy->ops.insert(op);
    std::vector<NodeId> arguments;
    for (Value operand : map.getInputs())
      arguments.push_back(lazy->addOperand(lowering, operand));
    lazy->expr.result = importBody(lazy->expr, map.getBody(), arguments);
    lowering.defineLazy(map.getResult(), std::move(lazy));
  }
  bool takesAffine(Operation *, Lowering &) const { return false; }
};

} // namespace

void attachMapModel(MLIRContext &context) { ir::MapOp::attachInterface<MapModel>(context); }

} // namespace sluice::rows
