#include "compiler/frontend/onnx/host_tensor.h"

#include <fmt/format.h>
#include <llvm/ADT/APFloat.h>

#include "runtime/format/host_tensor.h"

namespace sluice::frontend {

using Proto = onnx::TensorProto;

std::string dataTypeName(DataType type) {
  static constexpr const char *kNames[] = {
      "undefined",      "float",    "uint8",        "int8",           "uint16",
      "int16",          "int32",    "int64",        "string",         "bool",
      "float16",        "double",   "uint32",       "uint64",         "complex64",
      "complex128",     "bfloat16", "float8e4m3fn", "float8e4m3fnuz", "float8e5m2",
      "float8e5m2fnuz", "uint4",    "int4",         "float4e2m1",     "float8e8m0"};
  if (type >= 0 && type < static_cast<DataType>(std::size(kNames)))
    return kNames[type];
  return fmt::format("number {}", type);
}

bool isFloatType(DataType type) {
  const auto host = hostType(type);
  return host && !format::isInteger(*host);
}

bool isIntegerType(DataType type) {
  const auto host = hostType(type);
  return type == kInt4 || type == kUInt4 || (host && format::isInteger(*host));
}

std::optional<format::HostType> hostType(DataType type) {
  using enum format::HostType;
  switch (type) {
  case Proto::FLOAT:
    return Float32;
  case Proto::BFLOAT16:
    return BFloat16;
  case Proto::FLOAT16:
    return Float16;
  case Proto::DOUBLE:
    return Float64;
  case Proto::INT8:
    return Int8;
  case Proto::UINT8:
    return UInt8;
  case Proto::INT16:
    return Int16;
  case Proto::UINT16:
    return UInt16;
  case Proto::INT32:
    return Int32;
  case Proto::UINT32:
    return UInt32;
  case Proto::INT64:
    return Int64;
  case Proto::UINT64:
    return UInt64;
  case Proto::BOOL:
    return Bool;
  default:
    return std::nullopt;
  }
}

HostTensor HostTensor::ofInts(Shape shape, std::vector<int64_t> values) {
  return {Proto::INT64, std::move(shape), {}, std::move(values)};
}

HostTensor HostTensor::ofFloats(Shape shape, std::vector<float> values) {
  return {Proto::FLOAT, std::move(shape), std::move(values), {}};
}

HostTensor withShape(const HostTensor &tensor, Shape shape) {
  HostTensor out = tensor;
  out.shape = std::move(shape);
  return out;
}

HostTensor HostTensor::select(Shape newShape, const std::function<int64_t(int64_t)> &source) const {
  HostTensor out{type, std::move(newShape), {}, {}};
  int64_t count = elementCount(out.shape, kMaxElements);
  if (isFloat()) {
    out.floats.resize(count);
    for (int64_t i = 0; i < count; ++i)
      out.floats[i] = floats[source(i)];
  } else {
    out.ints.resize(count);
    for (int64_t i = 0; i < count; ++i)
      out.ints[i] = ints[source(i)];
  }
  return out;
}

float roundToType(double value, DataType type) {
  bool inexact = false;
  llvm::APFloat number(value);
  switch (type) {
  case Proto::FLOAT16:
    number.convert(llvm::APFloat::IEEEhalf(), llvm::APFloat::rmNearestTiesToEven, &inexact);
    break;
  case Proto::BFLOAT16:
    number.convert(llvm::APFloat::BFloat(), llvm::APFloat::rmNearestTiesToEven, &inexact);
    break;
  default:
    break;
  }
  number.convert(llvm::APFloat::IEEEsingle(), llvm::APFloat::rmNearestTiesToEven, &inexact);
  return number.convertToFloat();
}

int64_t wrapToType(int64_t value, DataType type) {
  switch (type) {
  case Proto::BOOL:
    return value != 0;
  case Proto::UINT8:
    return static_cast<uint8_t>(value);
  case Proto::INT8:
    return static_cast<int8_t>(value);
  case Proto::UINT16:
    return static_cast<uint16_t>(value);
  case Proto::INT16:
    return static_cast<int16_t>(value);
  case Proto::UINT32:
    return static_cast<uint32_t>(value);
  case Proto::INT32:
    return static_cast<int32_t>(value);
  case kUInt4:
    return value & 15;
  case kInt4:
    return ((value & 15) ^ 8) - 8;
  default:
    return value;
  }
}

} // namespace sluice::frontend
