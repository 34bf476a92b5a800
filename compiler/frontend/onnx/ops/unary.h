// The entries of operators that are one function of one operand.
#pragma once

#include <functional>

#include "compiler/frontend/onnx/node_view.h"
#include "compiler/frontend/onnx/operator.h"
#include "compiler/frontend/onnx/scalars.h"

namespace sluice::frontend::ops {

using ScalarFunction = std::function<mlir::Value(const Scalars &, mlir::Value, const NodeView &)>;

/// One input 'X', one output 'Y', and what becomes of an element.
Operator unary(const char *name, const char *form, ScalarFunction function);
/// The same of one scalar operation.
template <typename Op> Operator unary(const char *name, const char *form) {
  return unary(name, form,
               [](const Scalars &s, mlir::Value x, const NodeView &) { return s.make<Op>(x); });
}

/// The same with its input called 'input' and its output 'output'.
Operator calledInput(Operator entry);

/// The entry for integers too: known at import `function` of each, in their type, and computed the
/// map, whose results are in `range`.
Operator withIntegers(Operator entry, int64_t (*function)(int64_t), IntegerRule::Kind kind,
                      IntegerRange (*range)(const IntegerRange &operands));

} // namespace sluice::frontend::ops
