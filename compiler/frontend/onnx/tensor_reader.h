// TensorProto -> HostTensor: every encoding ONNX has, none of them trusted.
#pragma once

#include <optional>

#include "compiler/frontend/onnx/external_data.h"
#include "compiler/frontend/onnx/host_tensor.h"

namespace sluice::frontend {

/// What is wrong with a tensor: E0105 (its encoding), E0106 (its external data)
/// or E0114 (its kind of data is not supported).
struct TensorError {
  const char *code;
  std::string message;
  bool malformed = false; ///< its encoding is wrong, whatever reads it
};

/// Returns the bytes of a tensor's raw data; nothing if its type has none or its shape is no shape.
std::optional<uint64_t> rawBytesOf(const onnx::TensorProto &tensor);

/// Decodes `tensor` into `out`. `name` names it in messages ("initializer 'W'").
std::optional<TensorError> readTensor(const onnx::TensorProto &tensor, const std::string &name,
                                      const ExternalData &external, HostTensor &out);

/// The same of a sparse tensor, as a dense one; what it does not list is 0. Its indices ascend.
std::optional<TensorError> readSparse(const onnx::SparseTensorProto &tensor,
                                      const std::string &name, const ExternalData &external,
                                      HostTensor &out);

} // namespace sluice::frontend
