// Makes a model smaller that shows a fault.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "compiler/frontend/onnx/onnx_proto.h"

namespace sluice::check {

/// The shapes of the tensors of a model, by name; those that are unknown are missing.
using TensorShapes = std::map<std::string, std::vector<int64_t>>;

/// Returns whether a model still shows the fault.
using ShowsFault = std::function<bool(const onnx::ModelProto &)>;

/// Removes from a model that shows a fault what is not needed to show it: outputs, nodes behind the
/// fault, nodes in front of it (floating-point tensors that they make become inputs), and
/// initializers and inputs that nothing reads. Tries at most `tries` models. The result shows the
/// fault.
onnx::ModelProto shrink(onnx::ModelProto model, const TensorShapes &shapes,
                        const ShowsFault &showsFault, unsigned tries = 1000);

} // namespace sluice::check
