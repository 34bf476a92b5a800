// What operators share that multiply quantised tensors.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "compiler/frontend/onnx/ops/quantised.h"

namespace sluice::frontend::ops {

/// The places of the operands, the result and the bias among the inputs of an operator. 0 stands
/// for an input that the operator does not have.
struct ProductInputs {
  size_t a = 0, aScale = 0, aZero = 0, b = 0, bScale = 0, bZero = 0, yScale = 0, yZero = 0,
         bias = 0;
};

/// The columns of b, or its output channels.
using FeatureCount = std::function<int64_t(const NodeView &)>;

/// Requires b to be bytes, its scale and its zero point to have one element, or one per `feature`,
/// and the operand named `a` to be bytes too. `a` is null if that operand is quantised on the way.
std::vector<Requirement> quantisedOperands(const ProductInputs &at, const char *a, const char *b,
                                           const char *feature, const FeatureCount &count);

/// Requires the scale and the zero point of input `a` and of the result to have one element each,
/// and all scales to be positive.
std::vector<Requirement> quantisedResult(const ProductInputs &at, const std::string &a,
                                         const std::string &b);

/// The number of columns of b.
FeatureCount columnsOf(const ProductInputs &at);

/// Requires the operands to have the shapes of a product of matrices.
Requirement productFits(const ProductInputs &at);

/// The product of the integers of both operands less their zero points.
Tensor integerProduct(NodeBuilder &node, const ProductInputs &at);

/// Restores or quantises sums of products, whose features lie along `axis`: (sums + bias) * `alpha`
/// * scales of a and b, and if the result has a scale, round(that / scale) + zero point.
Tensor rescaled(NodeBuilder &node, const ProductInputs &at, const Tensor &sums, const Tensor &bias,
                int64_t axis, double alpha = 1);

/// A bias of 0.
Tensor noBias();

} // namespace sluice::frontend::ops
