// From the value that a user gives for an input to the constant that the input becomes.
#pragma once

#include <string>
#include <variant>

#include "compiler/frontend/onnx/bound_value.h"
#include "compiler/frontend/onnx/host_tensor.h"

namespace sluice::frontend {

/// The value as an input `name` of `type` and `shape` holds it. Floating-point types
/// round; integers and bools must be among the type's values. Otherwise the message of
/// E0117.
std::variant<HostTensor, std::string> boundTensor(const std::string &name, const BoundValue &value,
                                                  DataType type, const Shape &shape);

} // namespace sluice::frontend
