// Models with a node bypassed.
#pragma once

#include <string>
#include <vector>

#include "compiler/frontend/onnx/onnx_proto.h"
#include "compiler/reduce/facts.h"

namespace sluice::reduce {

/// A node whose result may be replaced by an operand.
struct Bypass {
  std::string result, operand;
};

/// Returns the bypasses of a graph whose result and operand have the same type and shape. Of the
/// graphs in attributes, whose tensors are unknown, it returns all.
std::vector<Bypass> bypassesOf(const onnx::GraphProto &graph, const Facts &facts);

/// Lets all readers of the result read the operand, and removes the node. Returns false if that
/// would leave the graph without outputs. A result that was replaced already is no error.
bool bypass(onnx::ModelProto &model, const Bypass &which);

} // namespace sluice::reduce
