// The activation functions of recurrences, which are named by attributes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/frontend/onnx/scalars.h"

namespace sluice::frontend::ops {

/// A function of one scalar with its numbers.
struct RecurrentActivation {
  mlir::Value (*function)(const Scalars &, mlir::Value x, float alpha, float beta) = nullptr;
  float alpha = 0;
  float beta = 0;

  mlir::Value operator()(const Scalars &s, mlir::Value x) const {
    return function(s, x, alpha, beta);
  }
};

/// "Relu, Tanh, ...": all that ONNX names.
std::string recurrentActivationNames();

/// The functions of these names, in any case of their letters. Those that take an alpha take
/// the next of `alphas` while there is one, else the default of the ONNX operator of this name;
/// beta likewise. Nothing, and what is wrong in `found`, if a name is unknown, one without a
/// default lacks its number, or numbers are left over.
std::optional<std::vector<RecurrentActivation>>
recurrentActivations(const std::vector<std::string> &names, const std::vector<float> &alphas,
                     const std::vector<float> &betas, std::string &found);

} // namespace sluice::frontend::ops
