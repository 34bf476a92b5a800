// Maps: the body becomes an expression, whose rows are made when needed.
#include <cmath>
#include <limits>

#include "compiler/conversion/rows/lazy_map.h"
#include "compiler/conversion/rows/models.h"
#include "compiler/dialect/sluice/operations.h"
#include "compiler/reference/scalar.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace sluice::rows {
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

/// Binary operations by name. Booleans are 0 and 1.
std::optional<ScalarOp> binaryOf(Operation &op) {
  if (auto compare = llvm::dyn_cast<arith::CmpFOp>(op))
    return comparison(compare.getPredicate());
  static const llvm::StringMap<ScalarOp> table = {
      {"arith.addf", ScalarOp::Add},     {"arith.subf", ScalarOp::Sub},
      {"arith.mulf", ScalarOp::Mul},     {"arith.divf", ScalarOp::Div},
      {"arith.maximumf", ScalarOp::Max}, {"arith.minimumf", ScalarOp::Min},
      {"arith.maxnumf", ScalarOp::Max},  {"arith.minnumf", ScalarOp::Min},
      {"arith.andi", ScalarOp::Mul},     {"arith.ori", ScalarOp::Max},
      {"arith.xori", ScalarOp::Ne}};
  const auto found = table.find(op.getName().getStringRef());
  return found == table.end() ? std::nullopt : std::optional(found->second);
}

/// A periodic function as the machine has it. A table window of 16 exponents from
/// where sin(x) is no longer x ends at 4096; from 1024 on neighbours in bf16 are
/// more than a period apart. Larger arguments give NaN, so they are noticed.
template <double (*F)(double)> double periodic(const double *x) {
  return std::fabs(x[0]) < 4096 ? F(x[0]) : std::numeric_limits<double>::quiet_NaN();
}

ScalarCall functionOf(Operation &op) {
  return llvm::StringSwitch<ScalarCall>(op.getName().getStringRef())
      .Case("math.sin", periodic<std::sin>)
      .Case("math.cos", periodic<std::cos>)
      .Case("math.tan", periodic<std::tan>)
      .Default(reference::scalarStep(&op));
}

NodeId importOperation(Expr &expr, Operation &op, const std::vector<NodeId> &args) {
  if (auto constant = llvm::dyn_cast<arith::ConstantOp>(op)) {
    if (auto real = llvm::dyn_cast<FloatAttr>(constant.getValue()))
      return expr.constant(real.getValueAsDouble());
    return expr.constant(llvm::cast<IntegerAttr>(constant.getValue()).getValue().isZero() ? 0 : 1);
  }
  if (const auto binary = binaryOf(op))
    return expr.binary(*binary, args[0], args[1]);
  const llvm::StringRef name = op.getName().getStringRef();
  if (name == "arith.select")
    return expr.select(args[0], args[1], args[2]);
  if (name == "arith.negf")
    return expr.binary(ScalarOp::Mul, args[0], expr.constant(-1));
  if (name == "arith.uitofp")
    return args[0];
  if (name == "math.fma")
    return expr.binary(ScalarOp::Add, expr.binary(ScalarOp::Mul, args[0], args[1]), args[2]);
  return expr.call(name.str(), functionOf(op), args);
}

/// The body's result as a node, for nodes that stand for its arguments.
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
