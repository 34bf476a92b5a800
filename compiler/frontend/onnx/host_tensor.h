// Values known at import: initializers, constants, and the shape arithmetic on
// them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/frontend/onnx/onnx_proto.h"
#include "compiler/frontend/onnx/report.h"
#include "compiler/support/fold_limits.h"
#include "runtime/format/host_type.h"

namespace sluice::frontend {

/// ONNX's numbering (TensorProto.DataType); newer values than libonnx knows may occur.
using DataType = int32_t;

/// "float", "int64", "float8e4m3fn", or "number 99".
std::string dataTypeName(DataType type);

/// float, double, float16, bfloat16.
bool isFloatType(DataType type);
/// ONNX's numbers of types that libonnx 1.12 does not have.
inline constexpr DataType kUInt4 = 21, kInt4 = 22;

/// The signed and unsigned integers of 4 to 64 bits, and bool.
bool isIntegerType(DataType type);

/// The element type the host sees: the floating-point types, integers of 8 to 64 bits, bool.
std::optional<format::HostType> hostType(DataType type);

/// Most elements of a tensor that is in the file: 1 GiB of fp32, beyond any target. Tensors that
/// are computed at import have at most kMostFoldedElements.
inline constexpr int64_t kMaxKnownElements = int64_t{1} << 28;

/// A dense tensor, row-major. Floating-point types hold their values as fp32 in
/// `floats` (float16 and bfloat16 exactly, double rounded), the others as int64
/// in `ints` (bool: 0 or 1).
struct HostTensor {
  DataType type = onnx::TensorProto::FLOAT;
  Shape shape;
  std::vector<float> floats;
  std::vector<int64_t> ints;

  bool isFloat() const { return isFloatType(type); }
  int64_t size() const { return isFloat() ? floats.size() : ints.size(); }

  static HostTensor ofInts(Shape shape, std::vector<int64_t> values);
  static HostTensor ofFloats(Shape shape, std::vector<float> values);

  /// The tensor of `shape` whose element i is element source(i) of this one.
  HostTensor select(Shape shape, const std::function<int64_t(int64_t)> &source) const;
};

using HostTensorRef = std::shared_ptr<const HostTensor>;

/// The elements of `tensor` in another shape of as many.
HostTensor withShape(const HostTensor &tensor, Shape shape);

/// The fp32 value of `type` nearest to `value`, ties to even: what storing it as that type gives.
float roundToType(double value, DataType type);

/// `value` wrapped to an integer type, as a cast does; bool: value != 0.
int64_t wrapToType(int64_t value, DataType type);

} // namespace sluice::frontend
