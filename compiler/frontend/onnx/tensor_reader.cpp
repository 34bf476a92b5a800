#include "compiler/frontend/onnx/tensor_reader.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include <fmt/format.h>

namespace sluice::frontend {
namespace {

using Proto = onnx::TensorProto;

/// The typed fields of a tensor and how many values each holds.
struct Field {
  const char *name;
  int count;
};

/// How a data type is stored: bits of an element in raw data, and the typed field that may hold
/// it. A byte, and an element of int32_data, has two elements of four bits, the first one low.
struct Encoding {
  unsigned bits;
  const char *field;

  [[nodiscard]] uint64_t rawBytes(int64_t count) const {
    return (static_cast<uint64_t>(count) * bits + 7) / 8;
  }
  /// Elements of the typed field.
  [[nodiscard]] int64_t fieldCount(int64_t count) const {
    return bits == 4 ? (count + 1) / 2 : count;
  }
};

std::optional<Encoding> encodingOf(DataType type) {
  switch (type) {
  case Proto::FLOAT:
    return Encoding{32, "float_data"};
  case Proto::DOUBLE:
    return Encoding{64, "double_data"};
  case Proto::FLOAT16:
  case Proto::BFLOAT16:
  case Proto::INT16:
  case Proto::UINT16:
    return Encoding{16, "int32_data"};
  case Proto::INT8:
  case Proto::UINT8:
  case Proto::BOOL:
    return Encoding{8, "int32_data"};
  case Proto::INT32:
    return Encoding{32, "int32_data"};
  case Proto::INT64:
    return Encoding{64, "int64_data"};
  case Proto::UINT32:
    return Encoding{32, "uint64_data"};
  case Proto::UINT64:
    return Encoding{64, "uint64_data"};
  case kUInt4:
  case kInt4:
    return Encoding{4, "int32_data"};
  default:
    return std::nullopt;
  }
}

float halfToFloat(uint16_t bits) {
  int exponent = bits >> 10 & 31;
  int mantissa = bits & 1023;
  float magnitude = exponent == 0 ? std::ldexp(static_cast<float>(mantissa), -24)
                    : exponent == 31
                        ? (mantissa ? std::numeric_limits<float>::quiet_NaN()
                                    : std::numeric_limits<float>::infinity())
                        : std::ldexp(static_cast<float>(mantissa + 1024), exponent - 25);
  return bits >> 15 ? -magnitude : magnitude;
}

float bfloatToFloat(uint16_t bits) { return std::bit_cast<float>(uint32_t{bits} << 16); }

/// Little-endian element `i` of raw data.
uint64_t rawBits(const std::string &raw, unsigned bits, int64_t i) {
  if (bits == 4)
    return static_cast<unsigned char>(raw[i / 2]) >> (i % 2 * 4) & 15;
  const unsigned bytes = bits / 8;
  uint64_t value = 0;
  for (unsigned b = 0; b < bytes; ++b)
    value |= uint64_t{static_cast<unsigned char>(raw[i * bytes + b])} << (8 * b);
  return value;
}

/// Appends elements from their bit patterns (the low bits of `bits`), refusing
/// what the 32-bit float or 64-bit signed representation cannot hold.
class Appender {
public:
  explicit Appender(HostTensor &out) : out(out) {}

