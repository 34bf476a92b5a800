// Reduction of a model that shows a fault to a smaller model that shows it too.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "compiler/frontend/onnx/onnx_proto.h"

namespace sluice::check {

/// The shapes of the tensors of a model, by name. Tensors of unknown shape are missing.
using TensorShapes = std::map<std::string, std::vector<int64_t>>;

/// Whether a model still shows the fault.
using ShowsFault = std::function<bool(const onnx::ModelProto &)>;

/// Removes parts of a model that are not needed to show a fault: outputs, nodes after the faulty
/// one, nodes before it (their floating-point results become inputs), and unused initializers and
/// inputs. Tries at most `tries` models. The result shows the fault.
onnx::ModelProto shrink(onnx::ModelProto model, const TensorShapes &shapes,
                        const ShowsFault &showsFault, unsigned tries = 1000);

} // namespace sluice::check
