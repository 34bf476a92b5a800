// Max, Min, Sum, Mean: one map of any number of operands.
#include <algorithm>

#include "compiler/frontend/onnx/ops/common.h"
#include "compiler/frontend/onnx/ops/families.h"
#include "compiler/frontend/onnx/ops/known_integers.h"

namespace sluice::frontend::ops {
namespace {

namespace arith = mlir::arith;

/// Folds the operands by `Op`, from the left; with `average` divided by their number.
template <typename Op>
Operator variadic(const char *name, const char *result, const char *form, bool average = false) {
  Operator entry;
  entry.name = name;
  entry.form = form;
  entry.inputs = {{"data_0", Types::Float, Presence::Variadic}};
  entry.outputs = {{result}};
  entry.requirements = {sameTypes(), broadcastable()};
  entry.build = [average](NodeBuilder &node) {
    std::vector<Tensor> operands;
    for (size_t i = 0; i < node.inputCount(); ++i)
      operands.push_back(node.in(i));
    if (operands.size() == 1) {
      node.result(operands.front());
      return;
    }
    node.result(node.emit.pointwise(operands, [average](const Scalars &s, mlir::ValueRange x) {
      mlir::Value y = x[0];
      for (size_t i = 1; i < x.size(); ++i)
        y = s.make<Op>(y, x[i]);
      return average ? s.scale(y, 1.0F / static_cast<float>(x.size())) : y;
    }));
  };
  return entry;
}

/// Also of integers.
Operator withIntegers(Operator entry, int64_t (*function)(int64_t, int64_t)) {
  entry.integers = {IntegerRule::Kind::Selected, [](const NodeView &node) {
                      IntegerRange range = rangeOf(node.in(0));
                      for (size_t i = 1; i < node.inputCount(); ++i)
                        range = joined(range, rangeOf(node.in(i)));
                      return range;
                    }};
  entry.inputs.front().types = Types::Numeric;
  entry.evaluate = [function, build = entry.build](NodeBuilder &node) {
    if (node.in(0).known->isFloat())
      return build(node);
    resultOfIntegers(node, node.in(0).type, [&](const std::vector<int64_t> &at) {
      int64_t result = node.knownInts(0)[at[0]];
      for (size_t i = 1; i < at.size(); ++i)
        result = function(result, node.knownInts(i)[at[i]]);
      return result;
    });
  };
  return entry;
}

} // namespace

void addVariadic(OperatorTable &table) {
  const std::vector<int64_t> since = {6, 8, 13};
  const Operator most = variadic<arith::MaximumFOp>("Max", "max", "map: max(a, b, ...)");
  const Operator least = variadic<arith::MinimumFOp>("Min", "min", "map: min(a, b, ...)");
  table.add({6, 8}, most);
  table.add({6, 8}, least);
  table.add({12, 13}, withIntegers(most, [](int64_t a, int64_t b) { return std::max(a, b); }));
  table.add({12, 13}, withIntegers(least, [](int64_t a, int64_t b) { return std::min(a, b); }));
  table.add(since, variadic<arith::AddFOp>("Sum", "sum", "map: a + b + ..."));
  table.add(since, variadic<arith::AddFOp>("Mean", "mean", "map: (a + b + ...) / n", true));
}

} // namespace sluice::frontend::ops
