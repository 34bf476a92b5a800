// ONNX's TensorProto, as in the test data folders of ONNX models.
#include <cstring>
#include <limits>

#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <onnx/onnx_pb.h>

#include "tools/cli/io/tensor.h"

namespace sluice::io {
namespace {

/// Appends the low bytes of every element of a protobuf list.
template <typename List>
void append(std::vector<uint8_t> &data, const List &list, size_t elementBytes) {
  data.reserve(static_cast<size_t>(list.size()) * elementBytes);
  for (const auto value : list) {
    uint8_t bytes[sizeof(value)];
    std::memcpy(bytes, &value, sizeof(value));
    data.insert(data.end(), bytes, bytes + elementBytes);
  }
}

} // namespace

std::variant<Tensor, Error> readTensorProto(std::string_view bytes) {
  auto bad = [](const std::string &what) {
    return Error{"E0605", "not a valid .pb tensor: " + what};
  };
  if (bytes.empty() || bytes.size() > static_cast<size_t>(std::numeric_limits<int>::max()))
    return bad(fmt::format("it has {} bytes", bytes.size()));
  onnx::TensorProto proto;
  google::protobuf::io::ArrayInputStream stream(bytes.data(), static_cast<int>(bytes.size()));
  google::protobuf::io::CodedInputStream coded(&stream);
  if (!proto.ParseFromCodedStream(&coded) || !coded.ConsumedEntireMessage())
    return bad("it is not a TensorProto");
  Tensor tensor;
  tensor.name = proto.name();
  switch (proto.data_type()) {
  case onnx::TensorProto::FLOAT:
    tensor.type = Type::Float32;
    break;
  case onnx::TensorProto::DOUBLE:
    tensor.type = Type::Float64;
    break;
  case onnx::TensorProto::FLOAT16:
    tensor.type = Type::Float16;
    break;
  case onnx::TensorProto::BFLOAT16:
    tensor.type = Type::BFloat16;
    break;
  default:
    return Error{"E0604", fmt::format("elements of ONNX type {}, allowed: float (1), float16 (10), "
                                      "double (11), bfloat16 (16)",
                                      proto.data_type())};
  }
  if (proto.data_location() == onnx::TensorProto::EXTERNAL || proto.external_data_size() > 0)
    return bad("its data is in another file, which is only supported for models");
  tensor.shape.assign(proto.dims().begin(), proto.dims().end());
  const int64_t count = elementCount(tensor.shape);
  if (count < 0)
    return bad(fmt::format("shape [{}] is negative or has more than 2^31 elements",
                           fmt::join(tensor.shape, ", ")));
  const size_t element = typeBytes(tensor.type);
  if (proto.has_raw_data())
    tensor.data.assign(proto.raw_data().begin(), proto.raw_data().end());
  else if (tensor.type == Type::Float32)
    append(tensor.data, proto.float_data(), element);
  else if (tensor.type == Type::Float64)
    append(tensor.data, proto.double_data(), element);
  else
    append(tensor.data, proto.int32_data(), element);
  if (tensor.data.size() != static_cast<uint64_t>(count) * element)
    return bad(fmt::format("{} bytes of elements, the shape [{}] needs {}", tensor.data.size(),
                           fmt::join(tensor.shape, ", "), static_cast<uint64_t>(count) * element));
  return tensor;
}

} // namespace sluice::io
