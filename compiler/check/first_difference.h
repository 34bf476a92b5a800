// Search for the first tensor of a model that a program computes wrongly.
#pragma once

#include <optional>
#include <string>

#include "compiler/check/oracle.h"
#include "compiler/reference/tensor.h"
#include "compiler/support/problem.h"
#include "runtime/format/program.h"

namespace sluice::check {

struct Difference {
  std::string tensor;
  NodeRef node; ///< the node that computes the tensor
};

/// Runs one inference and observes the rows that hold tensors of the model. Returns the first
/// tensor, in the order of the graph, with a row that never holds its value. Fused tensors have no
/// rows and are skipped. Returns nothing if no row differs, or if observing takes too long.
std::optional<Difference> firstDifference(const Oracle &oracle, const format::Program &program,
                                          const reference::Tensors &inputs);

/// Returns the node that computes a tensor of the graph.
NodeRef nodeOf(const frontend::GraphTensor &tensor);

} // namespace sluice::check
