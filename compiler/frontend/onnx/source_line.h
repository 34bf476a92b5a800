// Where in its source a node was written, as exporters record it.
#pragma once

#include <string>

#include "compiler/frontend/onnx/onnx_proto.h"

namespace sluice::frontend {

/// "model.py:12", or empty. Read from PyTorch's stack trace: metadata
/// 'pkg.torch.onnx.stack_trace' (Python's format, innermost frame last) or the
/// doc_string of the older exporter ("model.py(12): forward", innermost first).
/// The innermost frame outside of installed packages is meant.
std::string sourceLine(const onnx::NodeProto &node);

} // namespace sluice::frontend
