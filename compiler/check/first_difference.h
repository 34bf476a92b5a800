// The first tensor of a model that a program computes wrongly.
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
  NodeRef node; ///< that makes it
};

/// Runs an inference, watches the rows of tensors of the model that the program computes, and
/// returns the first tensor, in the order of the graph, of which a row never holds what it should.
/// Tensors that the program does not compute as such (fused ones) are not seen. Nothing where no
/// row differs, or where watching would take too long.
std::optional<Difference> firstDifference(const Oracle &oracle, const format::Program &program,
                                          const reference::Tensors &inputs);

/// Returns the node that makes a tensor of the graph.
NodeRef nodeOf(const frontend::GraphTensor &tensor);

} // namespace sluice::check
