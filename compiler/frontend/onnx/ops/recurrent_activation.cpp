#include "compiler/frontend/onnx/ops/recurrent_activation.h"

#include <algorithm>

#include <fmt/format.h>

#include "llvm/ADT/StringRef.h"

#include "compiler/frontend/onnx/report.h"

namespace sluice::frontend::ops {
namespace {

/// A number that a function takes, with the default it may have.
struct Parameter {
  bool taken = false;
  std::optional<float> byDefault = std::nullopt;
};

struct NamedActivation {
  const char *name;
  mlir::Value (*function)(const Scalars &, mlir::Value, float, float);
  Parameter alpha = {}, beta = {};
};

const NamedActivation kActivations[] = {
    {"Relu", [](const Scalars &s, mlir::Value x, float, float) { return s.relu(x); }},
    {"Tanh",
     [](const Scalars &s, mlir::Value x, float, float) -> mlir::Value {
       return s.make<mlir::math::TanhOp>(x);
     }},
    {"Sigmoid", [](const Scalars &s, mlir::Value x, float, float) { return s.sigmoid(x); }},
    {"Affine",
     [](const Scalars &s, mlir::Value x, float alpha, float beta) {
       return s.add(s.scale(x, alpha), s.constant(beta));
     },
     {true},
     {true}},
    {"LeakyRelu",
     [](const Scalars &s, mlir::Value x, float alpha, float) { return s.leakyRelu(x, alpha); },
     {true, 0.01F}},
    {"ThresholdedRelu",
     [](const Scalars &s, mlir::Value x, float alpha, float) {
       return s.thresholdedRelu(x, alpha);
     },
     {true, 1.0F}},
    {"ScaledTanh",
     [](const Scalars &s, mlir::Value x, float alpha, float beta) {
       return s.scale(s.make<mlir::math::TanhOp>(s.scale(x, beta)), alpha);
     },
     {true},
     {true}},
    {"HardSigmoid",
     [](const Scalars &s, mlir::Value x, float alpha, float beta) {
       return s.hardSigmoid(x, alpha, beta);
     },
     {true, 0.2F},
     {true, 0.5F}},
    {"Elu",
     [](const Scalars &s, mlir::Value x, float alpha, float) { return s.elu(x, alpha); },
     {true, 1.0F}},
    {"Softsign", [](const Scalars &s, mlir::Value x, float, float) { return s.softsign(x); }},
    {"Softplus", [](const Scalars &s, mlir::Value x, float, float) { return s.softplus(x); }},
};

} // namespace

std::string recurrentActivationNames() {
  std::vector<std::string> names;
  for (const NamedActivation &one : kActivations)
    names.emplace_back(one.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

std::optional<std::vector<RecurrentActivation>>
recurrentActivations(const std::vector<std::string> &names, const std::vector<float> &alphas,
                     const std::vector<float> &betas, std::string &found) {
  auto alpha = alphas.begin(), beta = betas.begin();
  std::vector<RecurrentActivation> out;
  for (const std::string &name : names) {
    const auto *one = std::find_if(std::begin(kActivations), std::end(kActivations),
                                   [&](const NamedActivation &known) {
                                     return llvm::StringRef(name).equals_insensitive(known.name);
                                   });
    if (one == std::end(kActivations)) {
      found = inQuotes(name);
      return std::nullopt;
    }
    const auto number = [&](const Parameter &parameter, auto &next, const std::vector<float> &list,
                            const char *what) -> std::optional<float> {
      if (!parameter.taken)
        return 0.0F;
      if (next != list.end())
        return *next++;
      if (!parameter.byDefault)
        found = fmt::format("no {} for {}, which has no default", what, one->name);
      return parameter.byDefault;
    };
    const auto a = number(one->alpha, alpha, alphas, "alpha");
    const auto b = number(one->beta, beta, betas, "beta");
    if (!a || !b)
      return std::nullopt;
    out.push_back({one->function, *a, *b});
  }
  for (const auto &[what, left] :
       {std::pair("alpha", alphas.end() - alpha), std::pair("beta", betas.end() - beta)})
    if (left != 0) {
      found = fmt::format("{} {} too many", left, what);
      return std::nullopt;
    }
  return out;
}

} // namespace sluice::frontend::ops
