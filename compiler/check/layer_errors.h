// How far every tensor of a model that a program computes is from what it should be.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "compiler/check/bound.h"
#include "compiler/check/oracle.h"
#include "compiler/reference/tensor.h"
#include "compiler/support/problem.h"
#include "runtime/format/program.h"

namespace sluice::check {

/// Where in the data: a sample, which is a sequence of steps, and the step.
struct Moment {
  uint64_t sample = 0, step = 0;
};

/// The errors of a tensor over all samples and steps.
struct TensorError {
  TensorError(std::string tensor, NodeRef node, reference::Shape shape)
      : tensor(std::move(tensor)), node(std::move(node)), shape(std::move(shape)) {}

  std::string tensor;
  NodeRef node; ///< that makes it
  reference::Shape shape;
  uint64_t elements = 0;     ///< that were compared
  uint64_t checked = 0;      ///< elements that have a bound
  uint64_t beyond = 0;       ///< elements beyond their bounds
  double largestError = 0;   ///< infinite where only one side is a number
  double meanError = 0;      ///< of the elements that are finite on both sides
  std::optional<double> snr; ///< in dB; empty: no error
  double range = 0;          ///< largest less smallest finite reference
  double magnitude = 0;      ///< of the largest finite element that the program computes
  /// Of the elements with a bound, the one with the largest error.
  std::optional<CheckedElement> largest;
  /// Of these, the one with the largest share of its bound.
  std::optional<CheckedElement> worst;
  Moment worstAt;
  Moment firstBeyond; ///< if an element is beyond its bound: the earliest step, then sample

  [[nodiscard]] bool isWrong() const { return beyond > 0; }
};

struct LayerErrors {
  /// Tensors in the order of the graph that the program computes as such.
  std::vector<TensorError> layers;
  /// In the values of the model, without bounds.
  std::vector<TensorError> outputs;
  /// Tensors of which the program stores nothing, as those inside of fused operations.
  std::vector<std::pair<std::string, NodeRef>> unseen;
  /// The layer that is wrong in the earliest step, of several the first in the graph.
  std::optional<size_t> firstWrong;
  /// Nodes between the first wrong tensor and the tensors before it that were compared.
  std::vector<NodeRef> before;
};

struct LayerOptions {
  ProgramFacts facts;
  /// Each a tensor for every argument of the function, by step.
  std::vector<std::vector<reference::Tensors>> samples;
  /// Returns a tensor of another runtime that stands for the graph's, or null.
  std::function<const reference::Tensor *(const std::string &tensor, Moment)> other;
  /// Called with the outputs of the program, and what they should be, in the values of the model.
  std::function<void(Moment, const reference::Tensors &found, const reference::Tensors &wanted)>
      outputs;
};

/// Runs a program on the `vm` engine and compares the tensors that it computes with the graph's,
/// evaluated in double. A program that stalls gives the reason.
std::variant<LayerErrors, std::string>
compareLayers(const Oracle &oracle, const format::Program &program, const LayerOptions &options);

/// Returns the node that makes a tensor of the graph.
NodeRef nodeOf(const frontend::GraphTensor &tensor);

} // namespace sluice::check
