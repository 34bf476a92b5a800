// Models with smaller or simpler tensors.
#pragma once

#include <functional>
#include <vector>

#include "compiler/frontend/onnx/onnx_proto.h"
#include "compiler/reduce/facts.h"

namespace sluice::reduce {

/// Returns the extents of the inputs that are larger than 1, the largest first.
std::vector<int64_t> extentsOf(const onnx::GraphProto &graph);

/// Replaces an extent by a smaller one in all inputs, outputs and initializers, which lose their
/// last elements, in known shapes and in samples.
void replaceExtent(onnx::GraphProto &graph, std::vector<Sample> &samples, int64_t from, int64_t to);

/// Removes the shapes of outputs, which then follow from the nodes.
void forgetOutputShapes(onnx::GraphProto &graph);

/// Leaves one element of an initializer, along every axis. Returns false if it has no other.
bool leaveOneElement(onnx::TensorProto &tensor);

/// Sets all elements of a float initializer to 1. Returns false if it has no other or another type.
bool setToOne(onnx::TensorProto &tensor);

} // namespace sluice::reduce
