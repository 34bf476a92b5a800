// The bytes of a model file that needs no other file.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "compiler/frontend/onnx/onnx_proto.h"
#include "compiler/frontend/onnx/report.h"

namespace sluice::frontend {

/// Returns the names of the files that hold external weights, as the model gives them.
std::set<std::string> weightFilesOf(onnx::ModelProto &model);

/// Moves the external weights of a model into it and returns the bytes of its file. `externalData`
/// is their folder, `subject` begins the message of a model that is too large: "the nodes of the
/// model have". Reports E0103 (more than a file can have) and E0106 (external data).
std::string bytesWithWeights(onnx::ModelProto &model, const std::string &externalData,
                             std::string_view subject, Report &report);

} // namespace sluice::frontend
