// What is known of the tensors of a model that is reduced.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/frontend/onnx/onnx_proto.h"
#include "compiler/reference/tensor.h"

namespace sluice::reduce {

struct TensorFacts {
  int32_t type = onnx::TensorProto::FLOAT;
  std::vector<int64_t> shape;
  /// The value of a small tensor that depends on no input.
  std::optional<onnx::TensorProto> constant = std::nullopt;
};

/// By the name of the tensor. Tensors of unknown shape are missing.
using Facts = std::map<std::string, TensorFacts>;

/// Values of tensors, by name: those of the inputs of a model, or of all tensors.
using Sample = std::map<std::string, reference::Tensor>;

} // namespace sluice::reduce
