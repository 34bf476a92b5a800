// Tensor contents stored outside the model file, confined to one folder.
#pragma once

#include <optional>
#include <string>

#include "compiler/frontend/onnx/onnx_proto.h"

namespace sluice::frontend {

/// The folder external data may come from.
class ExternalData {
public:
  /// An empty folder: the model has none (it came from standard input).
  explicit ExternalData(std::string folder) : folder(std::move(folder)) {}

  /// Reads the `bytes` bytes that `tensor` refers to. Returns the reason if the
  /// reference is malformed, leads outside the folder (absolute, "..", a
  /// symbolic link), or the file does not hold that many bytes there.
  std::optional<std::string> read(const onnx::TensorProto &tensor, uint64_t bytes,
                                  std::string &contents) const;

private:
  std::string folder;
};

} // namespace sluice::frontend
