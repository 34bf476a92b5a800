// A model file as a protobuf message: opened, bounded, parsed, and if that
// fails, why.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "compiler/frontend/onnx/onnx_proto.h"
#include "compiler/frontend/onnx/report.h"

namespace sluice::frontend {

/// Reads and parses `path` ("-": stdin). Null, and one problem, if it cannot be
/// read (E0101), is not an ONNX model (E0102) or exceeds a limit (E0103).
std::unique_ptr<onnx::ModelProto> readModelFile(const std::string &path, Report &report);

/// Parses the bytes of a model.
std::unique_ptr<onnx::ModelProto> parseModel(std::string_view bytes, Report &report);

} // namespace sluice::frontend
