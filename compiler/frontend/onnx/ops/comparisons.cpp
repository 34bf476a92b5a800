// Max, Min, Equal, Greater, Less, GreaterOrEqual, LessOrEqual, Not, And, Or,
// Xor, Where. A bool tensor is one of 0 and 1.
#include "compiler/frontend/onnx/ops/common.h"
#include "compiler/frontend/onnx/ops/families.h"
#include "compiler/frontend/onnx/ops/scalars.h"

namespace sluice::frontend::ops {
namespace {

namespace arith = mlir::arith;

using Combine = std::function<mlir::Value(const Scalars &, mlir::Value, mlir::Value)>;

/// A known tensor of integers or bools as one of floats.
Tensor asFloats(const Tensor &tensor) {
  if (!tensor.known || tensor.known->isFloat())
    return tensor;
  const std::vector<int64_t> &ints = tensor.known->ints;
  return Tensor::ofKnown(
      HostTensor::ofFloats(tensor.shape, std::vector<float>(ints.begin(), ints.end())));
}

Tensor ofType(Tensor tensor, DataType type) {
  tensor.type = type;
  return tensor;
}

template <typename Op> Operator extreme(const char *name, const char *form) {
  Operator entry;
  entry.name = name;
  entry.form = form;
  entry.inputs = {{"data_0", Types::Float, Presence::Variadic}};
  entry.outputs = {{name[1] == 'a' ? "max" : "min"}};
  entry.requirements = {sameTypes(), broadcastable()};
  entry.build = [](NodeBuilder &node) {
    std::vector<Tensor> operands;
    for (size_t i = 0; i < node.inputCount(); ++i)
      operands.push_back(node.in(i));
    if (operands.size() == 1) {
      node.result(operands.front());
      return;
    }
    node.result(node.emit.pointwise(
        operands, [](mlir::OpBuilder &b, mlir::Location where, mlir::ValueRange x) {
          mlir::Value y = x[0];
          for (size_t i = 1; i < x.size(); ++i)
            y = b.create<Op>(where, y, x[i]);
          return y;
        }));
  };
  return entry;
}

mlir::Value isTrue(const Scalars &s, mlir::Value x) {
  return s.make<arith::CmpFOp>(arith::CmpFPredicate::UNE, x, s.constant(0));
}

mlir::Value asNumber(const Scalars &s, mlir::Value test) {
  return s.make<arith::UIToFPOp>(s.b.getF32Type(), test);
}

/// Requires bools: the inputs before `count`.
Requirement boolInputs(size_t count) {
  return {count == 1 ? "the first input is bool" : "the inputs are bool",
          [count](const NodeView &node) -> std::string {
            for (size_t i = 0; i < count; ++i)
              if (node.in(i).type != onnx::TensorProto::BOOL)
                return dataTypeName(node.in(i).type);
            return "";
          },
          "E0206"};
}

/// A function of two operands with a bool result.
Operator test(const char *name, const char *form, Types types, Combine combine) {
  Operator entry;
  entry.name = name;
  entry.form = form;
  entry.inputs = {{"A", types}, {"B", types}};
  entry.outputs = {{"C"}};
  entry.requirements = {sameTypes(), broadcastable()};
  if (types == Types::Any)
    entry.requirements.push_back(boolInputs(2));
  entry.build = [combine = std::move(combine)](NodeBuilder &node) {
    node.result(ofType(
        node.emit.pointwise({asFloats(node.in(0)), asFloats(node.in(1))},
                            [&](mlir::OpBuilder &b, mlir::Location where, mlir::ValueRange x) {
                              Scalars s{b, where};
                              return asNumber(s, combine(s, x[0], x[1]));
                            }),
        onnx::TensorProto::BOOL));
  };
  return entry;
}

Operator comparison(const char *name, const char *form, arith::CmpFPredicate predicate) {
  return test(name, form, Types::Float,
              [predicate](const Scalars &s, mlir::Value l, mlir::Value r) {
                return s.make<arith::CmpFOp>(predicate, l, r);
              });
}

template <typename Op> Operator logical(const char *name, const char *form) {
  return test(name, form, Types::Any, [](const Scalars &s, mlir::Value l, mlir::Value r) {
    return s.make<Op>(isTrue(s, l), isTrue(s, r));
  });
}

Operator negation() {
  Operator entry;
  entry.name = "Not";
  entry.form = "map: 1 - x";
  entry.inputs = {{"X", Types::Any}};
  entry.outputs = {{"Y"}};
  entry.requirements = {boolInputs(1)};
  entry.build = [](NodeBuilder &node) {
    node.result(ofType(
        node.emit.pointwise({asFloats(node.in(0))},
                            [](mlir::OpBuilder &b, mlir::Location where, mlir::ValueRange x) {
                              Scalars s{b, where};
                              return s.sub(s.constant(1), x[0]);
                            }),
        onnx::TensorProto::BOOL));
  };
  return entry;
}

Operator where() {
  Operator entry;
  entry.name = "Where";
  entry.form = "map: condition ? x : y";
  entry.inputs = {{"condition", Types::Any}, {"X"}, {"Y"}};
  entry.outputs = {{"output"}};
  entry.requirements = {boolInputs(1),
                        {"inputs 'X' and 'Y' have the same element type",
                         [](const NodeView &node) -> std::string {
                           return node.in(1).type == node.in(2).type
                                      ? ""
                                      : dataTypeName(node.in(1).type) + " and " +
                                            dataTypeName(node.in(2).type);
                         },
                         "E0206"},
                        broadcastable()};
  entry.build = [](NodeBuilder &node) {
    node.result(ofType(
        node.emit.pointwise({asFloats(node.in(0)), node.in(1), node.in(2)},
                            [](mlir::OpBuilder &b, mlir::Location where, mlir::ValueRange x) {
                              Scalars s{b, where};
                              return s.make<arith::SelectOp>(isTrue(s, x[0]), x[1], x[2]);
                            }),
        node.in(1).type));
  };
  return entry;
}

} // namespace

void addComparisons(OperatorTable &table) {
  using P = arith::CmpFPredicate;
  table.add({6, 8, 12, 13}, extreme<arith::MaximumFOp>("Max", "map: max(a, b, ...)"));
  table.add({6, 8, 12, 13}, extreme<arith::MinimumFOp>("Min", "map: min(a, b, ...)"));
  table.add({7, 11, 13, 19}, comparison("Equal", "map: a == b", P::OEQ));
  table.add({7, 9, 13}, comparison("Greater", "map: a > b", P::OGT));
  table.add({7, 9, 13}, comparison("Less", "map: a < b", P::OLT));
  table.add({12, 16}, comparison("GreaterOrEqual", "map: a >= b", P::OGE));
  table.add({12, 16}, comparison("LessOrEqual", "map: a <= b", P::OLE));
  table.add({1}, negation());
  table.add({7}, logical<arith::AndIOp>("And", "map: a and b"));
  table.add({7}, logical<arith::OrIOp>("Or", "map: a or b"));
  table.add({7}, logical<arith::XOrIOp>("Xor", "map: a xor b"));
  table.add({9, 16}, where());
}

} // namespace sluice::frontend::ops
