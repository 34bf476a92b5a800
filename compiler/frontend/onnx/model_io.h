// The inputs and outputs of a model as declared, with the user's extents.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "compiler/frontend/onnx/emitter.h"
#include "compiler/frontend/onnx/import.h"
#include "compiler/frontend/onnx/onnx_proto.h"

namespace sluice::frontend {

struct ModelInput {
  std::string name;
  DataType type = onnx::TensorProto::FLOAT;
  Shape shape;
};

/// The run-time inputs of the graph, which are those that are no initializers,
/// with every extent. Reports declarations that are not tensors (E0110) or of
/// types not supported (E0114), free dimensions nobody gave (E0111), and
/// `shapes` that do not fit (E0112); such inputs are left out.
std::vector<ModelInput> resolveInputs(const onnx::GraphProto &proto,
                                      const std::set<std::string> &initializers,
                                      const std::map<std::string, Shape> &shapes, Report &report);

/// Checks what the graph declares for an output against what it computes
/// (E0115), and that it is of a type the host takes (E0114): a floating-point one, or
/// bools and indices that are computed at run time.
void checkOutput(const onnx::ValueInfoProto &declared, const Tensor &computed, Report &report);

} // namespace sluice::frontend