  std::optional<std::string> append(uint64_t bits) {
    switch (out.type) {
    case Proto::FLOAT:
      out.floats.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
      return std::nullopt;
    case Proto::DOUBLE:
      return appendDouble(std::bit_cast<double>(bits));
    case Proto::FLOAT16:
      out.floats.push_back(halfToFloat(static_cast<uint16_t>(bits)));
      return std::nullopt;
    case Proto::BFLOAT16:
      out.floats.push_back(bfloatToFloat(static_cast<uint16_t>(bits)));
      return std::nullopt;
    case Proto::UINT64:
      if (bits > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
        return fmt::format("holds {}; the largest supported integer is {}", bits,
                           std::numeric_limits<int64_t>::max());
      break;
    case Proto::BOOL:
      if (bits > 1)
        return fmt::format("holds {} as a bool; only 0 and 1 are allowed", bits);
      break;
    default:
      break;
    }
    out.ints.push_back(wrapToType(static_cast<int64_t>(bits), out.type));
    return std::nullopt;
  }

private:
  std::optional<std::string> appendDouble(double value) {
    auto narrow = static_cast<float>(value);
    if (std::isfinite(value) && !std::isfinite(narrow))
      return fmt::format("holds {}, which is outside the range of fp32", value);
    out.floats.push_back(narrow);
    return std::nullopt;
  }

  HostTensor &out;
};

/// Element `i` of int32_data as the bits of `type`: the field is wider than
/// most types it carries, so the value must fit.
std::optional<std::string> int32Bits(const Proto &tensor, DataType type, int64_t i,
                                     uint64_t &bits) {
  if (type == kInt4 || type == kUInt4) {
    const int64_t pair = tensor.int32_data(static_cast<int>(i / 2));
    if (pair < 0 || pair > 255)
      return fmt::format("holds {} in int32_data, which is not two elements of {}", pair,
                         dataTypeName(type));
    bits = static_cast<uint64_t>(pair >> (i % 2 * 4) & 15);
    return std::nullopt;
  }
  int64_t value = tensor.int32_data(static_cast<int>(i));
  bool isHalf = type == Proto::FLOAT16 || type == Proto::BFLOAT16;
  DataType carried = isHalf ? Proto::UINT16 : type;
  bits = static_cast<uint64_t>(value);
  if (carried != Proto::BOOL && wrapToType(value, carried) != value)
    return fmt::format("holds {} in int32_data, which is outside the range of {}", value,
                       dataTypeName(type));
  return std::nullopt;
}

std::optional<std::string> appendTyped(const Proto &tensor, const Encoding &encoding, int64_t count,
                                       HostTensor &out) {
  Appender appender(out);
  std::string_view field = encoding.field;
  for (int64_t i = 0; i < count; ++i) {
    auto at = static_cast<int>(i);
    uint64_t bits = 0;
    if (field == "float_data") {
      bits = std::bit_cast<uint32_t>(tensor.float_data(at));
    } else if (field == "double_data") {
      bits = std::bit_cast<uint64_t>(tensor.double_data(at));
    } else if (field == "int64_data") {
      bits = static_cast<uint64_t>(tensor.int64_data(at));
    } else if (field == "uint64_data") {
      bits = tensor.uint64_data(at);
      if (tensor.data_type() == Proto::UINT32 && bits > std::numeric_limits<uint32_t>::max())
        return fmt::format("holds {} in uint64_data, which is outside the range of uint32", bits);
    } else if (auto reason = int32Bits(tensor, tensor.data_type(), i, bits)) {
      return reason;
    }
    if (auto reason = appender.append(bits))
      return reason;
  }
  return std::nullopt;
}

} // namespace

std::optional<uint64_t> rawBytesOf(const onnx::TensorProto &tensor) {
  constexpr int64_t kMostBits = 128;
  const int64_t count = elementCount(Shape(tensor.dims().begin(), tensor.dims().end()),
                                     std::numeric_limits<int64_t>::max() / kMostBits);
  if (count < 0)
    return std::nullopt;
  if (const auto encoding = encodingOf(tensor.data_type()))
    return encoding->rawBytes(count);
  switch (tensor.data_type()) { // only copied
  case Proto::COMPLEX64:
    return 8 * static_cast<uint64_t>(count);
  case Proto::COMPLEX128:
    return 16 * static_cast<uint64_t>(count);
  case Proto::STRING:
    return std::nullopt;
  default: // the types of 8 bits that libonnx does not know
    return static_cast<uint64_t>(count);
  }
}

std::optional<TensorError> readTensor(const onnx::TensorProto &tensor, const std::string &name,
                                      const ExternalData &external, HostTensor &out) {
  auto malformed = [&](std::string_view what) {
    return TensorError{"E0105", fmt::format("{} {}", name, what), true};
  };
  DataType type = tensor.data_type();
  std::optional<Encoding> encoding = encodingOf(type);
  if (type == Proto::UNDEFINED)
    return malformed("has no data type");
  if (!encoding)
    return TensorError{"E0114", fmt::format("{} has type {}; sluice supports float, float16, "
                                            "bfloat16, double, bool and 4- to 64-bit integers",
                                            name, dataTypeName(type))};
  if (tensor.has_segment())
    return TensorError{"E0114",
                       fmt::format("{} is stored in segments, which are not supported", name)};

  out = HostTensor{type, Shape(tensor.dims().begin(), tensor.dims().end()), {}, {}};
  for (int64_t extent : out.shape)
    if (extent < 0)
      return malformed(
          fmt::format("has a negative extent, {}, in its shape {}", extent, shapeText(out.shape)));
  int64_t count = elementCount(out.shape, kMaxKnownElements);
  if (count < 0)
    return malformed(fmt::format("has shape {}, more than {} elements", shapeText(out.shape),
                                 kMaxKnownElements));
  uint64_t rawBytes = encoding->rawBytes(count);

  const Field fields[] = {{"float_data", tensor.float_data_size()},
                          {"int32_data", tensor.int32_data_size()},
                          {"string_data", tensor.string_data_size()},
                          {"int64_data", tensor.int64_data_size()},
                          {"double_data", tensor.double_data_size()},
                          {"uint64_data", tensor.uint64_data_size()},
                          {"raw_data", tensor.has_raw_data() && !tensor.raw_data().empty()}};
  const Field *used = nullptr;
  for (const Field &field : fields) {
    if (field.count == 0)
      continue;
    if (used)
      return malformed(
          fmt::format("has both {} and {}; only one is allowed", used->name, field.name));
    used = &field;
  }

  std::string contents;
  const std::string *raw = nullptr;
  if (tensor.data_location() == Proto::EXTERNAL) {
    if (used)
      return malformed(
          fmt::format("has both external data and {}; only one is allowed", used->name));
    if (auto reason = external.read(tensor, rawBytes, contents))
      return TensorError{"E0106", fmt::format("{}: {}", name, *reason)};
    raw = &contents;
  } else if (tensor.external_data_size() > 0) {
    return malformed("refers to external data, but its data_location is not EXTERNAL");
  } else if (!used) {
    if (count > 0)
      return malformed(fmt::format("has shape {}, but no data", shapeText(out.shape)));
    return std::nullopt;
  } else if (used->name == std::string_view("raw_data")) {
    raw = &tensor.raw_data();
    if (raw->size() != rawBytes)
      return malformed(fmt::format("has {} bytes of raw data, but {} of shape {} needs {}",
                                   raw->size(), dataTypeName(type), shapeText(out.shape),
                                   rawBytes));
  } else {
    if (used->name != std::string_view(encoding->field))
      return malformed(fmt::format("has its values in {}, but {} must be in raw_data or {}",
                                   used->name, dataTypeName(type), encoding->field));
    if (used->count != encoding->fieldCount(count))
      return malformed(fmt::format("has {} values in {}, but its shape {} needs {}", used->count,
                                   used->name, shapeText(out.shape), encoding->fieldCount(count)));
  }

  std::optional<std::string> reason;
  if (raw) {
    Appender appender(out);
    for (int64_t i = 0; i < count && !reason; ++i)
      reason = appender.append(rawBits(*raw, encoding->bits, i));
  } else {
    reason = appendTyped(tensor, *encoding, count, out);
  }
  if (reason)
    return malformed(*reason);
  return std::nullopt;
}

std::optional<TensorError> readSparse(const onnx::SparseTensorProto &tensor,
                                      const std::string &name, const ExternalData &external,
                                      HostTensor &out) {
  const auto malformed = [&](std::string_view what) {
    return TensorError{"E0105", fmt::format("{} {}", name, what), true};
  };
  HostTensor values, indices;
  if (auto error = readTensor(tensor.values(), name, external, values))
    return error;
  if (auto error = readTensor(tensor.indices(), "the indices of " + name, external, indices))
    return error;
  const Shape shape(tensor.dims().begin(), tensor.dims().end());
  const int64_t count = elementCount(shape, kMaxKnownElements);
  if (count < 0)
    return malformed(fmt::format("has shape {}, a negative extent or more than {} elements",
                                 shapeText(shape), kMaxKnownElements));
  const auto rank = static_cast<int64_t>(shape.size());
  const bool isFlat = indices.shape == Shape{values.size()};
  if (values.shape.size() != 1 || indices.type != Proto::INT64 ||
      !(isFlat || indices.shape == Shape{values.size(), rank}))
    return malformed(fmt::format("has values of shape {} and {} indices of shape {}; expected [n], "
                                 "and int64 [n] or [n, {}]",
                                 shapeText(values.shape), dataTypeName(indices.type),
                                 shapeText(indices.shape), rank));
  out = HostTensor{values.type, shape, {}, {}};
  (out.isFloat() ? out.floats.resize(count) : out.ints.resize(count));
  int64_t previous = -1;
  for (int64_t i = 0; i < values.size(); ++i) {
    int64_t at = isFlat ? indices.ints[i] : 0;
    bool isInside = at >= 0 && at < count;
    for (int64_t axis = 0; axis < rank && !isFlat; ++axis) {
      const int64_t index = indices.ints[i * rank + axis];
      isInside &= index >= 0 && index < shape[axis];
      at = at * shape[axis] + index;
    }
    if (!isInside || at <= previous)
      return malformed(fmt::format("has an index, number {}, that is outside of its shape {} or "
                                   "does not follow the one before",
                                   i, shapeText(shape)));
    previous = at;
    if (out.isFloat())
      out.floats[at] = values.floats[i];
    else
      out.ints[at] = values.ints[i];
  }
  return std::nullopt;
}

} // namespace sluice::frontend
